use nnrp_core::Layout;

#[derive(Layout)]
struct Chunk;

fn main() {}
