use nnrp_core::Layout;

#[derive(Layout)]
struct Chunk {
    rate: u16,
    #[layout(offset = 4)]
    gain: u32,
}

fn main() {}
