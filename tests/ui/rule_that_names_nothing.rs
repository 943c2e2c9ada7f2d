use nnrp_core::Layout;

#[derive(Layout)]
#[layout(rule(id = "A1", require = "gain != 0 && rat != 0"))]
struct Chunk {
    rate: u32,
    gain: u32,
}

fn main() {}
