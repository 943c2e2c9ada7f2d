//! How bodies are walked: entries, slices, words, and what their parts owe one another.
//!
//! Tables that come from the registry say what to look for; nothing here allocates, and everything
//! takes time in proportion to the bytes. The tables are constants: where their methods are inlined,
//! each field is read at a place that the compiler knows, as if the code had been written for it.

use super::{Fault, FaultKind, Site};

/// Bytes of a packet and where in it they start.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// Their first byte, counted from the start of the packet.
    pub at: usize,
}

impl<'a> Piece<'a> {
    /// Where it ends.
    const fn end(&self) -> usize {
        self.at + self.bytes.len()
    }

    /// Its first `N` bytes, which are there.
    pub fn whole<const N: usize>(&self) -> &'a [u8; N] {
        self.bytes.first_chunk().unwrap_or(&[0; N])
    }

    /// Its first bytes, at most `size` of them.
    pub fn front(&self, size: usize) -> Piece<'a> {
        self.sub(0, size)
    }

    /// Its first bytes and what is behind them, if it has so many.
    #[inline]
    fn split(&self, size: usize) -> Option<(Piece<'a>, Piece<'a>)> {
        let (front, back) = self.bytes.split_at_checked(size)?;
        Some((Piece { bytes: front, at: self.at }, Piece { bytes: back, at: self.at + size }))
    }

    /// The bytes from `from`, at most `size` of them.
    #[inline]
    fn sub(&self, from: usize, size: usize) -> Piece<'a> {
        let from = from.min(self.bytes.len());
        let size = size.min(self.bytes.len() - from);
        Piece { bytes: self.bytes.get(from..from + size).unwrap_or_default(), at: self.at + from }
    }
}

/// A fault at a byte of the packet.
#[cold]
const fn fault(site: &'static Site, at: usize, kind: FaultKind) -> Fault {
    Fault::new(site, 0, kind).behind(at)
}

/// A field as a number: where it is and how to blame it.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// First byte in its layout.
    pub offset: u32,
    /// Bytes of it.
    pub size: u32,
    /// Whether its most significant byte comes first.
    pub big: bool,
    /// How to blame it.
    pub site: Site,
}

impl Place {
    /// The number in the bytes of its layout.
    #[inline(always)]
    pub fn read(&self, layout: &[u8]) -> u64 {
        let from = self.offset as usize;
        number(layout.get(from..from + self.size as usize).unwrap_or_default(), self.big)
    }

    /// A fault in it, in a layout that starts at `base`.
    #[cold]
    pub const fn blame(&'static self, base: usize, kind: FaultKind) -> Fault {
        fault(&self.site, base + self.offset as usize, kind)
    }
}

/// The bytes of a scalar as a number.
#[inline(always)]
fn number(bytes: &[u8], big: bool) -> u64 {
    let (little, missing) = match *bytes {
        [a] => (u64::from(a), 56),
        [a, b] => (u64::from(u16::from_le_bytes([a, b])), 48),
        [a, b, c, d] => (u64::from(u32::from_le_bytes([a, b, c, d])), 32),
        [a, b, c, d, e, f, g, h] => (u64::from_le_bytes([a, b, c, d, e, f, g, h]), 0),
        // No scalar has another size; this is a field of bytes that are not there.
        _ => (0, 0),
    };
    if big { little.swap_bytes() >> missing } else { little }
}

/// A layout: its size and its check.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Bytes.
    pub size: u32,
    /// The first fault of that many bytes.
    pub check: fn(&[u8]) -> Option<Fault>,
}

impl Shape {
    /// Checks one at the start of `piece`.
    #[inline(always)]
    pub fn one(&self, piece: Piece<'_>) -> Result<(), Fault> {
        match (self.check)(piece.bytes) {
            None => Ok(()),
            Some(fault) => Err(fault.behind(piece.at)),
        }
    }

    /// Checks as many as `piece` holds.
    #[inline(always)]
    pub fn all(&self, piece: Piece<'_>) -> Result<(), Fault> {
        let size = self.size.max(1) as usize;
        for (row, bytes) in piece.bytes.chunks_exact(size).enumerate() {
            self.one(Piece { bytes, at: piece.at + row * size })?;
        }
        Ok(())
    }
}

/// Cuts a body into segments, or the rest of a prelude into parts, from front to back.
#[derive(Clone, Copy, Debug)]
pub struct Cut<'a> {
    rest: Piece<'a>,
}

impl<'a> Cut<'a> {
    /// Starts at the front.
    pub const fn new(piece: Piece<'a>) -> Self {
        Self { rest: piece }
    }

    /// The next `length` bytes, which a field at `at` declares.
    #[inline]
    pub fn take(&mut self, length: u64, site: &'static Site, at: usize) -> Result<Piece<'a>, Fault> {
        let Some((taken, rest)) =
            usize::try_from(length).ok().and_then(|length| self.rest.bytes.split_at_checked(length))
        else {
            return Err(fault(site, at, FaultKind::Length));
        };
        let piece = Piece { bytes: taken, at: self.rest.at };
        self.rest = Piece { bytes: rest, at: piece.end() };
        Ok(piece)
    }

    /// All that is left.
    #[inline]
    pub fn rest(&mut self) -> Piece<'a> {
        let piece = self.rest;
        self.rest = Piece { bytes: &[], at: piece.end() };
        piece
    }

    /// Nothing is left.
    #[inline]
    pub fn end(self, last: &'static Site) -> Result<(), Fault> {
        if self.rest.bytes.is_empty() { Ok(()) } else { Err(fault(last, self.rest.at, FaultKind::Length)) }
    }

    /// Nothing is left, or a field at `at` is to blame.
    #[inline]
    pub fn nothing(self, site: &'static Site, at: usize) -> Result<(), Fault> {
        if self.rest.bytes.is_empty() { Ok(()) } else { Err(fault(site, at, FaultKind::Length)) }
    }
}

/// A number of bytes as a length field would have it; one that does not fit is refused by the reader.
pub fn length<T: TryFrom<usize>>(bytes: usize, most: T) -> T {
    T::try_from(bytes).unwrap_or(most)
}

/// Bytes of so many rows; more than any slice has where that overflows.
pub fn length_of(rows: u64, row: usize) -> usize {
    usize::try_from(rows).unwrap_or(usize::MAX).saturating_mul(row)
}

/// A condition that fails blames a field at `at`.
#[inline]
pub const fn need(holds: bool, site: &'static Site, at: usize, kind: FaultKind) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(fault(site, at, kind)) }
}

/// How a header or a row says what its payload holds.
#[derive(Clone, Copy, Debug)]
pub struct Select {
    /// The field that says it.
    pub field: Place,
    /// The field, and the bit in it, of a payload that must be understood.
    pub critical: Option<(Place, u64)>,
    /// How to blame one that must be and is not.
    pub unsupported: Site,
    /// The payloads that are known.
    pub choices: &'static [Choice],
}

/// A condition on the bytes of a header or row.
pub type Condition = fn(&[u8]) -> bool;

/// A payload that is known.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// The selector's value.
    pub value: u64,
    /// What the payload is.
    pub shape: Shape,
    /// The messages in which it is known; all where empty.
    pub messages: &'static [u64],
    /// How to blame one whose critical bit is set, where that is refused.
    pub refuse_critical: Option<Place>,
    /// How to blame a second one, where that is refused.
    pub once: Option<Place>,
    /// What its header or row must fulfil, and how to blame one that does not.
    pub require: Option<(Condition, Place)>,
    /// How to blame a payload of another size.
    pub length: Place,
}

impl Select {
    /// The choice that a header or row makes in a message.
    #[inline(always)]
    pub fn choice(&self, header: &[u8], message: u64) -> Option<&'static Choice> {
        let value = self.field.read(header);
        let known = |choice: &&Choice| {
            choice.value == value && (choice.messages.is_empty() || choice.messages.contains(&message))
        };
        self.choices.iter().find(known)
    }

    /// Checks a payload against what its header or row at `base` says. `seen` has a bit for each choice that stood
    /// before and stands once; a registry has at most as many of those as there are bits.
    #[inline(always)]
    fn check(
        &'static self,
        header: &[u8],
        base: usize,
        payload: Piece<'_>,
        message: u64,
        seen: &mut u64,
    ) -> Result<(), Fault> {
        let critical = self.critical.as_ref().is_some_and(|(field, bit)| field.read(header) & bit != 0);
        let Some(choice) = self.choice(header, message) else {
            let at = base + self.field.offset as usize;
            return need(!critical, &self.unsupported, at, FaultKind::Unsupported);
        };
        if let Some(field) = choice.refuse_critical.as_ref().filter(|_| critical) {
            return Err(field.blame(base, FaultKind::Rule));
        }
        match &choice.require {
            Some((holds, field)) if !holds(header) => return Err(field.blame(base, FaultKind::Rule)),
            _ => {}
        }
        if let Some(field) = &choice.once {
            let mut once = self.choices.iter().filter(|other| other.once.is_some());
            let bit = 1 << once.position(|other| other.value == choice.value).unwrap_or(0);
            if *seen & bit != 0 {
                return Err(field.blame(base, FaultKind::Rule));
            }
            *seen |= bit;
        }
        if payload.bytes.len() != choice.shape.size as usize {
            return Err(choice.length.blame(base, FaultKind::Length));
        }
        choice.shape.one(payload)
    }
}

/// Headers with payloads and zero padding, to the end of their segment.
#[derive(Clone, Copy, Debug)]
pub struct Entries {
    /// How to blame the entry as a whole.
    pub site: Site,
    /// The header.
    pub header: Shape,
    /// The header field that gives the payload's bytes.
    pub payload: Place,
    /// The boundary to which zero bytes pad an entry.
    pub align: u32,
    /// What payloads hold.
    pub select: Option<Select>,
    /// The header field whose values stand once in a block.
    pub unique: Option<Place>,
}

/// An entry: its header and its payload.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The header.
    pub header: Piece<'a>,
    /// The payload, without padding.
    pub payload: Piece<'a>,
}

impl Entries {
    /// The first entry of `rest` and what is behind it.
    #[inline(always)]
    fn split<'a>(&'static self, rest: Piece<'a>) -> Result<(Entry<'a>, Piece<'a>), Fault> {
        let size = self.header.size as usize;
        let (header, left) = rest.split(size).unwrap_or((rest, Piece { bytes: &[], at: rest.end() }));
        self.header.one(header)?;
        let declared = usize::try_from(self.payload.read(header.bytes)).ok();
        let Some((payload, behind)) = declared.and_then(|length| left.split(length)) else {
            return Err(self.payload.blame(rest.at, FaultKind::Length));
        };
        let length = payload.bytes.len();
        // Neither sum overflows: both are lengths within one slice.
        let padding = (size + length).next_multiple_of(self.align.max(1) as usize) - (size + length);
        if let Some(at) = behind.bytes.iter().take(padding).position(|byte| *byte != 0) {
            return Err(fault(&self.site, behind.at + at, FaultKind::Reserved));
        }
        if behind.bytes.len() < padding {
            return Err(fault(&self.site, rest.end(), FaultKind::TooShort));
        }
        Ok((Entry { header, payload }, behind.sub(padding, usize::MAX)))
    }

    /// Checks a block of entries in a message.
    #[inline]
    pub fn check(&'static self, block: Piece<'_>, message: u64) -> Result<(), Fault> {
        if block.bytes.is_empty() { Ok(()) } else { self.check_some(block, message) }
    }

    #[inline(always)]
    fn check_some(&'static self, block: Piece<'_>, message: u64) -> Result<(), Fault> {
        let mut rest = block;
        let mut values = Values::new();
        let mut seen = 0;
        while !rest.bytes.is_empty() {
            let (entry, behind) = self.split(rest)?;
            if let Some(field) = &self.unique {
                let is_new =
                    values.add(field.read(entry.header.bytes), || self.earlier(block, rest.at, field));
                is_new.then_some(()).ok_or(field.blame(entry.header.at, FaultKind::Rule))?;
            }
            if let Some(select) = &self.select {
                select.check(entry.header.bytes, entry.header.at, entry.payload, message, &mut seen)?;
            }
            rest = behind;
        }
        Ok(())
    }

    /// The values of a field in the entries of `block` that start before `end`.
    fn earlier<'a>(
        &'static self,
        block: Piece<'a>,
        end: usize,
        field: &'static Place,
    ) -> impl Iterator<Item = u64> + use<'a> {
        self.iter(block)
            .take_while(move |entry| entry.header.at < end)
            .map(|entry| field.read(entry.header.bytes))
    }

    /// The entries of a checked block; of another, up to the first that is cut.
    #[inline]
    pub fn iter<'a>(&'static self, block: Piece<'a>) -> impl Iterator<Item = Entry<'a>> + Clone + use<'a> {
        let mut rest = block;
        core::iter::from_fn(move || {
            let (header, left) = rest.split(self.header.size as usize)?;
            let length = usize::try_from(self.payload.read(header.bytes)).ok()?;
            let (payload, behind) = left.split(length)?;
            let size = header.bytes.len() + length;
            let padding = size.next_multiple_of(self.align.max(1) as usize) - size;
            rest = behind.sub(padding, usize::MAX);
            Some(Entry { header, payload })
        })
    }

    /// Whether a block has an entry that is known in the message by that value, with that bool of its
    /// payload set.
    pub fn has(&'static self, block: Piece<'_>, message: u64, value: u64, flag: Option<&Place>) -> bool {
        let Some(select) = &self.select else { return false };
        self.iter(block).any(|entry| {
            select.choice(entry.header.bytes, message).is_some_and(|choice| choice.value == value)
                && flag.is_none_or(|flag| flag.read(entry.payload.bytes) != 0)
        })
    }
}

/// The values of a field that were seen: the first few one by one, then all 65536 as bits.
struct Values {
    few: [u64; Values::FEW],
    count: usize,
    many: Option<[u64; 1024]>,
}

impl Values {
    const FEW: usize = 16;

    const fn new() -> Self {
        Self { few: [0; Self::FEW], count: 0, many: None }
    }

    /// Adds a value, unless it is there. `earlier` gives the values so far, to turn to bits once.
    fn add<I: Iterator<Item = u64>>(&mut self, value: u64, earlier: impl FnOnce() -> I) -> bool {
        if self.many.is_none() {
            let seen = self.few.get(..self.count).unwrap_or_default();
            if seen.contains(&value) {
                return false;
            }
            if let Some(place) = self.few.get_mut(self.count) {
                *place = value;
                self.count += 1;
                return true;
            }
            let mut bits = [0; 1024];
            earlier().for_each(|value| _ = mark(&mut bits, value));
            self.many = Some(bits);
        }
        self.many.as_mut().is_none_or(|bits| mark(bits, value))
    }
}

/// Sets the bit of a value; whether it was clear.
fn mark(bits: &mut [u64; 1024], value: u64) -> bool {
    let value = value as usize % 65536;
    let Some(word) = bits.get_mut(value / 64) else { return true };
    let bit = 1 << (value % 64);
    let fresh = *word & bit == 0;
    *word |= bit;
    fresh
}

/// How the rows of one part slice another.
#[derive(Clone, Copy, Debug)]
pub struct Slices {
    /// How to blame what no row names.
    pub site: Site,
    /// Bytes of a row.
    pub row: u32,
    /// The row's field for the first byte.
    pub offset: Place,
    /// The row's field for the bytes.
    pub size: Place,
    /// What slices hold.
    pub select: Option<Select>,
}

impl Slices {
    /// Checks that the rows slice the part from end to end.
    #[inline(always)]
    pub fn check(&'static self, rows: Piece<'_>, part: Piece<'_>, message: u64) -> Result<(), Fault> {
        let mut end = 0;
        let mut seen = 0;
        let step = self.row.max(1) as usize;
        for (at, row) in rows.bytes.chunks_exact(step).enumerate() {
            let base = rows.at + at * step;
            if self.offset.read(row) != end as u64 {
                return Err(self.offset.blame(base, FaultKind::Length));
            }
            let declared = usize::try_from(self.size.read(row)).ok();
            let Some(size) = declared.filter(|size| *size <= part.bytes.len() - end) else {
                return Err(self.size.blame(base, FaultKind::Length));
            };
            if let Some(select) = &self.select {
                select.check(row, base, part.sub(end, size), message, &mut seen)?;
            }
            end += size;
        }
        need(end == part.bytes.len(), &self.site, part.at + end, FaultKind::Length)
    }

    /// The slice that a checked row names.
    pub fn of<'a>(&self, row: &[u8], part: &'a [u8]) -> &'a [u8] {
        let read = |place: &Place| usize::try_from(place.read(row)).unwrap_or(usize::MAX);
        let from = read(&self.offset);
        let to = from.saturating_add(read(&self.size));
        part.get(from..to).unwrap_or_default()
    }
}

/// Length-prefixed words, ascending and each once.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// How to blame the words as a whole.
    pub site: Site,
    /// How to blame a length.
    pub length: Site,
    /// How to blame a word.
    pub word: Site,
    /// Bytes of the length in front of each word.
    pub prefix: u32,
    /// Whether its most significant byte comes first.
    pub big: bool,
}

impl Words {
    /// How many registered words are tried before all of them are searched.
    const NEAR: usize = 16;

    /// Checks words against those that are registered, which ascend, or that `also` allows, and counts them.
    pub fn check(
        &'static self,
        words: Piece<'_>,
        registered: &[&str],
        also: impl Fn(&str) -> bool,
    ) -> Result<u64, Fault> {
        let allowed = |word: &[u8]| {
            let form = word.iter().all(|byte| is_word_byte(*byte));
            core::str::from_utf8(word).is_ok_and(|word| form && also(word))
        };
        let mut rest = words;
        let mut before: &[u8] = &[];
        let mut count = 0;
        let mut next = 0;
        while !rest.bytes.is_empty() {
            let (word, behind) = self.split(rest)?;
            // Both ascend: the word is among the next few, or may be anywhere.
            let mut near = registered.iter().skip(next).take(Self::NEAR);
            let place = match near.position(|known| known.as_bytes() == word.bytes) {
                Some(steps) => Some(next + steps),
                None => registered.binary_search_by(|known| known.as_bytes().cmp(word.bytes)).ok(),
            };
            next = place.map_or(next, |place| place + 1);
            let known = place.is_some() || allowed(word.bytes);
            need(known, &self.word, word.at, FaultKind::UnknownValue)?;
            need(before < word.bytes, &self.word, word.at, FaultKind::Rule)?;
            before = word.bytes;
            rest = behind;
            count += 1;
        }
        Ok(count)
    }

    /// The length of a word of so many bytes, which must be some and must fit.
    pub fn length_of(&'static self, bytes: usize) -> Result<u64, Fault> {
        let most = u64::MAX >> (64 - 8 * self.prefix.clamp(1, 8));
        let fits = u64::try_from(bytes).ok().filter(|length| *length > 0 && *length <= most);
        fits.ok_or(fault(&self.length, 0, FaultKind::Length))
    }

    #[inline(always)]
    fn split<'a>(&'static self, rest: Piece<'a>) -> Result<(Piece<'a>, Piece<'a>), Fault> {
        let prefix = self.prefix as usize;
        let number = rest.sub(0, prefix);
        need(number.bytes.len() == prefix, &self.site, rest.end(), FaultKind::TooShort)?;
        let place = Place { offset: 0, size: self.prefix, big: self.big, site: self.length };
        let left = rest.sub(prefix, usize::MAX);
        let declared = usize::try_from(place.read(number.bytes)).ok();
        let Some(length) = declared.filter(|length| *length > 0 && *length <= left.bytes.len()) else {
            return Err(fault(&self.length, rest.at, FaultKind::Length));
        };
        Ok((left.sub(0, length), left.sub(length, usize::MAX)))
    }

    /// The words, up to the first that is not whole.
    pub fn iter<'a>(&'static self, words: &'a [u8]) -> impl Iterator<Item = &'a str> + Clone + use<'a> {
        let mut rest = Piece { bytes: words, at: 0 };
        core::iter::from_fn(move || {
            if rest.bytes.is_empty() {
                return None;
            }
            let (word, behind) = self.split(rest).ok()?;
            rest = behind;
            core::str::from_utf8(word.bytes).ok()
        })
    }
}

/// Lower-case letters, digits, `.`, `_` and `-`.
const fn is_word_byte(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-')
}

/// Which standard objects travel by reference and which inline.
#[derive(Clone, Copy, Debug)]
pub struct Slots {
    /// The standard objects in order: the number of each and its bit.
    pub order: &'static [(u64, u64)],
    /// The entries that hold inline objects, and their field that says which object one is.
    pub inline: (&'static Entries, Place),
    /// Bytes of a reference, and its field that says which object one is.
    pub references: (u32, Place),
    /// The metadata field whose bits say which objects are referenced.
    pub mask: Place,
    /// The metadata field that says how objects travel, and its values for reference and mixed.
    pub mode: Option<(Place, u64, u64)>,
}

impl Slots {
    /// The place of an object among all, and its bit if it is a standard one.
    #[inline(always)]
    fn rank(&self, kind: u64) -> (u64, Option<u64>) {
        match self.order.iter().position(|(standard, _)| *standard == kind) {
            Some(position) => (position as u64, self.order.get(position).map(|(_, bit)| *bit)),
            None => ((self.order.len() as u64).saturating_add(kind), None),
        }
    }

    /// Whether an object may follow one of rank `before`.
    #[inline(always)]
    fn follows(before: Option<u64>, rank: u64, standard: bool) -> bool {
        before.is_none_or(|before| if standard { rank > before } else { rank >= before })
    }

    /// Checks objects and references against the metadata.
    #[inline(always)]
    pub fn check(
        &'static self,
        metadata: Piece<'_>,
        inline: Piece<'_>,
        references: Piece<'_>,
    ) -> Result<(), Fault> {
        let mask = self.mask.read(metadata.bytes);
        let mode = self.mode.as_ref().map(|(field, _, _)| field.read(metadata.bytes));
        let by_reference = self.mode.as_ref().is_some_and(|(_, reference, _)| mode == Some(*reference));
        let mut before = None;
        let mut standard_inline = false;
        let (entries, key) = (self.inline.0, &self.inline.1);
        for entry in entries.iter(inline) {
            let (rank, bit) = self.rank(key.read(entry.header.bytes));
            let referenced = bit.is_some_and(|bit| mask & bit != 0 || by_reference);
            if !Self::follows(before, rank, bit.is_some()) || referenced {
                return Err(key.blame(entry.header.at, FaultKind::Rule));
            }
            standard_inline |= bit.is_some();
            before = Some(rank);
        }
        let mut before = None;
        let mut found = 0;
        let (size, key) = (self.references.0.max(1) as usize, &self.references.1);
        for (at, row) in references.bytes.chunks_exact(size).enumerate() {
            let (rank, bit) = self.rank(key.read(row));
            let unasked = bit.is_some_and(|bit| mask & bit == 0);
            if !Self::follows(before, rank, bit.is_some()) || unasked {
                return Err(key.blame(references.at + at * size, FaultKind::Rule));
            }
            found |= bit.unwrap_or(0);
            before = Some(rank);
        }
        let standard = self.order.iter().fold(0, |bits, (_, bit)| bits | bit);
        if mask & standard != found {
            return Err(self.mask.blame(metadata.at, FaultKind::Rule));
        }
        match &self.mode {
            Some((field, _, mixed)) if mode == Some(*mixed) && !standard_inline => {
                Err(field.blame(metadata.at, FaultKind::Rule))
            }
            _ => Ok(()),
        }
    }
}

/// How neighbours compare by some fields, the first deciding first.
fn compare(by: &[Place], before: &[u8], row: &[u8]) -> core::cmp::Ordering {
    let unequal =
        |place: &Place| Some(place.read(before).cmp(&place.read(row))).filter(|order| order.is_ne());
    by.iter().find_map(unequal).unwrap_or(core::cmp::Ordering::Equal)
}

/// Checks that rows or headers ascend by some fields.
pub fn sorted<'a>(
    rows: impl Iterator<Item = Piece<'a>>,
    by: &'static [Place],
    strict: bool,
) -> Result<(), Fault> {
    let mut before: Option<Piece<'a>> = None;
    for row in rows {
        if let (Some(before), Some(first)) = (before, by.first()) {
            let order = compare(by, before.bytes, row.bytes);
            if order.is_gt() || (strict && order.is_eq()) {
                return Err(first.blame(row.at, FaultKind::Rule));
            }
        }
        before = Some(row);
    }
    Ok(())
}

/// The rows of a part.
pub fn rows(part: Piece<'_>, size: u32) -> impl Iterator<Item = Piece<'_>> {
    let size = size.max(1) as usize;
    part.bytes.chunks_exact(size).enumerate().map(move |(at, bytes)| Piece { bytes, at: part.at + at * size })
}

/// The first inline object of a kind.
#[inline]
pub fn object<'a>(entries: &'static Entries, block: Piece<'a>, key: &Place, kind: u64) -> Option<Entry<'a>> {
    if block.bytes.is_empty() {
        return None;
    }
    entries.iter(block).find(|entry| key.read(entry.header.bytes) == kind)
}

/// Tensor sections and tile indexes, which tables cannot describe.
#[derive(Clone, Copy, Debug)]
pub struct Tensor {
    /// How to blame an object as a whole.
    pub object: Site,
    /// The inline object's field that gives its bytes.
    pub bytes: Place,
    /// How to blame a section as a whole.
    pub section: Site,
    /// What every section starts with.
    pub descriptor: Shape,
    /// The descriptor's `role_id`.
    pub role: Place,
    /// The descriptor's `section_flags`, and the bit for a fixed stride.
    pub fixed_stride: (Place, u64),
    /// The descriptor's `codec_table_bytes`.
    pub codec_table: Place,
    /// The descriptor's `length_table_bytes`.
    pub length_table: Place,
    /// The descriptor's `payload_bytes`.
    pub payload: Place,
    /// The descriptor's `payload_stride_bytes`.
    pub stride: Place,
    /// Whether lengths and tile ids have their most significant byte first.
    pub big: bool,
}

/// A section of a tensor.
#[derive(Clone, Copy, Debug)]
pub struct Section<'a> {
    /// Its descriptor.
    pub descriptor: Piece<'a>,
    /// The codec of each tile; empty where all have the same.
    pub codec_table: &'a [u8],
    /// The length of each tile, four bytes each; empty with a fixed stride.
    pub length_table: &'a [u8],
    /// The tiles.
    pub payload: &'a [u8],
}

impl Tensor {
    /// The sum of a table of lengths.
    #[inline(always)]
    fn sum(&self, lengths: &[u8]) -> u64 {
        let (lengths, _) = lengths.as_chunks::<4>();
        // Each way is one loop without a choice in it.
        if self.big {
            lengths.iter().map(|length| u64::from(u32::from_be_bytes(*length))).sum()
        } else {
            lengths.iter().map(|length| u64::from(u32::from_le_bytes(*length))).sum()
        }
    }

    /// The descriptor of the section behind the one that ends at `at`.
    #[inline(always)]
    fn descriptor<'a>(&'static self, table: Piece<'a>, at: usize) -> Result<Piece<'a>, Fault> {
        let start = at.next_multiple_of(8);
        let padding = table.sub(at, start - at);
        if let Some(byte) = padding.bytes.iter().position(|byte| *byte != 0) {
            return Err(fault(&self.section, padding.at + byte, FaultKind::Reserved));
        }
        need(padding.bytes.len() == start - at, &self.section, table.end(), FaultKind::TooShort)?;
        let descriptor = table.sub(start, self.descriptor.size as usize);
        self.descriptor.one(descriptor)?;
        Ok(descriptor)
    }

    /// What is behind a descriptor, and where in the table it ends.
    #[inline(always)]
    fn section<'a>(
        &'static self,
        table: Piece<'a>,
        descriptor: Piece<'a>,
    ) -> Result<(Section<'a>, usize), Fault> {
        let mut cut = Cut::new(table.sub(descriptor.end() - table.at, usize::MAX));
        let mut take = |field: &'static Place| {
            cut.take(field.read(descriptor.bytes), &field.site, descriptor.at + field.offset as usize)
        };
        let codec_table = take(&self.codec_table)?.bytes;
        let length_table = take(&self.length_table)?.bytes;
        let payload = take(&self.payload)?;
        let end = payload.end() - table.at;
        Ok((Section { descriptor, codec_table, length_table, payload: payload.bytes }, end))
    }

    /// Checks the sections of a table.
    #[inline(always)]
    pub fn sections(&'static self, table: Piece<'_>, count: u64, tiles: u64) -> Result<(), Fault> {
        let mut at = 0_usize;
        let mut before = None;
        for _ in 0..count {
            let descriptor = self.descriptor(table, at)?;
            self.shape(descriptor, &mut before, tiles)?;
            let (section, end) = self.section(table, descriptor)?;
            let (fixed, bit) = &self.fixed_stride;
            let expected = if fixed.read(descriptor.bytes) & bit != 0 {
                self.stride.read(descriptor.bytes).checked_mul(tiles)
            } else {
                Some(self.sum(section.length_table))
            };
            if expected != Some(section.payload.len() as u64) {
                return Err(self.payload.blame(descriptor.at, FaultKind::Length));
            }
            at = end;
        }
        need(at == table.bytes.len(), &self.object, table.at + at, FaultKind::Length)
    }

    /// What a descriptor says of its tables.
    #[inline(always)]
    fn shape(
        &'static self,
        descriptor: Piece<'_>,
        before: &mut Option<u64>,
        tiles: u64,
    ) -> Result<(), Fault> {
        let role = self.role.read(descriptor.bytes);
        if before.is_some_and(|before| role <= before) {
            return Err(self.role.blame(descriptor.at, FaultKind::Rule));
        }
        *before = Some(role);
        let codecs = self.codec_table.read(descriptor.bytes);
        if codecs != 0 && codecs != tiles {
            return Err(self.codec_table.blame(descriptor.at, FaultKind::Length));
        }
        let (fixed, bit) = &self.fixed_stride;
        let lengths = if fixed.read(descriptor.bytes) & bit != 0 { 0 } else { tiles.saturating_mul(4) };
        if self.length_table.read(descriptor.bytes) != lengths {
            return Err(self.length_table.blame(descriptor.at, FaultKind::Length));
        }
        Ok(())
    }

    /// The sections of a checked table.
    pub fn iter<'a>(&'static self, table: &'a [u8]) -> impl Iterator<Item = Section<'a>> + Clone + use<'a> {
        let table = Piece { bytes: table, at: 0 };
        let mut at = 0_usize;
        core::iter::from_fn(move || {
            if at >= table.bytes.len() {
                return None;
            }
            let (section, end) = self.section(table, self.descriptor(table, at).ok()?).ok()?;
            at = end;
            Some(section)
        })
    }

    /// Checks a tile index; `modes` is how many bytes it has: none, two a tile, steps, or bits.
    #[inline(always)]
    pub fn tiles(&'static self, index: Entry<'_>, mode: TileMode, tiles: u64) -> Result<(), Fault> {
        let bytes = index.payload.bytes;
        let fits = match mode {
            TileMode::Dense => bytes.is_empty(),
            TileMode::Raw | TileMode::Delta => bytes.len() as u64 == tiles.saturating_mul(2),
            TileMode::Bits => bytes.is_empty() == (tiles == 0),
        };
        if !fits {
            return Err(self.bytes.blame(index.header.at, FaultKind::Length));
        }
        match mode {
            TileMode::Dense | TileMode::Raw => Ok(()),
            TileMode::Delta => {
                let mut sum = 0;
                for (step, id) in bytes.chunks_exact(2).enumerate() {
                    sum += number(id, self.big);
                    need(sum <= 0xffff, &self.object, index.payload.at + 2 * step, FaultKind::Rule)?;
                }
                Ok(())
            }
            TileMode::Bits => {
                let set = bytes.iter().fold(0, |set, byte| set + u64::from(byte.count_ones()));
                need(set == tiles, &self.object, index.payload.at, FaultKind::Rule)?;
                let last = index.payload.end() - usize::from(!bytes.is_empty());
                need(bytes.last() != Some(&0), &self.object, last, FaultKind::Rule)
            }
        }
    }

    /// The ids of the tiles of a checked index.
    pub fn tile_ids<'a>(&self, index: &'a [u8], mode: TileMode, base: u32, tiles: u16) -> TileIds<'a> {
        TileIds { index, mode, big: self.big, base: u64::from(base), at: 0, sum: 0, left: tiles }
    }
}

/// How a tile index names tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileMode {
    /// One after the other from the base.
    Dense,
    /// Two bytes a tile.
    Raw,
    /// Two bytes for the first, then steps.
    Delta,
    /// A bit for each tile from the base that is there.
    Bits,
}

/// The ids of tiles, one by one.
#[derive(Clone, Debug)]
pub struct TileIds<'a> {
    index: &'a [u8],
    mode: TileMode,
    big: bool,
    base: u64,
    at: usize,
    sum: u64,
    left: u16,
}

impl Iterator for TileIds<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        let at = self.at;
        self.at += 1;
        if self.mode == TileMode::Dense {
            return Some(self.base + at as u64);
        }
        if self.mode == TileMode::Bits {
            let bit = (at..self.index.len().saturating_mul(8))
                .find(|bit| self.index.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 != 0))?;
            self.at = bit + 1;
            return Some(self.base + bit as u64);
        }
        let bytes: [u8; 2] = *self.index.get(2 * at..)?.first_chunk()?;
        let id = u64::from(if self.big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) });
        self.sum = if self.mode == TileMode::Raw { id } else { self.sum + id };
        Some(self.sum)
    }
}
