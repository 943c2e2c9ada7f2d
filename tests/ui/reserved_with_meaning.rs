use nnrp_core::{Layout, Reserved};

#[derive(Layout)]
struct Chunk {
    #[layout(reserved, const = 1)]
    first: u8,
    #[layout(bitmask = u8)]
    second: Reserved<1>,
    #[layout(reserved, unit = "ms")]
    third: u16,
}

fn main() {}
