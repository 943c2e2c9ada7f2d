//! Lists of what there is.

use super::super::WIDTH;
use super::super::paint::Ink;
use super::super::table::{length, shorten, wrap};
use super::{KINDS, Kind, View};

/// Everything, grouped by kind.
pub(super) fn everything(view: &View<'_>) -> String {
    let protocol = &view.registry.protocol;
    let mut out = view.paint.bold(&protocol.name) + "\n";
    for line in wrap(&protocol.doc, WIDTH).iter().filter(|line| !line.is_empty()) {
        out.push_str(line);
        out.push('\n');
    }
    for kind in KINDS {
        let list = self::kind(view, kind);
        if !list.is_empty() {
            out.push('\n');
            out.push_str(&list);
        }
    }
    out
}

/// The items of a kind, one a line; nothing where there are none.
pub(super) fn kind(view: &View<'_>, kind: &Kind) -> String {
    let items = (kind.items)(view.registry);
    if items.is_empty() {
        return String::new();
    }
    let names = items.iter().map(|item| length(item.name)).max().unwrap_or(0);
    let facts = items.iter().map(|item| length(&item.fact)).max().unwrap_or(0);
    let heading = format!("{} ({})", kind.heading, items.len());
    let mut out = view.paint.ink(Ink::Cyan, &heading) + "\n";
    for item in &items {
        let doc = shorten(item.doc, WIDTH.saturating_sub(names + facts + 6).max(20));
        let name = format!("{:names$}", item.name);
        let line = format!("  {}  {:>facts$}  {}", view.paint.bold(&name), item.fact, view.paint.dim(&doc));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}
