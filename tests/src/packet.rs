//! Random good packets of any protocol, made from its registry.

use std::collections::HashMap;

use nnrp_gen::codec::packet::Packets;
use nnrp_gen::codec::{EncodeError, Fault, Value, field_value};
use nnrp_gen::model::{Layout, Message, Registry, Rule};
use nnrp_gen::rule::{self, Space};

use crate::parts::Parts;
use crate::random::{Random, good, literals, set};

/// How much is in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Nothing that may be left out, and zeros wherever they are good.
    Minimal,
    /// Anything.
    Typical,
    /// Something in every segment and every part.
    Full,
}

impl Size {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Minimal, Self::Typical, Self::Full];
}

/// Makes packets.
pub struct Maker<'a> {
    registry: &'a Registry,
    packets: Packets<'a>,
}

/// Fields that a body settles, by their position in the metadata.
pub(crate) type Pins = HashMap<usize, u64>;

/// A packet being mended.
struct Draft<'m> {
    header: Fields<'m>,
    metadata: Option<Fields<'m>>,
    body: Value,
}

/// The fields of a layout that may be changed.
struct Fields<'m> {
    layout: &'m Layout,
    /// By position.
    values: Vec<Option<Value>>,
    pinned: Vec<usize>,
}

impl<'a> Maker<'a> {
    /// For a protocol that has messages.
    pub fn new(registry: &'a Registry) -> Self {
        let packets = Packets::new(registry).expect("the protocol has messages");
        Self { registry, packets }
    }

    /// The reader and writer that it makes packets with.
    pub fn packets(&self) -> &Packets<'a> {
        &self.packets
    }

    /// A good packet.
    ///
    /// # Panics
    ///
    /// Where none is found, which says that the registry forbids the message or that this needs to learn more.
    pub fn packet(&self, message: &Message, size: Size, random: &mut Random) -> Vec<u8> {
        let mut last = None;
        for _ in 0..400 {
            match self.attempt(message, size, random) {
                Ok(packet) => return packet,
                Err(error) => last = Some(error),
            }
        }
        panic!(
            "no {size:?} packet of {} was found: {}",
            message.name,
            last.map_or(String::new(), |it| it.to_string())
        )
    }

    /// As [`Self::packet`], as a value.
    pub fn value(&self, message: &Message, size: Size, random: &mut Random) -> Value {
        let packet = self.packet(message, size, random);
        self.packets.decode(&packet).unwrap_or_else(|fault| panic!("{}: {fault}", message.name))
    }

    fn attempt(&self, message: &Message, size: Size, random: &mut Random) -> Result<Vec<u8>, EncodeError> {
        let mut parts = Parts { registry: self.registry, message, size, random, pins: Pins::new() };
        let body = parts.body();
        let pins = parts.pins;
        let registry = self.registry;
        let metadata = message.metadata.map(|layout| {
            let layout = &registry.layouts[layout];
            let filled = self.packets.filled_in_metadata(message);
            Fields::random(registry, layout, filled, &pins, size, random)
        });
        let filled = self.packets.filled_in_header();
        let header = Fields::random(registry, self.packets.header(), filled, &Pins::new(), size, random);
        let mut draft = Draft { header, metadata, body };
        let mut rounds = 0;
        loop {
            let problem = match self.packets.encode(message, &draft.value(message)) {
                Ok(packet) => return Ok(packet),
                Err(problem) => problem,
            };
            let EncodeError::Fault(fault) = &problem else { return Err(problem) };
            rounds += 1;
            if rounds > 300 || !draft.mend(registry, message, fault, random) {
                return Err(problem);
            }
        }
    }
}

impl<'m> Fields<'m> {
    fn random(
        registry: &Registry,
        layout: &'m Layout,
        filled: Vec<usize>,
        pins: &Pins,
        size: Size,
        random: &mut Random,
    ) -> Self {
        let mut fields = Self { layout, values: vec![None; layout.fields.len()], pinned: filled };
        let start = if size == Size::Minimal { None } else { good(registry, layout, random) };
        for (at, field) in layout.fields.iter().enumerate() {
            if fields.pinned.contains(&at) || !field.has_value() {
                continue;
            }
            match (&start, pins.get(&at)) {
                (_, Some(number)) => fields.values[at] = Some(Value::Unsigned(*number)),
                (Some(bytes), None) => fields.values[at] = value(registry, layout, at, &bytes[field.range()]),
                (None, None) => {}
            }
        }
        fields.pinned.extend(pins.keys());
        fields
    }

    /// Changes a field, if that is allowed.
    fn change(&mut self, registry: &Registry, field: usize, hints: &[u64], random: &mut Random) -> bool {
        let Some(item) = self.layout.fields.get(field) else { return false };
        if self.pinned.contains(&field) || !item.has_value() {
            return false;
        }
        let mut bytes = vec![0; item.size as usize];
        set(registry, self.layout, item, random, hints, &mut bytes);
        self.values[field] = value(registry, self.layout, field, &bytes);
        true
    }

    fn number(&self, field: usize) -> Option<u64> {
        match self.values.get(field)? {
            Some(Value::Unsigned(number)) => Some(*number),
            _ => None,
        }
    }

    fn value(&self) -> Value {
        let fields = self.layout.fields.iter().zip(&self.values);
        Value::Struct(
            fields.filter_map(|(field, value)| Some((field.name.clone(), value.clone()?))).collect(),
        )
    }
}

/// The value of a field, where it is one of numbers.
fn value(registry: &Registry, layout: &Layout, field: usize, bytes: &[u8]) -> Option<Value> {
    let field = &layout.fields[field];
    field_value(registry, layout, field, bytes).or_else(|| {
        // Layouts inside are read as what they are.
        let nnrp_gen::model::Element::Layout(inner) = field.element else { return None };
        let inner = &registry.layouts[inner];
        let one = |bytes: &[u8]| nnrp_gen::codec::decode(registry, inner, bytes).ok();
        match field.count {
            None => one(bytes),
            Some(_) => bytes.chunks(inner.size as usize).map(one).collect::<Option<_>>().map(Value::List),
        }
    })
}

impl<'m> Draft<'m> {
    fn value(&self, message: &Message) -> Value {
        let named = |name: &str, value| (name.to_owned(), value);
        let metadata = self.metadata.as_ref().map_or(Value::Struct(Vec::new()), Fields::value);
        Value::Struct(vec![
            named("header", self.header.value()),
            named("message", Value::Text(message.name.clone())),
            named("metadata", metadata),
            named("body", self.body.clone()),
        ])
    }

    /// Changes a field that has to do with the fault; whether there was one.
    fn mend(&mut self, registry: &Registry, message: &Message, fault: &Fault, random: &mut Random) -> bool {
        if let Some(rule) = self.broken(message, fault) {
            let mut fields = rule::fields(&rule.condition());
            let mut hints = literals(rule);
            hints.extend(fields.iter().filter_map(|field| self.fields(field.space)?.number(field.index)));
            while !fields.is_empty() {
                let field = fields.swap_remove(random.below(fields.len()));
                let space = self.fields_mut(field.space);
                if space.is_some_and(|space| space.change(registry, field.index, &hints, random)) {
                    return true;
                }
            }
            return false;
        }
        let spaces = [Some(&mut self.header), self.metadata.as_mut()];
        let fields = spaces.into_iter().flatten().find(|fields| fields.layout.name == fault.layout);
        fields.is_some_and(|fields| {
            let field = fields.layout.fields.iter().position(|field| field.name == fault.field);
            field.is_some_and(|field| fields.change(registry, field, &[], random))
        })
    }

    /// The rule of the header, the metadata or the message that is broken.
    fn broken<'r>(&'r self, message: &'r Message, fault: &Fault) -> Option<&'r Rule> {
        let own = self.metadata.as_ref().map(|metadata| metadata.layout);
        let layouts = [Some(self.header.layout), own].into_iter().flatten();
        let of_layouts =
            layouts.filter(|layout| layout.name == fault.layout).flat_map(|layout| &layout.rules);
        let of_message = message.scope_rules.iter().chain(&message.rules);
        let same = |rule: &&Rule| Some(&rule.id) == fault.rule.as_ref() && rule.doc == fault.doc;
        of_message.chain(of_layouts).find(same)
    }

    fn fields(&self, space: Space) -> Option<&Fields<'_>> {
        match space {
            Space::Header => Some(&self.header),
            Space::Own => self.metadata.as_ref(),
        }
    }

    fn fields_mut(&mut self, space: Space) -> Option<&mut Fields<'m>> {
        match space {
            Space::Header => Some(&mut self.header),
            Space::Own => self.metadata.as_mut(),
        }
    }
}
