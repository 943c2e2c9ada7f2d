use nnrp_core::{Layout, WireEnum};

#[derive(Clone, Copy, Debug, WireEnum)]
#[repr(u8)]
enum Codec {
    Pcm,
    Opus,
}

bitflags::bitflags! {
    struct Flags: u8 {
        const LAST = 1;
    }
}

#[derive(Layout)]
#[layout(rule(id = "A1", when = "codec == opsu", require = "rate != 0"))]
#[layout(rule(id = "A2", when = "flags.lost", require = "rate != 1"))]
struct Chunk {
    #[layout(enum = u8)]
    codec: Codec,
    #[layout(bitmask = u8)]
    flags: Flags,
    rate: u16,
}

fn main() {}
