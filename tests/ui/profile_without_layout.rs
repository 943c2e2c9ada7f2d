use nnrp_core::ProfileDescriptor;

#[derive(Clone, Debug, PartialEq, ProfileDescriptor)]
#[layout(size = 8)]
#[profile(id = 0x8001, schema_id = 0x0001_2001, schema_version = 1, semantics = append)]
struct Chunk {
    #[layout(offset = 0)]
    start: u64,
}

fn main() {}
