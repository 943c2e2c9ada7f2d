//! Knows the core only through another crate.
#![forbid(unsafe_code)]

use facade::protocol::core::{Layout, ProfileDescriptor, WireEnum};

#[derive(Clone, Copy, Debug, WireEnum)]
#[wire(crate = "facade::protocol::core")]
#[repr(u8)]
pub enum Codec {
    Pcm,
}

#[derive(Layout, ProfileDescriptor)]
#[layout(crate = "facade::protocol::core", rule(id = "C1", require = "codec == pcm && rate != 0"))]
#[profile(id = 0x8001, schema_id = 0x0001_0000, schema_version = 1)]
pub struct Chunk {
    #[layout(enum = u8)]
    pub codec: Codec,
    pub rate: u8,
}

pub mod expanded {
    facade::protocol::core::registry!("../stale/registry", crate = "facade::protocol::core");
}
