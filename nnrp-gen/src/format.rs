#![doc = include_str!("format.md")]
