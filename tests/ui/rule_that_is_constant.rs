use nnrp_core::Layout;

#[derive(Layout)]
#[layout(rule(id = "A1", require = "rate >= 0"))]
#[layout(rule(id = "A2", when = "gain == 1 && gain == 2", require = "rate != 0"))]
struct Chunk {
    rate: u32,
    gain: u32,
}

fn main() {}
