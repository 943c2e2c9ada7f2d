use nnrp_core::Layout;

#[derive(Layout)]
union Chunk {
    rate: u32,
}

fn main() {}
