//! All generated layouts behind one signature.

use nnrp_gen::codec::Value;

/// A generated layout.
pub struct Generated {
    /// Its name in the registry.
    pub name: &'static str,
    /// Its bytes.
    pub size: usize,
    /// Decodes bytes, through every way in, and encodes the result, through every way out.
    pub round: fn(&[u8]) -> Result<Round, Box<Fault>>,
}

/// What came of decoding and encoding.
#[derive(Debug)]
pub struct Round {
    /// The values.
    pub value: Value,
    /// The bytes that they became again.
    pub bytes: Vec<u8>,
}

/// What any generated `Fault` says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The layout.
    pub layout: String,
    /// The field.
    pub field: String,
    /// Where.
    pub offset: usize,
    /// Name of the kind.
    pub kind: String,
    /// The rule.
    pub rule: Option<String>,
    /// The error code.
    pub code: Option<u32>,
    /// The sentence.
    pub sentence: String,
}

macro_rules! fault {
    ($fault:expr) => {{
        let fault = $fault;
        Box::new(Fault {
            layout: fault.layout().to_owned(),
            field: fault.field().to_owned(),
            offset: fault.offset(),
            kind: fault.kind().name().to_owned(),
            rule: fault.rule().map(str::to_owned),
            code: fault.code(),
            sentence: fault.to_string(),
        })
    }};
}

macro_rules! generated {
    ($layout:ident, $value:ident) => {
        Generated {
            name: codecs::$layout::NAME,
            size: codecs::$layout::SIZE,
            round: |bytes| {
                let decoded = codecs::$layout::decode(bytes);
                let viewed = codecs::$layout::view(bytes).map(|view| view.to_owned());
                assert_eq!(decoded.as_ref().err(), viewed.as_ref().err());
                let mut copy = bytes.to_vec();
                let changed = codecs::$layout::view_mut(&mut copy).map(|view| view.as_view().to_owned());
                assert_eq!(decoded.as_ref().err(), changed.as_ref().err());
                let native = decoded.map_err(|fault| fault!(fault))?;
                let value = $value(&native);
                for other in [viewed, changed] {
                    assert_eq!(other.as_ref().map($value), Ok(value.clone()));
                }
                assert_eq!(native.validate(), Ok(()));
                let mut into = vec![0xaa; codecs::$layout::SIZE];
                assert_eq!(native.encode_into(&mut into), Ok(()));
                let bytes = native.to_bytes().map_err(|fault| fault!(fault))?.to_vec();
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
