use nnrp_core::Layout;

#[derive(Layout)]
#[layout(sise = 4)]
struct Chunk {
    #[layout(ofset = 0, resreved)]
    rate: u32,
}

fn main() {}
