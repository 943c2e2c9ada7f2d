mod capture {
    nnrp_core::registry!("src/bin/overlap.toml");
}

use capture::Chunk;

fn read(bytes: &[u8]) -> Result<capture::Chunk, nnrp_core::wire::Fault> {
    let view = capture::Chunk::view(bytes)?;
    println!("{} {}", view.rate(), capture::VERSION_MAJOR);
    Chunk::decode(bytes)
}

fn main() {
    assert!(read(&[]).is_err());
}
