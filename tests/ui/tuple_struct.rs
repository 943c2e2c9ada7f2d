use nnrp_core::Layout;

#[derive(Layout)]
struct Chunk(u8, u16);

fn main() {}
