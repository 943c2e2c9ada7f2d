//! What a module is made of, part by part, and the parts as text, made on all processors at once.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use proc_macro2::TokenStream;

use crate::model::Registry;

use super::{Options, Rust, enums, format, layouts};

/// What belongs to one thing in the registry, by its position there.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Protocol,
    SerdeText,
    SerdeArray,
    Enum(usize),
    Bitmask(usize),
    Layout(usize),
    Messages(Messages),
    Schemas,
    Machine(usize),
}

/// What a protocol with messages has beside its layouts.
#[derive(Clone, Copy)]
pub(super) enum Messages {
    Bodies,
    Kinds,
    Body(usize),
    Enum,
    Packet,
    Frame,
    Check(usize),
    Codes,
}

/// The parts of a module in the order in which they stand there.
pub(super) fn parts(registry: &Registry, options: &Options) -> Vec<Part> {
    let mut parts = vec![Part::Protocol];
    if options.features && !(registry.enums.is_empty() && registry.bitmasks.is_empty()) {
        parts.push(Part::SerdeText);
    }
    let mut fields = registry.layouts.iter().flat_map(|layout| layout.values());
    if options.features && fields.any(layouts::is_long_array) {
        parts.push(Part::SerdeArray);
    }
    let own = |foreign: bool, part: Part| (!foreign).then_some(part);
    let enums = registry.enums.iter().enumerate();
    parts.extend(enums.filter_map(|(at, item)| own(item.is_foreign(), Part::Enum(at))));
    let bitmasks = registry.bitmasks.iter().enumerate();
    parts.extend(bitmasks.filter_map(|(at, item)| own(item.is_foreign(), Part::Bitmask(at))));
    let layouts = registry.layouts.iter().enumerate();
    parts.extend(layouts.filter_map(|(at, item)| own(item.is_foreign(), Part::Layout(at))));
    if !registry.messages.is_empty() {
        let each = 0..registry.messages.len();
        parts.extend([Messages::Bodies, Messages::Kinds].map(Part::Messages));
        parts.extend(each.clone().map(|at| Part::Messages(Messages::Body(at))));
        parts.extend([Messages::Enum, Messages::Packet, Messages::Frame].map(Part::Messages));
        parts.extend(each.map(|at| Part::Messages(Messages::Check(at))));
        parts.push(Part::Messages(Messages::Codes));
    }
    parts.push(Part::Schemas);
    parts.extend((0..registry.machines.len()).map(Part::Machine));
    parts
}

impl Rust<'_> {
    /// The items of a part.
    pub(super) fn part(&self, part: Part) -> Vec<TokenStream> {
        let registry = self.registry;
        match part {
            Part::Protocol => vec![self.protocol()],
            Part::SerdeText => vec![enums::serde_text()],
            Part::SerdeArray => vec![layouts::serde_array()],
            Part::Enum(at) => vec![self.enumeration(&registry.enums[at])],
            Part::Bitmask(at) => vec![self.bitmask(&registry.bitmasks[at])],
            Part::Layout(at) => self.layout(&registry.layouts[at]).into(),
            Part::Messages(part) => self.messages(part),
            Part::Schemas => vec![self.schemas()],
            Part::Machine(at) => vec![self.machine(&registry.machines[at])],
        }
    }
}

/// All parts as text. Which thread makes which does not show.
pub(super) fn texts(registry: &Registry, options: &Options) -> String {
    let parts = parts(registry, options);
    let next = AtomicUsize::new(0);
    let work = |options: &Options| {
        let rust = Rust { registry, options };
        let mut texts = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(part) = parts.get(at) else { return texts };
            texts.push((at, rust.part(*part).into_iter().map(format::format).collect::<Vec<_>>()));
        }
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(parts.len());
    let sent = Sent::of(options);
    let mut texts = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(|| work(&sent.options()))).collect();
        let mut texts = work(options);
        for other in others {
            texts.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        texts
    });
    texts.sort_unstable_by_key(|(at, _)| *at);
    texts
        .into_iter()
        .flat_map(|(_, texts)| texts)
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Options on their way to another thread, which tokens cannot go.
struct Sent {
    wire: String,
    bitflags: String,
    describe: Option<String>,
    owns_wire: bool,
    features: bool,
}

impl Sent {
    fn of(options: &Options) -> Self {
        Self {
            wire: options.wire.to_string(),
            bitflags: options.bitflags.to_string(),
            describe: options.describe.as_ref().map(TokenStream::to_string),
            owns_wire: options.owns_wire,
            features: options.features,
        }
    }

    fn options(&self) -> Options {
        let path = |text: &String| text.parse().unwrap_or_default();
        Options {
            wire: path(&self.wire),
            bitflags: path(&self.bitflags),
            describe: self.describe.as_ref().map(path),
            owns_wire: self.owns_wire,
            features: self.features,
        }
    }
}
