use nnrp_core::{Layout, ObjectKind};

#[derive(Layout)]
#[layout(uses(ObjectKind), rule(id = "A1", require = "kind in object_kind"))]
struct Good {
    kind: u32,
}

#[derive(Layout)]
#[layout(uses = ObjectKind)]
struct Wrong {
    kind: u32,
}

#[derive(Layout)]
#[layout(uses(3))]
struct Number {
    kind: u32,
}

#[derive(Layout)]
#[layout(uses(String), rule(id = "A1", require = "kind in string"))]
struct NoEnum {
    kind: u32,
}

fn main() {}
