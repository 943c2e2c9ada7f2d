use nnrp_core::WireEnum;

#[derive(Clone, Copy, Debug, WireEnum)]
enum Codec {
    Pcm,
}

#[derive(Clone, Copy, Debug, WireEnum)]
#[repr(i16)]
enum Level {
    Low,
}

#[derive(Clone, Copy, Debug, WireEnum)]
#[repr(usize)]
enum Place {
    Here,
}

fn main() {}
