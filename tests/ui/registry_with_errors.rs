nnrp_core::registry!("nowhere");
nnrp_core::registry!("src/bin/overlap.toml");
nnrp_core::registry!("src/bin/overlap.toml", root = "nnrp_core");

fn main() {}
