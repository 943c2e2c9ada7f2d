use nnrp_core::WireEnum;

#[derive(Clone, Copy, Debug, WireEnum)]
#[repr(u8)]
enum Codec {
    Pcm,
    Opus = 1,
    Flac = 1,
}

fn main() {}
