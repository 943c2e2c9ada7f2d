use nnrp_core::Layout;

#[derive(Layout)]
#[layout(size = 4)]
struct Chunk {
    rate: u32,
    gain: u16,
}

fn main() {}
