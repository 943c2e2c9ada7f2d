//! A good packet, one change, and the fault that must come of it.

use std::sync::LazyLock;

use nnrp_core::wire::{Fault, FaultKind};
use nnrp_core::{CommonHeader, ErrorCode, Message, MessageType, Packet};
use nnrp_gen::model::{Layout, Registry};
use nnrp_tests::registry;

/// The registry, to find fields by their names.
pub static REGISTRY: LazyLock<Registry> = LazyLock::new(registry::nnrp);

/// Reads bytes and says what is wrong with them.
type Look = fn(&[u8]) -> Option<Fault>;

/// Bytes that are good, to be changed.
#[derive(Clone, Debug)]
pub struct Good {
    /// The layout that stands by itself; a packet where there is none.
    layout: Option<&'static str>,
    look: Look,
    bytes: Vec<u8>,
}

/// Looks at a packet.
const PACKET: Look = |bytes| Packet::parse(bytes).err();

impl Good {
    /// A packet.
    #[track_caller]
    pub fn packet(header: CommonHeader, message: Message<'_>) -> Self {
        let bytes = message.to_vec(&header).unwrap_or_else(|fault| panic!("{message:?}: {fault}"));
        Self { layout: None, look: PACKET, bytes }
    }

    /// A packet that is there as bytes.
    #[track_caller]
    pub fn bytes(bytes: Vec<u8>) -> Self {
        Packet::parse(&bytes).unwrap_or_else(|fault| panic!("{bytes:02x?}: {fault}"));
        Self { layout: None, look: PACKET, bytes }
    }

    /// A layout that stands by itself.
    pub fn layout(layout: &'static str, look: Look, bytes: &[u8]) -> Self {
        Self { layout: Some(layout), look, bytes: bytes.to_vec() }
    }

    fn bad(&self) -> Bad {
        Bad { good: self.clone(), bytes: self.bytes.clone() }
    }

    /// With another number in a field of its metadata, or of the header where the name starts with `header.`.
    #[track_caller]
    pub fn set(&self, field: &str, value: u64) -> Bad {
        self.bad().set(field, value)
    }

    /// With other bytes from `at` on.
    #[track_caller]
    pub fn put(&self, at: usize, bytes: &[u8]) -> Bad {
        self.bad().put(at, bytes)
    }

    /// With another body, whose length the header declares.
    pub fn body(&self, body: &[u8]) -> Bad {
        self.bad().body(body)
    }

    /// With `bytes` in the place of `removed` bytes of its body, and the header's length to fit.
    pub fn splice(&self, at: usize, removed: usize, bytes: &[u8]) -> Bad {
        self.bad().splice(at, removed, bytes)
    }

    /// With other bytes altogether.
    pub fn replaced(&self, bytes: Vec<u8>) -> Bad {
        Bad { good: self.clone(), bytes }
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// A good one with one change.
#[derive(Clone, Debug)]
pub struct Bad {
    good: Good,
    bytes: Vec<u8>,
}

fn layout(name: &str) -> &'static Layout {
    REGISTRY.layout(name).unwrap_or_else(|| panic!("no layout {name}"))
}

impl Bad {
    /// As [`Good::set`].
    #[track_caller]
    pub fn set(mut self, field: &str, value: u64) -> Self {
        let (layout, base) = match (field.strip_prefix("header."), self.good.layout) {
            (Some(_), _) => (layout("common_header"), 0),
            (None, Some(name)) => (layout(name), 0),
            (None, None) => {
                let kind = MessageType::from_raw(self.bytes[6]).expect("a message");
                let message = REGISTRY.message(kind.name()).expect("a message");
                (&REGISTRY.layouts[message.metadata.expect("it has metadata")], CommonHeader::SIZE)
            }
        };
        let name = field.strip_prefix("header.").unwrap_or(field);
        let field = layout.fields.iter().find(|field| field.name == name);
        let range = field.unwrap_or_else(|| panic!("no field {name} in {}", layout.name)).range();
        let place = &mut self.bytes[base + range.start..base + range.end];
        let value = &value.to_le_bytes()[..place.len()];
        assert_ne!(place, value, "{name} is that already");
        place.copy_from_slice(value);
        self
    }

    /// As [`Good::put`].
    #[track_caller]
    pub fn put(mut self, at: usize, bytes: &[u8]) -> Self {
        let place = &mut self.bytes[at..at + bytes.len()];
        assert_ne!(place, bytes, "it is that already");
        place.copy_from_slice(bytes);
        self
    }

    /// As [`Good::body`].
    pub fn body(mut self, body: &[u8]) -> Self {
        let at = self.body_at();
        self.bytes.truncate(at);
        self.bytes.extend_from_slice(body);
        self.fill()
    }

    /// As [`Good::splice`].
    pub fn splice(mut self, at: usize, removed: usize, bytes: &[u8]) -> Self {
        self.bytes.splice(at..at + removed, bytes.iter().copied());
        self.fill()
    }

    fn body_at(&self) -> usize {
        let kind = MessageType::from_raw(self.bytes[6]).expect("a message");
        CommonHeader::SIZE + kind.metadata_size()
    }

    fn fill(mut self) -> Self {
        let size = (self.bytes.len() - self.body_at()) as u32;
        self.bytes[16..20].copy_from_slice(&size.to_le_bytes());
        self
    }

    /// Is refused by the rule of that id, which blames a field at an offset.
    pub fn breaks(self, rule: &'static str, layout: &'static str, field: &'static str, at: usize) -> Vector {
        self.faults(FaultKind::Rule, rule, layout, field, at)
    }

    /// Is refused for a length, by the rule of that id.
    pub fn length(self, rule: &'static str, layout: &'static str, field: &'static str, at: usize) -> Vector {
        self.faults(FaultKind::Length, rule, layout, field, at)
    }

    /// Is refused in that way; `rule` is empty where none is involved.
    pub fn faults(
        self,
        kind: FaultKind,
        rule: &'static str,
        layout: &'static str,
        field: &'static str,
        at: usize,
    ) -> Vector {
        let Self { good, bytes } = self;
        Vector {
            good,
            bad: bytes,
            kind,
            rule,
            layout,
            field,
            at,
            code: ErrorCode::MALFORMED_BODY,
            fatal: false,
        }
    }

    /// Is good all the same.
    #[track_caller]
    pub fn passes(self) {
        if let Some(fault) = (self.good.look)(&self.bytes) {
            panic!("{:02x?}: {fault}", self.bytes);
        }
    }
}

/// What must be refused, and how.
#[derive(Clone, Debug)]
pub struct Vector {
    good: Good,
    bad: Vec<u8>,
    kind: FaultKind,
    pub rule: &'static str,
    layout: &'static str,
    field: &'static str,
    at: usize,
    code: ErrorCode,
    fatal: bool,
}

impl Vector {
    /// Is answered by that code, not by malformed_body.
    pub fn code(self, code: ErrorCode) -> Self {
        Self { code, ..self }
    }

    /// Leaves the stream without the end of the packet.
    pub fn fatal(self) -> Self {
        Self { fatal: true, ..self }
    }

    /// Is a fault in the header.
    pub fn of_header(self) -> Self {
        self.code(ErrorCode::MALFORMED_HEADER).fatal()
    }

    /// The bytes that are refused, where they are a packet.
    pub fn packet(&self) -> Option<&[u8]> {
        self.good.layout.is_none().then_some(&self.bad)
    }

    /// The layout and the bytes that its rule refuses, for one that stands by itself or that is metadata of a packet.
    pub fn in_layout(&self) -> Option<(&'static Layout, &[u8])> {
        if self.layout.is_empty() {
            return None;
        }
        let named = REGISTRY.layout(self.layout)?;
        let size = named.size as usize;
        match self.good.layout {
            Some(_) => Some((named, &self.bad)),
            None => {
                // The blamed field is at a known place in its layout, which says where the layout starts.
                let field = named.fields.iter().find(|field| field.name == self.field)?;
                let start = self.at.checked_sub(field.offset as usize)?;
                Some((named, self.bad.get(start..start + size)?))
            }
        }
    }

    /// The change is what is refused, exactly so.
    #[track_caller]
    pub fn hold(&self, name: &str) {
        let Self { good, bad, kind, rule, layout, field, at, code, fatal } = self;
        if let Some(fault) = (good.look)(&good.bytes) {
            panic!("{name}, before the change: {fault}\n{:02x?}", good.bytes);
        }
        let Some(fault) = (good.look)(bad) else {
            panic!("{name}: {layout}.{field} should be refused by {rule:?}\n{bad:02x?}")
        };
        let seen = (
            (fault.layout(), fault.field(), fault.offset(), fault.kind()),
            (fault.rule().unwrap_or(""), fault.error_code(), fault.breaks_stream()),
        );
        let expected = ((*layout, *field, *at, *kind), (*rule, *code, *fatal));
        assert_eq!(seen, expected, "{name}: {fault}\n{bad:02x?}");
    }
}

/// A test for each table of vectors, and all vectors together.
macro_rules! rules {
    ($($name:ident,)*) => {
        mod rule {
            $(
                #[test]
                fn $name() {
                    let vectors = super::$name();
                    assert!(!vectors.is_empty());
                    vectors.iter().for_each(|vector| vector.hold(stringify!($name)));
                }
            )*
        }

        /// All of them.
        pub fn all() -> Vec<$crate::vector::Vector> {
            [$($name()),*].concat()
        }
    };
}
pub(crate) use rules;
