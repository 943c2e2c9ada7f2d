//! The fields of a layout stand in order and cover its size: no overlap, no gap.

use crate::report::Diagnostic;
use crate::source::Door;
use crate::syntax::{Element, Field, Layout, Registry};

use super::{Check, Index};

/// The largest layout. Layouts are fixed parts of packets; what is longer is a body.
pub(crate) const MAX_SIZE: i128 = 1 << 20;

pub(super) fn run(check: &mut Check<'_>) {
    for layout in &check.registry.layouts {
        tile(check, layout);
    }
}

/// The bytes of a field; nothing where its layout is unknown, which is reported elsewhere.
pub(super) fn size_of(field: &Field, registry: &Registry, index: &Index) -> Option<i128> {
    let one = match &field.ty.value.element {
        Element::Scalar(scalar) => i128::from(scalar.size()),
        Element::Layout(name) => registry.layouts[*index.layouts.get(name)?].size.value,
    };
    Some(one.saturating_mul(i128::from(field.ty.value.count.unwrap_or(1))))
}

fn tile(check: &mut Check<'_>, layout: &Layout) {
    if !(1..=MAX_SIZE).contains(&layout.size.value) {
        let problem = check.error(layout.size.span, format!("a layout of {} bytes", layout.size.value));
        problem.label = format!("1 to {MAX_SIZE}");
        return;
    }
    // Where a row could not be read there is a hole that is nobody's gap.
    if !layout.complete || layout.is_foreign() {
        return;
    }
    let rows = match check.sources.door() {
        Door::Toml => "rows",
        Door::Rust => "fields",
    };
    let mut names = Names { layout, next: 0 };
    let mut end = 0;
    let mut before: Option<&Field> = None;
    for (place, field) in layout.fields.iter().enumerate() {
        let Some(size) = size_of(field, check.registry, check.index) else { return };
        let start = field.offset.value;
        let name = &field.name.value;
        if field.ty.value.count == Some(0) {
            check.error(field.ty.span, format!("`{name}` is an array of nothing")).help =
                Some("leave the field out".to_owned());
        }
        if start < 0 {
            check.error(field.offset.span, format!("`{name}` starts before the layout"));
            return;
        }
        let behind = layout.fields.get(place + 1).map_or(layout.size.value, |next| next.offset.value);
        if start != end && behind == end.saturating_add(size) {
            // Everything else fits, so it is this offset that is wrong.
            let problem =
                check.error(field.offset.span, format!("`{name}` starts at {end}, and not at {start}"));
            problem.label = format!("what is before it ends at {end}, what is behind it starts at {behind}");
            problem.help = Some(format!("write `offset = {end}`"));
            end = behind;
            before = Some(field);
            continue;
        }
        if start < end {
            let overlapped = before.map_or("", |field| field.name.as_str());
            let goes_back = before.is_some_and(|before| start < before.offset.value);
            let problem = check.error(
                field.offset.span,
                if goes_back {
                    format!("`{name}` at {start} stands after `{overlapped}`, which starts later")
                } else {
                    format!("`{name}` at {start} overlaps `{overlapped}`")
                },
            );
            problem.label = format!("byte {end} is the first that is free");
            if let Some(before) = before {
                problem
                    .related
                    .push((before.span, format!("`{overlapped}` covers {}..{end}", before.offset.value)));
            }
            problem.help = Some(if goes_back {
                format!("put the {rows} in the order of their offsets")
            } else {
                format!("start it at {end}")
            });
        } else if start > end {
            gap(check, field.offset.span, end, start, &mut names);
        }
        end = end.max(start.saturating_add(size));
        before = Some(field);
    }
    let size = layout.size.value;
    if end < size {
        if layout.fields.is_empty() {
            check.error(layout.size.span, format!("`{}` has no fields", layout.title()));
        } else {
            // Where offsets are left out, nobody can tell which field the bytes are missing in front of.
            let behind = match check.sources.door() {
                Door::Toml => "",
                Door::Rust => "; a field behind a gap says its `offset`",
            };
            let problem = gap(check, layout.size.span, end, size, &mut names);
            problem.help = problem.help.take().map(|help| help + behind);
        }
    } else if end > size {
        let problem = check
            .error(layout.size.span, format!("`{}` is {size} bytes, its fields are {end}", layout.title()));
        if let Some(last) = before {
            problem.related.push((last.span, format!("`{}` ends at {end}", last.name.value)));
        }
        problem.help = Some(format!("write `size = {end}`"));
    }
}

/// Names for the reserved fields of a layout that nothing in it has yet.
struct Names<'l> {
    layout: &'l Layout,
    next: usize,
}

impl Names<'_> {
    fn next(&mut self) -> String {
        loop {
            let name = format!("reserved{}", self.next);
            self.next += 1;
            if !self.layout.fields.iter().any(|field| field.name.value.eq_ignore_ascii_case(&name)) {
                return name;
            }
        }
    }
}

fn gap<'c>(
    check: &'c mut Check<'_>,
    span: crate::source::Span,
    from: i128,
    to: i128,
    names: &mut Names<'_>,
) -> &'c mut Diagnostic {
    let name = names.next();
    let bytes = if to - from == 1 {
        format!("byte {from} belongs to no field")
    } else {
        format!("bytes {from}..{to} belong to no field")
    };
    let ty = match to - from {
        1 => "u8".to_owned(),
        2 => "u16".to_owned(),
        4 => "u32".to_owned(),
        8 => "u64".to_owned(),
        more => format!("[u8; {more}]"),
    };
    let help = match check.sources.door() {
        Door::Toml => format!(
            "add a reserved field: `{{ offset = {from}, name = \"{name}\", type = \"{ty}\", reserved = true }}`"
        ),
        Door::Rust => format!("add a reserved field: `{name}: Reserved<{}>`", to - from),
    };
    let problem = check.error(span, bytes);
    problem.label = format!("the field before ends at {from}");
    problem.help = Some(help);
    problem
}
