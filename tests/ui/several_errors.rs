use nnrp_core::Layout;

#[derive(Layout)]
#[layout(size = 20, colour = 1)]
struct Chunk {
    #[layout(offset = 1)]
    rate: u32,
    #[layout(offset = 3, reserved, const = 1)]
    gain: u16,
    name: String,
    #[layout(unti = "ms")]
    last: u32,
}

fn main() {}
