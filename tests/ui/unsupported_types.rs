use nnrp_core::Layout;

#[derive(Layout)]
struct Chunk {
    length: usize,
    name: String,
    samples: Vec<u8>,
    rate: &'static u32,
    kind: u4,
    nibbles: i12,
    wide: u128,
    odd: u24,
    letter: char,
    pair: (u8, u8),
    table: [[u8; 2]; 2],
    rest: [u8],
    some: Option<u8>,
}

fn main() {}
