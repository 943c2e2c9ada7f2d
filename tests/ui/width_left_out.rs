use nnrp_core::{Layout, WireEnum};

#[derive(Clone, Copy, Debug, WireEnum)]
#[repr(u8)]
enum Codec {
    Pcm,
}

#[derive(Layout)]
struct Chunk {
    codec: Codec,
    rate: u32_,
}

fn main() {}
