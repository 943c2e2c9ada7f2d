use nnrp_core::Layout;

#[derive(Layout)]
struct Chunk {
    r#type: u32,
    type_: u32,
    to_owned: u32,
}

fn main() {}
