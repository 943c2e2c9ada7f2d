//! No name of the user's can break a derive, wherever it stands.
#![allow(dead_code, non_camel_case_types, non_snake_case, unused_imports, unused_macros)]

use nnrp_core::{Layout, WireEnum};

bitflags::bitflags! {
    /// Flags.
    #[derive(Clone, Copy)]
    pub struct Flags: u8 {
        /// On.
        const ON = 1;
    }
}

/// A module in which nothing means what it usually means.
mod shadowed {
    pub struct Option;
    pub struct Some;
    pub struct None;
    pub struct Result;
    pub struct Ok;
    pub struct Err;
    pub struct usize;
    pub struct u16;
    pub struct u64;
    pub struct str;
    pub struct Clone;
    pub struct Copy;
    pub struct Debug;
    pub struct Default;
    pub struct PartialEq;
    pub struct From;
    pub struct TryFrom;
    pub struct Fault;
    pub struct Site;
    pub struct Packed;
    pub struct Reserved;
    pub struct FnOnce;
    pub mod core {}
    pub mod std {}
    pub mod wire {}
    pub mod bitflags {}
    pub mod primitive {}

    macro_rules! assert {
        ($($any:tt)*) => {
            compile_error!("not this one")
        };
    }
    pub(crate) use assert;
    pub(crate) use assert as panic;
    pub(crate) use assert as write;
    pub(crate) use assert as matches;
    pub(crate) use assert as format_args;
    pub(crate) use assert as compile_error;

    /// A trait with methods that the expansion might call by accident.
    pub trait Everything {
        fn to_le_bytes(&self) {}
        fn raw(&self) {}
        fn bits(&self) {}
        fn number(&self) {}
        fn pack(&self) {}
        fn holds(&self) {}
        fn validate(&self) {}
        fn map(&self) {}
        #[allow(clippy::wrong_self_convention)] // a name that would get in the way
        fn into_iter(&self) {}
        fn from(&self) {}
        fn try_from(&self) {}
        fn fmt(&self) {}
        fn find_fault(&self) {}
        fn accepts(&self) {}
        fn checked(&self) {}
        fn name(&self) {}
        fn len(&self) {}
    }

    impl<T> Everything for T {}

    #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::nnrp_core::WireEnum)]
    #[repr(u8)]
    pub enum Kind {
        None,
        Some,
        Ok,
        Default,
        #[wire(range = 0x80..)]
        Other(u8),
    }

    #[derive(::nnrp_core::Layout)]
    pub struct Inner {
        pub value: u32,
    }

    #[derive(::nnrp_core::Layout)]
    #[layout(rule(id = "R1", when = "kind == ok", require = "u32 != 0 && flags.on && value + bytes != 9"))]
    #[layout(rule(id = "R2", require = "big == u32 || large < u32"))]
    pub struct Chunk {
        #[layout(enum = u8)]
        pub kind: Kind,
        #[layout(bitmask = u8)]
        pub flags: super::Flags,
        pub value: i8,
        #[layout(bool)]
        pub core: u8,
        pub u32: u32,
        #[layout(layout = 4)]
        pub inner: [Inner; 2],
        pub self_: [u32; 2],
        pub r#type: i32,
        pub new: u8,
        pub to_owned: u8,
        pub as_bytes: u8,
        pub bytes: u8,
        pub big: i64,
        pub large: u32,
        #[layout(const = 7)]
        pub Some: u8,
        #[layout(reserved)]
        pub out: [i8; 3],
        pub gain: f64,
        pub on: bool,
        pub place: ::nnrp_core::Reserved<7>,
    }

    impl Chunk {
        // Functions of the user's own with the names of ours that are hidden.
        pub fn pack(&self) {}
        pub fn unpack(&self) {}
        pub fn holds(&self) {}
        pub fn fault(&self) {}
        pub fn find_fault(&self) {}
        pub fn bytes_hold(&self) {}
        pub fn rule_r1(&self) {}
        pub const SITE: u8 = 1;
    }
}

#[test]
fn nothing_means_what_it_usually_means() {
    let bytes = {
        let mut bytes = [0; shadowed::Chunk::SIZE];
        bytes[0] = 3;
        bytes[shadowed::Chunk::SOME_OFFSET] = 7;
        bytes
    };
    let chunk = shadowed::Chunk::decode(&bytes).unwrap();
    assert_eq!(chunk.to_bytes(), Ok(bytes));
    let view = shadowed::Chunk::view(&bytes).unwrap();
    assert_eq!((view.new_(), view.to_owned_(), view.as_bytes_(), view.r#type()), (0, 0, 0, 0));
    assert!(format!("{view:?}").contains("kind: Default"));
    assert_eq!(shadowed::Chunk::view(&[0; 3]).unwrap_err().kind().name(), "too_short");
}

/// Structs whose own names are those of the prelude.
mod named {
    use nnrp_core::{Layout, WireEnum};

    #[derive(Clone, Copy, Debug, WireEnum)]
    #[repr(u16)]
    pub enum Result {
        Ok = 1,
        Err,
    }

    #[derive(Layout)]
    #[layout(rule(id = "R1", require = "result == err || value != 0"))]
    pub struct Option {
        #[layout(enum = u16)]
        pub result: self::Result,
        pub value: u16,
        #[layout(layout = 4)]
        pub inner: super::named::inner::Option,
    }

    pub mod inner {
        #[derive(nnrp_core::Layout)]
        pub struct Option {
            pub(super) value: u32,
        }
    }

    #[derive(Layout)]
    pub struct r#struct {
        pub r#fn: u8,
    }
}

#[test]
fn structs_of_the_same_name_as_ours() {
    assert_eq!(named::Option::decode(&[2, 0, 0, 0, 0, 0, 0, 0]).unwrap().value, 0);
    assert_eq!(named::Option::decode(&[1, 0, 0, 0, 0, 0, 0, 0]).err().unwrap().rule(), Some("R1"));
    assert_eq!(<named::r#struct as Layout>::NAME, "struct");
    assert_eq!(named::r#struct { r#fn: 1 }.to_bytes(), Ok([1]));
}

/// A module without a prelude.
#[no_implicit_prelude]
mod bare {
    #[derive(::nnrp_core::Layout)]
    #[layout(rule(id = "R1", require = "a + b < 300 || kind == few"))]
    pub struct Chunk {
        pub a: u16,
        pub b: u8,
        #[layout(enum = u8)]
        pub kind: Kind,
        pub list: [f32; 2],
    }

    #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::nnrp_core::WireEnum)]
    #[repr(u8)]
    pub enum Kind {
        Few,
        Many,
    }
}

#[test]
fn without_a_prelude() {
    assert!(bare::Chunk::decode(&[0; 12]).is_ok());
    assert_eq!(bare::Kind::from_raw(1).unwrap().raw(), 1);
}

#[test]
fn inside_a_function() {
    #[derive(Clone, Copy, Debug, PartialEq, WireEnum)]
    #[repr(u8)]
    enum Kind {
        Few,
    }

    #[derive(Layout)]
    struct Chunk {
        #[layout(enum = u32)]
        kind: Kind,
    }
    assert_eq!(Chunk::decode(&[0; 4]).unwrap().kind, Kind::Few);
}

macro_rules! chunk {
    ($vis:vis $name:ident { $($field:ident: $ty:ty,)* }) => {
        #[derive(Layout)]
        $vis struct $name { first: u8, $($field: $ty,)* }
    };
}

chunk!(pub(crate) FromMacro { second: u16, third: [u32; 2], });

#[test]
fn from_a_macro() {
    assert_eq!(FromMacro::THIRD_OFFSET, 3);
    assert_eq!(FromMacro::view(&[1; 11]).unwrap().second(), 0x101);
}
