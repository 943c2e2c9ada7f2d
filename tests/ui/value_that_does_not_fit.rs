use nnrp_core::{Layout, WireEnum};

#[derive(Clone, Copy, Debug, WireEnum)]
#[repr(u8)]
enum Codec {
    Pcm = 300,
}

#[derive(Layout)]
struct Chunk {
    #[layout(const = 256)]
    version: u8,
    #[layout(const = -1)]
    level: u16,
    #[layout(const = "AUDIO")]
    magic: [u8; 4],
    #[layout(const = [1, 2, 70000])]
    table: [u16; 3],
}

fn main() {}
