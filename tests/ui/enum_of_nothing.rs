use nnrp_core::WireEnum;

#[derive(Clone, Copy, Debug, WireEnum)]
struct Chunk {
    rate: u32,
}

#[derive(Clone, Copy, Debug, WireEnum)]
#[repr(u8)]
enum Codec<T> {
    Pcm(T),
}

const FIRST: u8 = 1;

#[derive(Clone, Copy, Debug, WireEnum)]
#[repr(u8)]
enum Level {
    Low = FIRST,
}

fn main() {}
