use nnrp_core::{Layout, ProfileDescriptor};

#[derive(Layout, ProfileDescriptor)]
#[profile(id = 0x8001, schema_id = 0x1_0000, schema_version = 1, semantics = apend, flags(cachable, big))]
struct Chunk {
    rate: u32,
}

#[derive(Layout, ProfileDescriptor)]
#[profile(id = "0x8001", semantics = "append", flags = cacheable, versoin = 1)]
struct Page {
    rate: u32,
}

#[derive(Layout, ProfileDescriptor)]
struct Bare {
    rate: u32,
}

fn main() {}
