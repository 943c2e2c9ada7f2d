//! Valid encodings of a layout, made from the table of its fields.

use nnrp_core::wire::{Field, Test};

/// Numbers that look random and are the same in every run (xorshift64*).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() >> 33) as usize % end.max(1)
    }
}

/// Different encodings that `accepts`, found by a walk that changes one field after the other.
pub fn valid(
    size: usize,
    fields: &'static [Field],
    count: usize,
    accepts: &dyn Fn(&[u8]) -> bool,
) -> Option<Vec<Vec<u8>>> {
    let mut random = Random::new(size as u64);
    let mut bytes = start(size, fields, accepts, &mut random)?;
    let mut found = Vec::new();
    while found.len() < count {
        for _ in 0..fields.len() * 4 {
            let field = &fields[random.below(fields.len())];
            let before = bytes.clone();
            change(&mut bytes, field, &mut random);
            if !accepts(&bytes) {
                bytes = before;
            }
        }
        found.push(bytes.clone());
    }
    Some(found)
}

/// A first one: as few fields as possible away from zero.
fn start(
    size: usize,
    fields: &'static [Field],
    accepts: &dyn Fn(&[u8]) -> bool,
    random: &mut Random,
) -> Option<Vec<u8>> {
    let mut least = vec![0; size];
    for field in fields {
        match field.test {
            Test::Constant(constant) => put(&mut least, field, constant),
            Test::ValuesLittle(spans) => put(&mut least, field, &spans[0].0.to_le_bytes()),
            _ => {}
        }
    }
    for attempt in 0..200_000 {
        let mut bytes = least.clone();
        for _ in 0..attempt.min(1) * (1 + random.below(8)) {
            let field = &fields[random.below(fields.len())];
            change(&mut bytes, field, random);
        }
        if accepts(&bytes) {
            return Some(bytes);
        }
    }
    None
}

/// Gives a field another good value.
fn change(bytes: &mut [u8], field: &Field, random: &mut Random) {
    let small = random.below(2) == 0;
    let number = if small { random.below(8) as u64 } else { random.next() >> random.below(64) };
    match field.test {
        Test::Any => put(bytes, field, &number.to_le_bytes()),
        Test::BitsLittle(known) => put(bytes, field, &(random.next() & random.next() & known).to_le_bytes()),
        Test::ValuesLittle(spans) => {
            let (from, to) = spans[random.below(spans.len())];
            let number = from + random.below((to - from) as usize + 1) as u64;
            put(bytes, field, &number.to_le_bytes());
        }
        Test::Zero | Test::Constant(_) => {}
        Test::BitsBig(_) | Test::ValuesBig(_) | Test::Layouts(..) => unreachable!("no such field so far"),
    }
}

fn put(bytes: &mut [u8], field: &Field, value: &[u8]) {
    let start = field.offset as usize;
    let place = &mut bytes[start..start + field.size as usize];
    let copied = place.len().min(value.len());
    place[..copied].copy_from_slice(&value[..copied]);
}
