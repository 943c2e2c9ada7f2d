use nnrp_core::Layout;

#[derive(Layout)]
#[layout(size = 4, size = 8)]
struct Chunk {
    #[layout(unit = "ms")]
    #[layout(unit = "us")]
    rate: u32,
}

fn main() {}
