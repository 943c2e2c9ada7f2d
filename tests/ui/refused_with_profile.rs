use nnrp_core::{Layout, ProfileDescriptor};

#[derive(Layout, ProfileDescriptor)]
#[layout(size = 6)]
#[profile(id = 0x8001, schema_id = 0x1_0000, schema_version = 1)]
struct Chunk {
    rate: u32,
}

#[derive(Layout, ProfileDescriptor)]
#[layout(siez = 4)]
#[profile(id = 1, schema_id = 0x1_0000, schema_version = 1)]
struct Page {
    rate: u32,
}

fn main() {}
