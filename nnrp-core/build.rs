//! Makes the codecs from the registry.

fn main() {
    nnrp_gen::Build::new("registry").features().describe("crate::describe").write("codecs.rs");
}
