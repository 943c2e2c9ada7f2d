//! What crosses crates is tested in `tests/`.
#![forbid(unsafe_code)]
