//! The checks of a layout: one pass over good bytes or values, and the search for the first fault.

use crate::emit::fixed::{Word, fixed, masked_by};
use crate::model::{Element, Field, Layout, Meaning, Rule, Scalar};
use crate::rule::{self, FieldRef};
use crate::wire::FaultKind;

use super::faults::Blame;
use super::layouts::{Emit, at, element};
use super::rules::Reach;
use super::text::{call, doc, hex, indent, return_all};
use super::{names, scalar};

impl Emit<'_> {
    /// The body of the function that says whether bytes are good.
    pub(super) fn bytes_hold(&self) -> String {
        let registry = self.c.registry;
        let words = fixed(registry, self.layout);
        let mut parts = Vec::new();
        let mut start = match words.as_slice() {
            [] => String::new(),
            words => {
                parts.push("fixed == 0".to_owned());
                let words: Vec<_> = words.iter().map(|word| self.word(word)).collect();
                format!("const uint64_t fixed = {};\n\n", words.join("\n                     | "))
            }
        };
        for field in &self.layout.fields {
            match (&field.meaning, field.element, field.count) {
                (Meaning::Enum(position), Element::Scalar(scalar), _) => {
                    let item = &registry.enums[*position];
                    if !masked_by(&item.spans(), item.ty).1 {
                        parts.push(self.accepted(field, scalar));
                    }
                }
                (_, Element::Layout(inner), None) => {
                    let holds = self.c.names.lower(&format!("{}_holds_", registry.layouts[inner].name));
                    parts.push(format!("{holds}({})", at("bytes", field.offset)));
                }
                (_, Element::Layout(inner), Some(count)) => {
                    let inner = &registry.layouts[inner];
                    let holds = self.c.names.lower(&format!("{}_holds_", inner.name));
                    let place = at("bytes", field.offset);
                    start.push_str(&all_or_false(count, &format!("{holds}({place} + at * {})", inner.size)));
                }
                _ => {}
            }
        }
        parts.extend(self.layout.rules.iter().map(|rule| self.rule_on_bytes(rule)));
        if start.is_empty() && parts.is_empty() {
            start.push_str("(void)bytes;\n");
        }
        start + &return_all(&parts)
    }

    /// The bits of a word that are not as they must be.
    fn word(&self, word: &Word) -> String {
        let place = at("bytes", word.start);
        let load = match word.bytes {
            1 => element(&place),
            bytes => format!("{}({place})", self.c.names.lower(&format!("load_u{}le_", bytes * 8))),
        };
        match word.value {
            0 => format!("({load} & {})", hex(word.mask, word.bytes)),
            value => format!("(({load} ^ {}) & {})", hex(value, word.bytes), hex(word.mask, word.bytes)),
        }
    }

    /// Whether the enum of a field has the number that stands there.
    fn accepted(&self, field: &Field, scalar: Scalar) -> String {
        let Meaning::Enum(position) = field.meaning else { return "true".to_owned() };
        let accepts = self.c.names.lower(&format!("{}_accepts", self.c.registry.enums[position].name));
        format!("{accepts}({})", self.load(scalar, &at("bytes", field.offset)))
    }

    /// The body of the function that says whether native values are good.
    pub(super) fn values_hold(&self) -> String {
        let registry = self.c.registry;
        let mut start = String::new();
        let mut parts = Vec::new();
        for field in self.layout.values() {
            let value = format!("in->{}", names::member(&field.name));
            match (&field.meaning, field.element, field.count) {
                (Meaning::Bitmask(position), ..) => {
                    let item = &registry.bitmasks[*position];
                    if item.known() != item.ty.limits().1 as u64 {
                        let known = self.c.known_name(item);
                        parts.push(format!("({value} | {known}) == {known}"));
                    }
                }
                (Meaning::Enum(position), ..) => {
                    let item = &registry.enums[*position];
                    if item.spans() != [(0, item.ty.limits().1 as u64)] {
                        parts.push(format!("{}_accepts({value})", self.c.names.lower(&item.name)));
                    }
                }
                (_, Element::Layout(inner), None) => {
                    parts.push(format!(
                        "{}_good_(&{value})",
                        self.c.names.lower(&registry.layouts[inner].name)
                    ));
                }
                (_, Element::Layout(inner), Some(count)) => {
                    let good = self.c.names.lower(&format!("{}_good_", registry.layouts[inner].name));
                    start.push_str(&all_or_false(count, &format!("{good}(&{value}[at])")));
                }
                _ => {}
            }
        }
        for rule in &self.layout.rules {
            let arguments =
                self.rule_fields(rule).into_iter().map(|field| format!("in->{}", names::member(&field.name)));
            parts.push(format!("{}({})", self.rule_name(rule), arguments.collect::<Vec<_>>().join(", ")));
        }
        if start.is_empty() && parts.is_empty() {
            start.push_str("(void)in;\n");
        }
        start + &return_all(&parts)
    }

    /// The statements that report the first fault of bytes.
    pub(super) fn find_fault(&self) -> String {
        let fields = self.layout.fields.iter().filter_map(|field| self.blame_field(field));
        let rules = self.layout.rules.iter().map(|rule| {
            let blamed = &self.layout.fields[rule.blame.index];
            let blame = Blame {
                kind: FaultKind::Rule,
                layout: &self.layout.name,
                field: &blamed.name,
                rule: (&rule.id, &rule.doc),
                code: self.c.code(rule.error.as_ref()),
            };
            let condition = format!("!{}", self.rule_on_bytes(rule));
            self.c.refuse(&condition, &blame, &at("base", blamed.offset))
        });
        let blames: String = fields.chain(rules).collect();
        if blames.is_empty() { "(void)bytes;\n".to_owned() } else { blames }
    }

    fn blame_field(&self, field: &Field) -> Option<String> {
        let registry = self.c.registry;
        let place = at("bytes", field.offset);
        let scalar = field.scalar();
        let load = |scalar: Scalar| match scalar.size() {
            1 => element(&place),
            _ => {
                format!("{}({place})", self.c.names.lower(&format!("load_{}", self.unsigned_ending(scalar))))
            }
        };
        let (condition, kind) = match (&field.meaning, field.element) {
            (Meaning::Plain, Element::Layout(inner)) => return Some(self.blame_inner(field, inner)),
            (Meaning::Plain, _) => return None,
            (Meaning::Reserved, _) => {
                let any = self.c.names.lower("any_");
                let condition = match scalar {
                    Some(scalar) => format!("{} != 0", load(scalar)),
                    None => format!("{any}({place}, {})", field.size),
                };
                (condition, FaultKind::Reserved)
            }
            (Meaning::Constant(constant), _) => {
                let condition = match scalar {
                    Some(scalar) => format!("{} != {}", load(scalar), self.fixed_number(scalar, constant)),
                    None => {
                        format!("memcmp({place}, {}, {}) != 0", super::text::bytes(constant), constant.len())
                    }
                };
                (condition, FaultKind::Constant)
            }
            (Meaning::Enum(position), Element::Scalar(scalar)) => {
                let item = &registry.enums[*position];
                if item.spans() == [(0, scalar.limits().1 as u64)] {
                    return None;
                }
                (format!("!{}", self.accepted(field, scalar)), FaultKind::UnknownValue)
            }
            (Meaning::Bitmask(position), Element::Scalar(scalar)) => {
                let item = &registry.bitmasks[*position];
                if item.known() == scalar.limits().1 as u64 {
                    return None;
                }
                let known = self.c.known_name(item);
                (format!("({} | {known}) != {known}", load(scalar)), FaultKind::UnknownBits)
            }
            (Meaning::Bool, Element::Scalar(scalar)) => {
                (format!("{} > 1", load(scalar)), FaultKind::UnknownValue)
            }
            // A layout has no other meaning.
            (Meaning::Enum(_) | Meaning::Bitmask(_) | Meaning::Bool, Element::Layout(_)) => return None,
        };
        {
            let code = self.c.code(field.error.as_ref());
            let blame = Blame { kind, layout: &self.layout.name, field: &field.name, rule: ("", ""), code };
            Some(self.c.refuse(&condition, &blame, &at("base", field.offset)))
        }
    }

    /// The statements that report the fault of a layout inside this one.
    fn blame_inner(&self, field: &Field, inner: usize) -> String {
        let inner = &self.c.registry.layouts[inner];
        let lower = self.c.names.lower(&inner.name);
        let (place, base) = (at("bytes", field.offset), at("base", field.offset));
        match field.count {
            None => format!(
                "if (!{lower}_holds_({place})) {{\n    return {lower}_find_({place}, {base}, fault);\n}}\n"
            ),
            Some(count) => {
                let step = inner.size;
                format!(
                    "for (size_t at = 0; at < {count}; at++) {{\n    \
                         if (!{lower}_holds_({place} + at * {step})) {{\n        \
                             return {lower}_find_({place} + at * {step}, {base} + at * {step}, fault);\n    \
                         }}\n}}\n"
                )
            }
        }
    }

    /// A rule as a function of raw numbers.
    pub(super) fn rule_function(&self, rule: &Rule) -> String {
        let name = self.rule_name(rule);
        self.c.names.define(&name, &format!("rule `{}`", rule.id));
        let parameters: Vec<_> = self
            .rule_fields(rule)
            .into_iter()
            .map(|field| {
                let ty = scalar(field.scalar().unwrap_or(Scalar::U64));
                format!("{ty} {}", names::member(&field.name))
            })
            .collect();
        let condition = self.c.condition(&rule.condition(), &Arguments(self.layout));
        let docs = doc([format!("{}: {}", rule.id, rule.doc)]).replace("/**", "/*");
        let head = call(&format!("static inline bool {name}"), &parameters, "");
        let condition = indent(&format!("return {};\n", super::text::condition(&condition)), 4);
        format!("{docs}{head}\n{{\n{condition}}}\n")
    }

    fn rule_name(&self, rule: &Rule) -> String {
        format!("{}_rule_{}_", self.lower, names::rule(&rule.id))
    }

    /// A rule applied to bytes.
    fn rule_on_bytes(&self, rule: &Rule) -> String {
        let arguments = self.rule_fields(rule).into_iter().map(|field| {
            let scalar = field.scalar().unwrap_or(Scalar::U64);
            let load = self.load(scalar, &at("bytes", field.offset));
            if scalar.is_unsigned() { load } else { format!("({}){load}", self::scalar(scalar)) }
        });
        format!("{}({})", self.rule_name(rule), arguments.collect::<Vec<_>>().join(", "))
    }

    /// The fields that a rule reads, in the order of its function's parameters.
    fn rule_fields(&self, rule: &Rule) -> Vec<&Field> {
        let fields = rule::fields(&rule.condition());
        fields.into_iter().map(|field| &self.layout.fields[field.index]).collect()
    }
}

/// A loop that ends the function where the condition does not hold for one of the places `at`.
fn all_or_false(count: u32, condition: &str) -> String {
    format!(
        "for (size_t at = 0; at < {count}; at++) {{\n    if (!{condition}) {{\n        return false;\n    }}\n}}\n"
    )
}

/// A rule's view of its function's parameters.
struct Arguments<'a>(&'a Layout);

impl Reach for Arguments<'_> {
    fn value(&self, field: FieldRef) -> String {
        names::member(&self.0.fields[field.index].name)
    }

    fn field(&self, field: FieldRef) -> &Field {
        &self.0.fields[field.index]
    }
}
