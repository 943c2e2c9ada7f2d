use nnrp_core::{Layout, ProfileDescriptor, WireEnum};

#[derive(Clone, Copy, Debug, WireEnum)]
#[repr(u8)]
enum Codec {
    Pcm,
    #[wire(rnage = 0x80..)]
    Other(u8),
}

#[derive(Layout)]
struct Chunk {
    rate: u32,
    #[layout(ofset = 4, enmu = u8)]
    codec: Codec,
    #[layout(offset = 6)]
    gain: u16,
}

#[derive(Layout)]
struct Moved {
    rate: u32,
    #[layout(offset = "8")]
    gain: u16,
    #[layout(offset = 10)]
    last: u8,
}

#[derive(Layout)]
#[layout(rule(id = "A2", when = "codec == opus && silent", require = "rate == 48000"))]
struct Ruled {
    #[layout(enmu = u8)]
    codec: Codec,
    #[layout(bolo)]
    silent: u8,
    #[layout(offset = 2)]
    rate: u32,
}

#[derive(Layout, ProfileDescriptor)]
#[layout(rule(id = "A1", requrie = "rate == 0"))]
#[profile(id = 0x8001, schema_di = 0x1_0000, schema_versoin = 1)]
struct Page {
    rate: u32,
}

fn main() {}
