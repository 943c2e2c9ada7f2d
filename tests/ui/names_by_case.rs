use nnrp_core::Layout;

#[derive(Layout)]
#[allow(non_snake_case)]
struct Chunk {
    rate: u32,
    Rate: u32,
}

fn main() {}
