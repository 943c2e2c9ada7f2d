use nnrp_core::Layout;

#[derive(Layout)]
struct Chunk<'a> {
    name: &'a [u8; 4],
}

fn main() {}
