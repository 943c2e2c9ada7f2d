//! Codecs of other protocols, each standing alone.

macro_rules! standalone {
    ($($name:ident)*) => {$(
        #[doc = concat!("The codecs of `registries/", stringify!($name), "`.")]
        // Not every value of `kinds` has a doc.
        #[allow(missing_docs)]
        pub mod $name {
            include!(concat!(env!("OUT_DIR"), "/", stringify!($name), ".rs"));
        }
    )*};
}

standalone!(gpt kinds pcap tzif);
