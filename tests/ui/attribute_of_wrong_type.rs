use nnrp_core::Layout;

#[derive(Layout)]
#[layout(size = "4", byte_order = big)]
struct Chunk {
    #[layout(offset = zero, unit = 4, reserved = 1)]
    rate: u16,
    #[layout(enum = "u8")]
    kind: u8,
    #[layout(const = 1.5)]
    gain: u8,
    #[layout = 4]
    last: u8,
}

fn main() {}
