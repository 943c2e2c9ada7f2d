use nnrp_core::{Layout, WireEnum};

/// The one mistake of each is its attribute.
#[derive(Clone, Copy, Debug, PartialEq, Layout)]
#[layout(view_mut, byteorder = "big")]
pub struct Chunk {
    pub rate: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, WireEnum)]
#[repr(u8)]
#[wire(nmae = "level")]
pub enum Level {
    Low,
}

fn main() {}
