use nnrp_core::Layout;

#[derive(Layout)]
struct Chunk {
    #[layout(offset = 4)]
    rate: u32,
    #[layout(offset = 0)]
    gain: u32,
}

fn main() {}
