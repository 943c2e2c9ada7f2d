use nnrp_core::Layout;

mod mine {
    pub struct Reserved<const N: usize>;
}

#[derive(Layout)]
struct Chunk {
    rate: u32,
    place: mine::Reserved<4>,
}

fn main() {}
