//! Values, ranges and bits fit their type, and ranges do not overlap.

use crate::syntax::{Number, Scalar};

use super::Check;

/// How many values of an enum may say that what they select stands once.
const MOST_ONCE: usize = 64;

pub(super) fn run(check: &mut Check<'_>) {
    let registry = check.registry;
    for item in &registry.enums {
        for value in &item.values {
            fits(check, &value.value, item.ty.value);
        }
        for range in &item.ranges {
            fits(check, &range.from, item.ty.value);
            fits(check, &range.to, item.ty.value);
            if range.from.value > range.to.value {
                let problem =
                    check.error(range.from.span.to(range.to.span), "a range that ends before it starts");
                problem.help = Some("swap `from` and `to`".to_owned());
            }
        }
        let mut ranges: Vec<_> = item.ranges.iter().collect();
        ranges.sort_by_key(|range| range.from.value);
        for pair in ranges.windows(2) {
            if pair[1].from.value <= pair[0].to.value {
                let message = format!("ranges `{}` and `{}` overlap", pair[0].name.value, pair[1].name.value);
                let problem = check.error(pair[1].from.span, message);
                problem.related.push((pair[0].to.span, format!("`{}` ends here", pair[0].name.value)));
                problem.help = Some(format!("start it at {:#x}", pair[0].to.value + 1));
            }
        }
    }
    // In a registry a listed value wins over a range; of two Rust variants neither can.
    for item in registry.enums.iter().filter(|item| item.given.is_some()) {
        for range in &item.ranges {
            let inside = range.from.value..=range.to.value;
            let Some(value) = item.values.iter().find(|value| inside.contains(&value.value.value)) else {
                continue;
            };
            let message = format!("range `{}` overlaps `{}`", range.name.value, value.name.value);
            let problem = check.error(range.from.span.to(range.to.span), message);
            problem.label = format!("`{}` is {:#x}", value.name.value, value.value.value);
            problem.related.push((value.value.span, "the value".to_owned()));
        }
    }
    for item in &registry.bitmasks {
        let bits = i128::from(item.ty.value.size() * 8);
        for bit in &item.bits {
            if !(0..bits).contains(&bit.bit.value) {
                let message = format!("a {} has no bit {}", item.ty.value.name(), bit.bit.value);
                let problem = check.error(bit.bit.span, message);
                problem.label = format!("bits are 0 to {}", bits - 1);
            }
        }
    }
    for item in &registry.enums {
        // A reader remembers each in a bit of a word.
        let mut once = item.values.iter().filter(|value| value.once.is_some());
        if let Some(value) = once.nth(MOST_ONCE) {
            let message = format!("more than {MOST_ONCE} values of `{}` stand once", item.name.value);
            let problem = check.error(value.name.span, message);
            problem.label = "one too many".to_owned();
            problem.help = Some("leave out `once`, or make the whole key `unique` in its entry".to_owned());
        }
    }
    let from_messages = registry.enums.iter().find(|item| item.from_messages.is_some());
    let message_type = from_messages.map_or(Scalar::U64, |item| item.ty.value);
    for message in &registry.messages {
        fits(check, &message.value, message_type);
    }
    for schema in &registry.schemas {
        fits(check, &schema.schema_id, Scalar::U32);
        fits(check, &schema.schema_version, Scalar::U32);
    }
}

fn fits(check: &mut Check<'_>, number: &Number, ty: Scalar) {
    let (min, max) = ty.limits();
    if !(min..=max).contains(&number.value) {
        let problem = check.error(number.span, format!("{} does not fit a {}", number.value, ty.name()));
        problem.label = format!("{min} to {max:#x}");
    }
}
