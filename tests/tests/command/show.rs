use insta::assert_snapshot;
use nnrp_gen::model::{Layout, Registry};
use nnrp_tests::command::run;
use nnrp_tests::registry;

fn show(name: &[&str]) -> String {
    run(&[&["show"], name].concat()).good()
}

#[test]
fn a_list_of_everything() {
    assert_snapshot!(show(&[]));
}

#[test]
fn a_layout() {
    assert_snapshot!("layout", show(&["layout", "session_open"]));
    assert_snapshot!("layout_with_constants", show(&["layout", "common_header"]));
    assert_snapshot!("layout_of_odd_size", show(&["layout", "session_patch"]));
}

#[test]
fn other_kinds() {
    assert_snapshot!("enum", show(&["session_error_code"]));
    assert_snapshot!("bitmask", show(&["session_flags_ack"]));
    assert_snapshot!("message", show(&["message", "session_patch"]));
    assert_snapshot!("state_machine", show(&["state_machine", "session"]));
    assert_snapshot!("body", show(&["regions"]));
    assert_snapshot!("entry", show(&["control_extension"]));
    assert_snapshot!("vocabulary", show(&["capability_tokens"]));
    assert_snapshot!("schema", show(&["llm.chat.delta.v1"]));
}

#[test]
fn a_name_of_two_kinds_shows_both() {
    let both = show(&["session_open"]);
    assert!(both.starts_with("session_open · layout"));
    assert!(both.contains("\nsession_open · message 0x07"));
    assert!(both.starts_with(&show(&["layout", "session_open"])));
}

#[test]
fn a_kind_alone_lists_its_names() {
    let list = show(&["bitmask"]);
    assert!(list.starts_with("bitmasks ("));
    assert!(show(&[]).contains(&list));
    assert_eq!(show(&["bitmasks"]), list);
}

/// All names, with their kinds.
fn names(registry: &Registry) -> Vec<(&'static str, &str)> {
    let mut all = Vec::new();
    all.extend(registry.layouts.iter().map(|item| ("layout", item.name.as_str())));
    all.extend(registry.enums.iter().map(|item| ("enum", item.name.as_str())));
    all.extend(registry.bitmasks.iter().map(|item| ("bitmask", item.name.as_str())));
    all.extend(registry.messages.iter().map(|item| ("message", item.name.as_str())));
    all.extend(registry.bodies.iter().map(|item| ("body", item.name.as_str())));
    all.extend(registry.entries.iter().map(|item| ("entry", item.name.as_str())));
    all.extend(registry.vocabularies.iter().map(|item| ("vocabulary", item.name.as_str())));
    all.extend(registry.schemas.iter().map(|item| ("schema", item.name.as_str())));
    all.extend(registry.machines.iter().map(|item| ("state_machine", item.name.as_str())));
    all
}

#[test]
fn everything_is_shown_and_fits_a_terminal() {
    let registry = registry::nnrp();
    let list = show(&[]);
    for (kind, name) in names(&registry) {
        assert!(list.contains(&format!("  {name} ")), "{name} is not in the list");
        let shown = show(&[kind, name]);
        assert!(shown.starts_with(&format!("{name} · ")), "{shown}");
        for line in shown.lines() {
            assert!(line.chars().count() <= 100, "{kind} {name} is too wide: {line}");
            assert_eq!(line, line.trim_end(), "{kind} {name} has blanks at the end of a line");
        }
        if kind == "layout" {
            drawn_to_scale(registry.layout(name).unwrap(), &shown);
        }
    }
    assert!(list.lines().all(|line| line.chars().count() <= 100));
}

/// Every field begins in a row of the diagram, and the diagram is as wide as the layout.
fn drawn_to_scale(layout: &Layout, shown: &str) {
    for field in &layout.fields {
        let row = format!("\n{:>5} │", field.offset - field.offset % 8);
        assert!(shown.contains(&row), "{}: no row {row}", layout.name);
    }
    // Eleven columns a byte, and the border.
    let width = 11 * layout.size.min(8) as usize + 1;
    let border = shown.lines().find(|line| line.trim_start().starts_with('┌')).unwrap();
    assert_eq!(border.trim_start().chars().count(), width, "{}", layout.name);
}
