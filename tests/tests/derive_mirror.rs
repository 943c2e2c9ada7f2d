//! Structs that mirror the layouts of the registry do what the generated ones do: the same bytes, the same acceptance,
//! the same faults.
//!
//! `NNRP_LONG=1` runs a hundred times as many cases.

use nnrp_core::wire::Fault;
use nnrp_tests::generated::nnrp::LAYOUTS;
use nnrp_tests::random::{Random, good};
use nnrp_tests::registry;

/// A derived layout.
struct Mirror {
    name: &'static str,
    size: usize,
    /// Decodes bytes through every way in, and encodes the result through every way out.
    round: fn(&[u8]) -> Result<Vec<u8>, Fault>,
}

macro_rules! mirror {
    ($layout:ident) => {
        Mirror {
            name: $layout::NAME,
            size: $layout::SIZE,
            round: |bytes| {
                let decoded = $layout::decode(bytes);
                let viewed = <$layout as Layout>::view(bytes).map(|view| view.to_owned());
                assert_eq!(format!("{decoded:?}"), format!("{viewed:?}"));
                let mut copy = bytes.to_vec();
                let changed = $layout::view_mut(&mut copy).map(|view| view.as_view().to_owned());
                assert_eq!(format!("{decoded:?}"), format!("{changed:?}"));
                let native = decoded?;
                assert_eq!(native.validate(), Ok(()));
                let bytes = native.to_bytes()?.to_vec();
                let mut into = vec![0xaa; $layout::SIZE];
                native.encode_into(&mut into)?;
                assert_eq!(into, bytes);
                Ok(bytes)
            },
        }
    };
}

#[allow(missing_docs)]
mod mirrors {
    use nnrp_core::{Layout, Reserved, WireEnum};

    use super::Mirror;

    include!(concat!(env!("OUT_DIR"), "/mirrors.rs"));
}

/// Where a fault is, what it is and what it says. The error codes of a protocol are its own.
type Told = (String, usize, String, Option<String>);

fn told(fault: Fault) -> Told {
    let kind = fault.kind().name().to_owned();
    (fault.to_string(), fault.offset(), kind, fault.rule().map(str::to_owned))
}

#[allow(clippy::boxed_local)] // as it comes
fn retold(fault: Box<nnrp_tests::generated::Fault>) -> Told {
    (fault.sentence, fault.offset, fault.kind, fault.rule)
}

#[test]
fn mirrors_do_the_same() {
    let long = std::env::var_os("NNRP_LONG").is_some();
    let times = if long { 20_000 } else { 200 };
    let registry = registry::nnrp();
    let (mut accepted, mut refused) = (0, 0);
    for ((layout, generated), mirror) in registry.layouts.iter().zip(LAYOUTS).zip(mirrors::MIRRORS) {
        assert_eq!((generated.name, generated.size), (mirror.name, mirror.size));
        let mut random = Random::new(5, mirror.name);
        let mut agree = |bytes: &[u8]| {
            let generated = (generated.round)(bytes).map(|round| round.bytes).map_err(retold);
            let mirrored = (mirror.round)(bytes).map_err(told);
            assert_eq!(generated, mirrored, "{} of {bytes:02x?}", mirror.name);
            *if generated.is_ok() { &mut accepted } else { &mut refused } += 1;
        };
        for length in [0, 1, mirror.size - 1, mirror.size + 1, mirror.size * 2] {
            agree(&random.bytes(length));
        }
        for _ in 0..times {
            agree(&random.bytes(mirror.size));
            let Some(mut bytes) = good(&registry, layout, &mut random) else { continue };
            agree(&bytes);
            for _ in 0..4 {
                let at = random.below(bytes.len());
                bytes[at] = match random.below(3) {
                    0 => bytes[at] ^ 1 << random.below(8),
                    1 => 0,
                    _ => random.number() as u8,
                };
                agree(&bytes);
            }
        }
    }
    eprintln!("{} layouts, {accepted} accepted, {refused} refused", registry.layouts.len());
    assert!(accepted.min(refused) > times * registry.layouts.len());
}
