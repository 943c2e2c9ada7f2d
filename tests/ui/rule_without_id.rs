use nnrp_core::Layout;

#[derive(Layout)]
#[layout(rule(require = "rate != 0"))]
#[layout(rule(id = "A2"))]
#[layout(rule = "rate != 0")]
struct Chunk {
    rate: u32,
}

fn main() {}
