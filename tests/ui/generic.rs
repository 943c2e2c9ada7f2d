use nnrp_core::Layout;

#[derive(Layout)]
struct Chunk<T> {
    rate: T,
}

fn main() {}
