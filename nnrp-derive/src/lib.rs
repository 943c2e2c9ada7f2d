//! To be generated.
#![forbid(unsafe_code)]
