//! Every rule of the registry is tested, and every rule is needed.

use std::collections::BTreeSet;

use nnrp_gen::codec;
use nnrp_gen::codec::packet::Packets;
use nnrp_gen::model::{Choice, Content, Message, Registry, Select};

use super::vector::{REGISTRY, Vector};

/// All vectors.
fn all() -> Vec<Vector> {
    [
        super::framing::all(),
        super::fields::all(),
        super::operations::all(),
        super::payloads::all(),
        super::bodies::all(),
        super::tensor::all(),
        super::carriers::all(),
    ]
    .concat()
}

/// Rows of messages that follow from others, so that they only decide which is reported.
///
/// - A wait of a session names the header's (F5.12), and that id is not 0. The row stays to say which scope it is.
const IMPLIED_ROWS: [(&str, &str, Row); 1] = [("retry_after", "F5", Row::Scope(3))];

/// The ids of everything in a registry that can refuse.
fn ids(registry: &Registry) -> BTreeSet<&str> {
    let mut ids = BTreeSet::new();
    for layout in &registry.layouts {
        ids.extend(layout.rules.iter().map(|rule| rule.id.as_str()));
    }
    for message in &registry.messages {
        ids.extend(message.scope_rules.iter().chain(&message.rules).map(|rule| rule.id.as_str()));
        for segment in &message.segments {
            ids.insert(&segment.id);
            ids.extend(segment.cases.iter().map(|case| case.id.as_str()));
        }
        ids.extend(message.slots.iter().map(|slots| slots.id.as_str()));
        ids.extend(message.sorted.iter().map(|sorted| sorted.id.as_str()));
        ids.extend(message.sizes.iter().map(|size| size.id.as_str()));
        ids.extend(message.tensor.iter().map(|tensor| tensor.id.as_str()));
    }
    let mut selects: Vec<&Select> = Vec::new();
    for part in registry.bodies.iter().flat_map(|body| &body.parts) {
        ids.insert(&part.id);
        selects.extend(part.slices.iter().filter_map(|slices| slices.select.as_ref()));
    }
    for entry in &registry.entries {
        ids.insert(&entry.id);
        selects.extend(&entry.select);
    }
    ids.extend(selects.iter().flat_map(|select| &select.choices).map(|choice| choice.id.as_str()));
    ids.extend(registry.vocabularies.iter().map(|words| words.id.as_str()));
    ids.remove("");
    ids
}

/// For each id of the registry there is something that is refused with exactly that id.
#[test]
fn every_rule_is_broken_by_some_vector() {
    let vectors = all();
    let mut broken: BTreeSet<&str> = vectors.iter().map(|vector| vector.rule).collect();
    broken.remove("");
    let known = ids(&REGISTRY);
    let untested: Vec<_> = known.difference(&broken).collect();
    let unknown: Vec<_> = broken.difference(&known).collect();
    assert!(
        untested.is_empty() && unknown.is_empty(),
        "without a vector: {untested:?}; in no registry: {unknown:?}"
    );
}

/// Each rule of a layout, taken out of a copy of the registry, lets something through that it should refuse.
#[test]
fn every_rule_of_a_layout_is_needed() {
    let vectors = all();
    let mut rules = 0;
    for (at, layout) in REGISTRY.layouts.iter().enumerate() {
        for (place, rule) in layout.rules.iter().enumerate() {
            rules += 1;
            let mut without = REGISTRY.clone();
            without.layouts[at].rules.remove(place);
            let mut through = false;
            for vector in vectors.iter().filter(|vector| vector.rule == rule.id) {
                let (named, bytes) = vector.in_layout().expect("it blames a field");
                assert_eq!(named.name, layout.name);
                let fault = codec::fault(&REGISTRY, layout, bytes).expect("it is refused");
                assert_eq!(fault.rule.as_ref(), Some(&rule.id), "{fault}");
                let other = codec::fault(&without, &without.layouts[at], bytes);
                assert_ne!(other.as_ref().and_then(|fault| fault.rule.as_ref()), Some(&rule.id));
                through |= other.is_none();
            }
            assert!(through, "{} is implied by others", rule.id);
        }
    }
    assert!(rules > 80, "{rules}");
}

/// A row of a message that can be left out of a registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Row {
    Scope(usize),
    Rule(usize),
    Slots,
    Sorted(usize),
    Size(usize),
    Tensor,
}

impl Row {
    /// The rows of a message, each with its id.
    fn all(message: &Message) -> Vec<(Self, &str)> {
        let scopes =
            message.scope_rules.iter().enumerate().map(|(at, rule)| (Self::Scope(at), rule.id.as_str()));
        let rules = message.rules.iter().enumerate().map(|(at, rule)| (Self::Rule(at), rule.id.as_str()));
        let slots = message.slots.iter().map(|slots| (Self::Slots, slots.id.as_str()));
        let sorted =
            message.sorted.iter().enumerate().map(|(at, sorted)| (Self::Sorted(at), sorted.id.as_str()));
        let sizes = message.sizes.iter().enumerate().map(|(at, size)| (Self::Size(at), size.id.as_str()));
        let tensor = message.tensor.iter().map(|tensor| (Self::Tensor, tensor.id.as_str()));
        scopes.chain(rules).chain(slots).chain(sorted).chain(sizes).chain(tensor).collect()
    }

    /// Leaves it out.
    fn remove(self, message: &mut Message) {
        match self {
            Self::Scope(at) => _ = message.scope_rules.remove(at),
            Self::Rule(at) => _ = message.rules.remove(at),
            Self::Slots => message.slots = None,
            Self::Sorted(at) => _ = message.sorted.remove(at),
            Self::Size(at) => _ = message.sizes.remove(at),
            Self::Tensor => message.tensor = None,
        }
    }
}

/// Each row of a message, taken out of a copy of the registry, lets a packet through that it should refuse.
#[test]
fn every_row_of_a_message_is_needed() {
    let vectors = all();
    let mut rows = 0;
    let mut implied = Vec::new();
    for (at, message) in REGISTRY.messages.iter().enumerate() {
        for (row, id) in Row::all(message) {
            rows += 1;
            let mut without = REGISTRY.clone();
            row.remove(&mut without.messages[at]);
            let (whole, without) = (Packets::new(&REGISTRY), Packets::new(&without));
            let (whole, without) = (whole.expect("it has messages"), without.expect("it has messages"));
            let of_it = vectors.iter().filter(|vector| vector.rule == id).filter_map(Vector::packet);
            let through = of_it.filter(|bytes| u64::from(bytes[6]) == message.value).any(|bytes| {
                let fault = whole.fault(bytes).expect("it is refused");
                assert_eq!(fault.rule.as_deref(), Some(id), "{fault}");
                without.fault(bytes).is_none()
            });
            if !through {
                implied.push((message.name.as_str(), id, row));
            }
        }
    }
    assert!(rows > 70, "{rows}");
    assert_eq!(implied, IMPLIED_ROWS);
}

/// Without what a choice demands, extensions and extension frames pass that it should refuse.
#[test]
fn every_demand_of_a_choice_is_needed() {
    let vectors = all();
    let mut demands = 0;
    let mut needed = |id: &str, change: &dyn Fn(&mut Select)| {
        demands += 1;
        let mut without = REGISTRY.clone();
        without.entries.iter_mut().filter_map(|entry| entry.select.as_mut()).for_each(change);
        let parts = without.bodies.iter_mut().flat_map(|body| &mut body.parts);
        parts.filter_map(|part| part.slices.as_mut()?.select.as_mut()).for_each(change);
        let without = Packets::new(&without).expect("it has messages");
        let mut of_it = vectors.iter().filter(|vector| vector.rule == id).filter_map(Vector::packet);
        assert!(of_it.any(|bytes| without.fault(bytes).is_none()), "{id}");
    };
    fn each(select: &mut Select, id: &str, change: impl Fn(&mut Choice)) {
        select.choices.iter_mut().filter(|choice| choice.id == id).for_each(change);
    }
    for id in ["X1.1", "X2.1", "X3.3", "X4.4"] {
        needed(id, &|select| each(select, id, |choice| choice.refuse_critical = false));
    }
    needed("X2.1", &|select| each(select, "X2.1", |choice| choice.once = false));
    needed("X2.1", &|select| each(select, "X2.1", |choice| choice.require = None));
    for id in ["B6.1", "B7.1"] {
        needed(id, &|select| select.critical = None);
    }
    assert_eq!(demands, 8);
}

/// A cache object that is a schema is read as one (X4), which its own rules then refuse.
#[test]
fn the_case_of_a_segment_is_needed() {
    let put = REGISTRY.messages.iter().position(|message| message.name == "cache_put").expect("a message");
    let mut without = REGISTRY.clone();
    without.messages[put].segments.iter_mut().for_each(|segment| segment.cases.clear());
    let without = Packets::new(&without).expect("it has messages");
    let of_schemas = |vector: &Vector| ["B10.1", "D7.1"].contains(&vector.rule);
    let vectors = all();
    let mut packets = vectors.iter().filter(|vector| of_schemas(vector)).filter_map(Vector::packet);
    assert!(packets.any(|bytes| without.fault(bytes).is_none()));
}

/// Without what a shape demands, bodies pass that it should refuse.
#[test]
fn every_demand_of_a_shape_is_needed() {
    let vectors = all();
    let needed = |id: &str, what: &str, change: &dyn Fn(&mut Registry)| {
        let mut without = REGISTRY.clone();
        change(&mut without);
        let without = Packets::new(&without).expect("it has messages");
        let mut of_it = vectors.iter().filter(|vector| vector.rule == id).filter_map(Vector::packet);
        assert!(of_it.any(|bytes| without.fault(bytes).is_none()), "{id}: {what}");
    };
    let mut demands = 0;
    for (at, body) in REGISTRY.bodies.iter().enumerate() {
        for (place, part) in body.parts.iter().enumerate() {
            let id = part.id.as_str();
            if part.count.is_some() {
                demands += 1;
                needed(id, "its count", &|all| all.bodies[at].parts[place].count = None);
            }
            if part.slices.is_some() {
                demands += 1;
                needed(id, "its slices", &|all| all.bodies[at].parts[place].slices = None);
            }
            if let Content::Layout(_) = part.content {
                demands += 1;
                // Bytes of any number and kind are good then.
                needed(id, "its rows", &|all| {
                    all.bodies[at].parts[place].content = Content::Opaque;
                    all.bodies[at].parts.iter_mut().for_each(|part| part.slices = None);
                    for message in &mut all.messages {
                        message.slots = None;
                        message.sorted.clear();
                    }
                });
            }
            if part.leading.is_some() {
                demands += 1;
                needed(id, "what it starts with", &|all| all.bodies[at].parts[place].leading = None);
            }
        }
    }
    for (at, entry) in REGISTRY.entries.iter().enumerate() {
        demands += 1;
        needed(&entry.id, "its padding", &|all| {
            all.entries[at].align = 1;
            all.messages.iter_mut().for_each(|message| message.sizes.clear());
        });
        if entry.unique.is_some() {
            demands += 1;
            needed(&entry.id, "that it is unique", &|all| all.entries[at].unique = None);
        }
    }
    for (at, message) in REGISTRY.messages.iter().enumerate() {
        for (place, segment) in message.segments.iter().enumerate() {
            if segment.count.is_some() {
                demands += 1;
                needed(&segment.id, "its count", &|all| all.messages[at].segments[place].count = None);
            }
            if let Content::Vocabulary(words) = segment.content {
                demands += 1;
                let id = &REGISTRY.vocabularies[words].id;
                needed(id, "its words", &|all| {
                    all.messages[at].segments[place].content = Content::Opaque;
                    all.messages[at].segments[place].count = None;
                });
            }
        }
    }
    assert_eq!(demands, 14);
}
