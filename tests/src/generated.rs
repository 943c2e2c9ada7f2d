//! All generated layouts behind one signature.

use nnrp_core::wire::Fault;
use nnrp_gen::codec::Value;

/// A generated layout.
pub struct Generated {
    /// Its name in the registry.
    pub name: &'static str,
    /// Its bytes.
    pub size: usize,
    /// Decodes bytes, through every way in, and encodes the result, through every way out.
    pub round: fn(&[u8]) -> Result<Round, Fault>,
}

/// What came of decoding and encoding.
#[derive(Debug)]
pub struct Round {
    /// The values.
    pub value: Value,
    /// The bytes that they became again.
    pub bytes: Vec<u8>,
}

macro_rules! generated {
    ($layout:ident, $value:ident) => {
        Generated {
            name: nnrp_core::$layout::NAME,
            size: nnrp_core::$layout::SIZE,
            round: |bytes| {
                let decoded = nnrp_core::$layout::decode(bytes);
                let viewed = nnrp_core::$layout::view(bytes).map(|view| view.to_owned());
                assert_eq!(decoded.is_ok(), viewed.is_ok());
                assert_eq!(decoded.as_ref().err(), viewed.as_ref().err());
                let mut copy = bytes.to_vec();
                let changed = nnrp_core::$layout::view_mut(&mut copy).map(|view| view.as_view().to_owned());
                assert_eq!(decoded.as_ref().err(), changed.as_ref().err());
                let native = decoded?;
                assert_eq!(native.validate(), Ok(()));
                let value = $value(&native);
                for other in [viewed?, changed?] {
                    assert_eq!($value(&other), value);
                }
                let bytes = native.to_bytes()?.to_vec();
                let mut into = vec![0xaa; nnrp_core::$layout::SIZE];
                native.encode_into(&mut into)?;
                assert_eq!(into, bytes);
                Ok(Round { value, bytes })
            },
        }
    };
}

fn open(name: Option<&str>, number: u64) -> Value {
    name.map_or(Value::Unsigned(number), |name| Value::Text(name.to_owned()))
}

fn bits(number: u64, names: &[(&str, u64)]) -> Value {
    let set = names.iter().filter(|(_, mask)| number & mask != 0);
    let known = names.iter().fold(0, |known, (_, mask)| known | mask);
    Value::Bits { names: set.map(|(name, _)| (*name).to_owned()).collect(), unknown: number & !known }
}

include!(concat!(env!("OUT_DIR"), "/layouts.rs"));
