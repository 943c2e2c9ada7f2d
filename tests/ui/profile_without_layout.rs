use nnrp_core::ProfileDescriptor;

#[derive(ProfileDescriptor)]
#[profile(id = 0x8001, schema_id = 0x1_0000, schema_version = 1)]
struct Chunk {
    rate: u32,
}

fn main() {}
