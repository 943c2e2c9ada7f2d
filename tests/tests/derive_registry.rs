//! `registry!` expands a registry in place.
#![allow(clippy::all)]

use nnrp_core::wire::FaultKind;

/// A file format that is not NNRP.
pub mod pcap {
    #![deny(missing_docs)]
    /// Nobody minds.
    pub struct Option;
    /// Nobody minds.
    pub mod core {}

    nnrp_core::registry!("registries/pcap");
}

/// Every kind of field, and nothing is documented.
pub mod kinds {
    #![deny(missing_docs)]

    nnrp_core::registry!("registries/kinds");
}

/// All of NNRP once more, with messages and bodies.
pub mod again {
    #![deny(missing_docs)]

    nnrp_core::registry!("../registry", crate = "nnrp_core",);
}

#[test]
fn a_whole_protocol_again() {
    let open = again::SessionOpen::default();
    let own = nnrp_core::SessionOpen::default();
    assert_eq!(open.to_bytes(), own.to_bytes());
    assert_eq!(again::Packet::parse(&[]).unwrap_err().kind(), FaultKind::TooShort);
}
