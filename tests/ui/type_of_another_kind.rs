use nnrp_core::Layout;

struct Codec;

#[derive(Layout)]
struct Chunk {
    #[layout(enum = u8)]
    codec: Codec,
    #[layout(bitmask = u16)]
    flags: Codec,
    #[layout(layout = 16)]
    key: Codec,
}

fn main() {}
