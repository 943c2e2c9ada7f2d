use nnrp_core::{Layout, WireEnum};

#[derive(Clone, Copy, Debug, WireEnum)]
#[repr(u16)]
enum Codec {
    Pcm,
}

bitflags::bitflags! {
    struct Flags: u32 {
        const LAST = 1;
    }
}

#[derive(Layout)]
struct Key {
    high: u64,
}

#[derive(Layout)]
struct Chunk {
    #[layout(enum = u8)]
    codec: Codec,
    #[layout(bitmask = u16)]
    flags: Flags,
    #[layout(layout = 16)]
    key: Key,
}

fn main() {}
