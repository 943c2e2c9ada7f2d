use nnrp_core::Layout;

macro_rules! chunk {
    ($name:ident) => {
        #[derive(Layout)]
        struct Chunk {
            $name: u32,
            $name: u32,
        }
    };
}

chunk!(rate);

fn main() {}
