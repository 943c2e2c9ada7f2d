//! Codecs of other protocols, each standing alone.

macro_rules! standalone {
    ($($name:ident)*) => {$(
        #[doc = concat!("The codecs of `registries/", stringify!($name), "`.")]
        // Not every value of `kinds` has a doc.
        // One emitter for all widths: for some, a cast or a step of 1 does nothing.
        #[allow(clippy::all)]
        #[allow(missing_docs)]
        pub mod $name {
            include!(concat!(env!("OUT_DIR"), "/", stringify!($name), ".rs"));
        }
    )*};
}

standalone!(gpt kinds pcap tzif);
