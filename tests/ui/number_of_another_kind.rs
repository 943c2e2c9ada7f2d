use nnrp_core::Layout;

#[derive(Layout)]
struct Chunk {
    #[layout(enum = u8)]
    codec: u8,
    #[layout(bitmask = u16)]
    flags: u16,
    #[layout(bool = u8)]
    on: u32,
    #[layout(layout = 4)]
    key: u32,
}

fn main() {}
