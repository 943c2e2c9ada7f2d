//! The `nnrp-gen` command.
#![forbid(unsafe_code)]

fn main() {
    let loaded = nnrp_gen::load(std::path::Path::new("registry")).unwrap();
    eprintln!("{}", loaded.report.draw(&loaded.sources, false));
    println!("{}", nnrp_gen::emit::rust::module(&loaded.registry.unwrap(), true, true));
}
