//! The Rust side: every layout of a registry behind one list of functions.

/// What a codec says of some bytes or values, in a form that all languages share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The name of the kind of fault; empty for good.
    pub kind: String,
    /// The layout at fault.
    pub layout: String,
    /// The field to blame.
    pub field: String,
    /// The id of the broken rule.
    pub rule: String,
    /// Where.
    pub offset: u32,
    /// The error code, where it is not the usual one.
    pub code: u32,
    /// The whole as a sentence.
    pub sentence: String,
    /// What was decoded.
    pub values: Vec<u64>,
    /// What was encoded.
    pub bytes: Vec<u8>,
}

/// A layout.
pub struct Case {
    /// Decodes, and encodes again what came of it.
    pub decode: fn(&[u8]) -> Answer,
    /// Encodes values into so many bytes; nothing where Rust cannot hold the values.
    pub encode: fn(&[u64], usize) -> Option<Answer>,
    /// Decodes each of the inputs, for the clock.
    #[allow(dead_code)] // Tests have no clock.
    pub decode_all: fn(&[Vec<u8>]),
    /// Decodes the inputs and gives a function that encodes them all, for the clock.
    #[allow(dead_code)]
    pub encoder: fn(&[Vec<u8>]) -> Encoder,
}

/// Encodes what it holds.
pub type Encoder = Box<dyn Fn()>;

/// Something that is one or several numbers.
pub trait Values: Sized {
    fn write(&self, out: &mut Vec<u64>);
    fn read(from: &mut dyn Iterator<Item = u64>) -> Option<Self>;
}

macro_rules! integers {
    ($($ty:ident)*) => { $(
        impl Values for $ty {
            fn write(&self, out: &mut Vec<u64>) {
                out.push(*self as u64);
            }

            fn read(from: &mut dyn Iterator<Item = u64>) -> Option<Self> {
                Some(from.next()? as $ty)
            }
        }
    )* };
}

integers! { u8 u16 u32 u64 i8 i16 i32 i64 }

impl Values for bool {
    fn write(&self, out: &mut Vec<u64>) {
        out.push(u64::from(*self));
    }

    fn read(from: &mut dyn Iterator<Item = u64>) -> Option<Self> {
        Some(from.next()? != 0)
    }
}

impl Values for f32 {
    fn write(&self, out: &mut Vec<u64>) {
        out.push(u64::from(self.to_bits()));
    }

    fn read(from: &mut dyn Iterator<Item = u64>) -> Option<Self> {
        Some(f32::from_bits(from.next()? as u32))
    }
}

impl Values for f64 {
    fn write(&self, out: &mut Vec<u64>) {
        out.push(self.to_bits());
    }

    fn read(from: &mut dyn Iterator<Item = u64>) -> Option<Self> {
        Some(f64::from_bits(from.next()?))
    }
}

impl<T: Values, const N: usize> Values for [T; N] {
    fn write(&self, out: &mut Vec<u64>) {
        self.iter().for_each(|value| value.write(out));
    }

    fn read(from: &mut dyn Iterator<Item = u64>) -> Option<Self> {
        let list: Option<Vec<T>> = (0..N).map(|_| T::read(from)).collect();
        list?.try_into().ok()
    }
}

/// Implements [`Values`] and lists the layouts in registry order.
macro_rules! types {
    (
        enums { $($enum:ident: $enum_raw:ident,)* }
        bitmasks { $($mask:ident: $mask_raw:ident,)* }
        layouts { $($layout:ident { $($member:ident,)* })* }
    ) => {
        $(impl Values for $enum {
            fn write(&self, out: &mut Vec<u64>) {
                out.push(u64::from(self.raw()));
            }

            fn read(from: &mut dyn Iterator<Item = u64>) -> Option<Self> {
                $enum::from_raw(from.next()? as $enum_raw)
            }
        })*

        $(impl Values for $mask {
            fn write(&self, out: &mut Vec<u64>) {
                out.push(u64::from(self.bits()));
            }

            fn read(from: &mut dyn Iterator<Item = u64>) -> Option<Self> {
                Some($mask::from_bits_retain(from.next()? as $mask_raw))
            }
        })*

        $(#[allow(unused_variables)]
        impl Values for $layout {
            fn write(&self, out: &mut Vec<u64>) {
                $(self.$member.write(out);)*
            }

            fn read(from: &mut dyn Iterator<Item = u64>) -> Option<Self> {
                Some(Self { $($member: Values::read(from)?,)* })
            }
        })*

        fn refused(fault: wire::Fault) -> Answer {
            Answer {
                kind: fault.kind().name().to_owned(),
                layout: fault.layout().to_owned(),
                field: fault.field().to_owned(),
                rule: fault.rule().unwrap_or_default().to_owned(),
                offset: fault.offset() as u32,
                code: fault.code().unwrap_or_default(),
                sentence: fault.to_string(),
                ..Answer::default()
            }
        }

        pub const CASES: &[Case] = &[$(Case {
            decode: |bytes| {
                let decoded = match $layout::decode(bytes) {
                    Ok(decoded) => decoded,
                    Err(fault) => return refused(fault),
                };
                let mut answer = Answer::default();
                decoded.write(&mut answer.values);
                match decoded.to_bytes() {
                    Ok(bytes) => answer.bytes = bytes.to_vec(),
                    Err(fault) => return refused(fault),
                }
                answer
            },
            encode: |values, len| {
                let value = $layout::read(&mut values.iter().copied())?;
                let mut bytes = vec![0; len];
                Some(match value.encode_into(&mut bytes) {
                    Ok(()) => Answer { bytes, ..Answer::default() },
                    Err(fault) => refused(fault),
                })
            },
            decode_all: |inputs| {
                for input in inputs {
                    let decoded = $layout::decode(std::hint::black_box(input));
                    let _ = std::hint::black_box(&decoded);
                }
            },
            encoder: |inputs| {
                let values: Vec<$layout> = inputs.iter().filter_map(|input| $layout::decode(input).ok()).collect();
                Box::new(move || {
                    let mut bytes = [0; $layout::SIZE];
                    for value in &values {
                        let encoded = std::hint::black_box(value).encode_into(&mut bytes);
                        let _ = std::hint::black_box((&encoded, &bytes));
                    }
                })
            },
        }),*];
    };
}

/// The registry of the protocol.
pub mod nnrp {
    use super::{Answer, Case, Values};
    use nnrp_core::*;

    include!(concat!(env!("OUT_DIR"), "/nnrp_types.rs"));
}

/// The registry of the tests.
#[allow(dead_code, missing_docs)]
pub mod zoo {
    use super::{Answer, Case, Values};

    include!(concat!(env!("OUT_DIR"), "/zoo.rs"));
    include!(concat!(env!("OUT_DIR"), "/zoo_types.rs"));
}
