use nnrp_core::{Layout, Reserved};

const CHANNELS: usize = 4;

#[derive(Layout)]
struct Chunk {
    levels: [u16; CHANNELS],
    none: [u16; 0],
    place: Reserved<CHANNELS>,
    places: [Reserved<4>; 2],
}

fn main() {}
