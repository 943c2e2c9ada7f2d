use nnrp_core::{Layout, ProfileDescriptor};

#[derive(Layout, ProfileDescriptor)]
#[profile(id = 0x7fff, schema_id = 0xffff, schema_version = 1)]
struct Chunk {
    rate: u32,
}

#[derive(Layout, ProfileDescriptor)]
#[profile(id = 0x1_0000, schema_id = 0x1_0000_0000, schema_version = -1)]
struct Page {
    rate: u32,
}

fn main() {}
