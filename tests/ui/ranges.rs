use nnrp_core::WireEnum;

#[derive(Clone, Copy, Debug, WireEnum)]
#[repr(u8)]
enum Codec {
    Pcm,
    #[wire(range = 9..=4)]
    Back(u8),
    #[wire(range = 0x80..=0x9f)]
    Private(u8),
    #[wire(range = 0x90..)]
    Later(u8),
    Other(u8),
    #[wire(range = 2..=3)]
    Few,
    #[wire(range = 5..=5)]
    Wide(u16),
    Named { raw: u8 },
}

fn main() {}
