use nnrp_core::Layout;

#[derive(Layout)]
struct Chunk {
    rate: u32,
    #[layout(offset = 2)]
    gain: u32,
}

fn main() {}
