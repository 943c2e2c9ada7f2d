use nnrp_core::Layout;

#[derive(Layout)]
#[layout(size = 12)]
struct Chunk {
    rate: u32,
    // Four bytes are left out here.
    gain: u32,
}

fn main() {}
