use nnrp_core::Layout;

#[derive(Layout)]
#[layout(bytes = 4)]
struct Chunk {
    #[layout(colour = "red")]
    rate: u32,
}

fn main() {}
