//! What a field means fits what it is: one meaning, on a type that can have it, not wider than the field.

use crate::source::Span;
use crate::syntax::{Element, Field, Literal, Scalar, Type};

use super::Check;

pub(super) fn run(check: &mut Check<'_>) {
    for layout in &check.registry.layouts {
        for field in &layout.fields {
            one_meaning(check, field);
            on_its_type(check, field);
            if let Some(constant) = &field.constant {
                constant_fits(check, field, &constant.value, constant.span);
            }
        }
    }
}

/// The meanings of a field as they stand in its row.
fn meanings(field: &Field) -> Vec<(&'static str, Span)> {
    let mut list = Vec::new();
    list.extend(field.reserved.map(|span| ("reserved", span)));
    list.extend(field.constant.as_ref().map(|constant| ("const", constant.span)));
    list.extend(field.enumeration.as_ref().map(|name| ("enum", name.span)));
    list.extend(field.bitmask.as_ref().map(|name| ("bitmask", name.span)));
    list.extend(field.boolean.map(|span| ("bool", span)));
    list
}

fn one_meaning(check: &mut Check<'_>, field: &Field) {
    let mut list = meanings(field);
    let name = &field.name.value;
    if field.reserved.is_some() {
        list.extend(field.unit.as_ref().map(|unit| ("unit", unit.span)));
        list.extend(field.role.as_ref().map(|role| ("is", role.span)));
    }
    let [(first, span), (second, other), ..] = list.as_slice() else { return };
    let message = match *first {
        "reserved" => format!("`{name}` is reserved and has a meaning, `{second}`"),
        _ => format!("`{name}` has two meanings, `{first}` and `{second}`"),
    };
    let problem = check.error(*other, message);
    problem.related.push((*span, format!("`{first}`")));
    problem.help = Some(format!("leave `{second}` out, or `{first}`"));
}

fn on_its_type(check: &mut Check<'_>, field: &Field) {
    let name = &field.name.value;
    let number = match &field.ty.value {
        Type { element: Element::Scalar(scalar), count: None } => Some(*scalar),
        _ => None,
    };
    let registry = check.registry;
    for (what, span) in meanings(field) {
        let width = match what {
            "enum" => field
                .enumeration
                .as_ref()
                .and_then(|name| check.index.enums.get(name.as_str()))
                .map(|&position| registry.enums[position].ty.value),
            "bitmask" => field
                .bitmask
                .as_ref()
                .and_then(|name| check.index.bitmasks.get(name.as_str()))
                .map(|&position| registry.bitmasks[position].ty.value),
            "bool" => Some(Scalar::U8),
            _ => continue,
        };
        match (number, width) {
            (Some(scalar), _) if !scalar.is_unsigned() => {
                let problem = check.error(
                    span,
                    format!("`{name}` is {}, and `{what}` goes on unsigned integers", scalar.name()),
                );
                problem.related.push((field.ty.span, "its type".to_owned()));
            }
            (None, _) => {
                let problem =
                    check.error(span, format!("`{name}` is no single number, so it cannot be `{what}`"));
                problem.related.push((field.ty.span, "its type".to_owned()));
                problem.help = Some("give each number a field of its own".to_owned());
            }
            (Some(scalar), Some(width)) if width.size() > scalar.size() => {
                let message = format!("a {} does not fit `{name}`, which is {}", width.name(), scalar.name());
                let problem = check.error(span, message);
                problem.related.push((field.ty.span, "its type".to_owned()));
                problem.help =
                    Some(format!("make the field {} or the {what} {}", width.name(), scalar.name()));
            }
            _ => {}
        }
    }
    if matches!(field.ty.value.element, Element::Layout(_)) {
        for (what, span) in meanings(field) {
            if what == "reserved" || what == "const" {
                let problem = check.error(span, format!("`{name}` is a layout, so it cannot be `{what}`"));
                problem.help = Some("write it as an array of bytes".to_owned());
            }
        }
    }
}

fn constant_fits(check: &mut Check<'_>, field: &Field, literal: &Literal, span: Span) {
    let name = &field.name.value;
    let Element::Scalar(scalar) = field.ty.value.element else { return };
    if !scalar.is_integer() {
        check.error(span, format!("`{name}` is {}, and constants are integers or bytes", scalar.name()));
        return;
    }
    let (min, max) = scalar.limits();
    let out = |number: &i128| !(min..=max).contains(number);
    match (literal, field.ty.value.count) {
        (Literal::Number(number), None) => {
            if out(number) {
                let problem =
                    check.error(span, format!("{number} does not fit `{name}`, which is {}", scalar.name()));
                problem.label = format!("{min} to {max:#x}");
            }
        }
        (Literal::Text(text), Some(count)) if scalar == Scalar::U8 => {
            if text.len() as u64 != count {
                let problem =
                    check.error(span, format!("{} bytes of text in `{name}`, which is {count}", text.len()));
                problem.related.push((field.ty.span, "its type".to_owned()));
            }
        }
        (Literal::List(list), Some(count)) => {
            if list.len() as u64 != count {
                let problem =
                    check.error(span, format!("{} numbers in `{name}`, which has {count}", list.len()));
                problem.related.push((field.ty.span, "its type".to_owned()));
            } else if let Some(number) = list.iter().find(|number| out(number)) {
                check.error(span, format!("{number} does not fit a {}", scalar.name()));
            }
        }
        (_, count) => {
            let problem = check.error(span, format!("the constant of `{name}` is of another type"));
            problem.related.push((field.ty.span, "its type".to_owned()));
            problem.help = Some(
                match (count, scalar) {
                    (None, _) => "an integer takes a number",
                    (Some(_), Scalar::U8) => "an array of bytes takes text, or a list of numbers",
                    (Some(_), _) => "an array takes a list of numbers",
                }
                .to_owned(),
            );
        }
    }
}
