use nnrp_core::Layout;

#[derive(Layout)]
enum Chunk {
    Rate(u32),
}

fn main() {}
