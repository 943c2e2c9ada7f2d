use nnrp_core::WireEnum;

#[derive(Clone, Copy, Debug, WireEnum)]
#[repr(u8)]
enum Codec {
    Pcm,
    Opus = 0x81,
    #[wire(range = 0x80..=0xff)]
    Private(u8),
}

fn main() {}
