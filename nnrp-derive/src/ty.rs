//! What a Rust type says by itself of the bytes of a field.

use nnrp_gen::syntax::Scalar;
use quote::ToTokens;

use crate::derive::Derive;

/// What a Rust type says by itself.
pub enum Said<'t> {
    Number(Scalar),
    Bool,
    Reserved(u64),
    Other(&'t syn::TypePath),
}

/// The element of an array and how many it has, or the type itself.
pub fn array<'t>(derive: &mut Derive, name: &str, ty: &'t syn::Type) -> Option<(&'t syn::Type, Option<u64>)> {
    match ty {
        syn::Type::Group(group) => array(derive, name, &group.elem),
        syn::Type::Paren(paren) => array(derive, name, &paren.elem),
        syn::Type::Array(array) => {
            let length = syn::parse2::<syn::LitInt>(array.len.to_token_stream());
            match length.and_then(|length| length.base10_parse::<u64>()) {
                Ok(length) => Some((&array.elem, Some(length))),
                Err(_) => {
                    let span = derive.cx.places.of(&array.len);
                    derive.cx.error(span, format!("the length of `{name}` is no number")).help =
                        Some("write the number out: a macro does not see what a constant is".to_owned());
                    None
                }
            }
        }
        other => Some((other, None)),
    }
}

/// What the type says; what no field can be is reported.
pub fn said<'t>(derive: &mut Derive, name: &str, ty: &'t syn::Type) -> Option<Said<'t>> {
    let written = ty.to_token_stream().to_string();
    let mut refuse = |message: String, help: &str| {
        let span = derive.cx.places.of(ty);
        derive.cx.error(span, message).help = Some(help.to_owned());
        None
    };
    let path = match ty {
        syn::Type::Group(group) => return said(derive, name, &group.elem),
        syn::Type::Paren(paren) => return said(derive, name, &paren.elem),
        syn::Type::Path(path) => path,
        syn::Type::Reference(_) | syn::Type::Ptr(_) => {
            return refuse(
                format!("`{name}` is a reference, and its value is not in the layout"),
                "write the value itself",
            );
        }
        syn::Type::Array(_) => {
            return refuse(
                format!("`{name}` is an array of arrays"),
                "write one array, or a layout for the inner one",
            );
        }
        syn::Type::Slice(_) => return refuse(varies(name, &written), VARIES),
        _ => {
            return refuse(
                format!("`{name}` is of a type that no layout can have"),
                "numbers, `bool`, enums, bitmasks, layouts and arrays can be fields",
            );
        }
    };
    let last = path.path.segments.last()?;
    let word = last.ident.to_string();
    if path.qself.is_none() && path.path.leading_colon.is_none() && path.path.segments.len() == 1 {
        if let Some(scalar) = Scalar::named(&word) {
            return Some(Said::Number(scalar));
        }
        match word.as_str() {
            "bool" => return Some(Said::Bool),
            "usize" | "isize" => {
                return refuse(
                    format!("`{name}` is {word}, whose width depends on the machine"),
                    "write the width that it has on the wire, such as `u32`",
                );
            }
            "u128" | "i128" => {
                return refuse(
                    format!("`{name}` is {word}, and numbers are of at most 64 bits"),
                    "write `[u8; 16]`, or two halves",
                );
            }
            "char" => {
                return refuse(format!("`{name}` is a char, which not every number is"), "write `u32`");
            }
            "str" => return refuse(varies(name, &written), VARIES),
            _ => {}
        }
        let bits = word.strip_prefix(['u', 'i']).and_then(|bits| bits.parse::<u32>().ok());
        if let Some(bits) = bits {
            return if bits % 8 == 0 {
                refuse(
                    format!("`{name}` is {word}, and numbers are of 8, 16, 32 or 64 bits"),
                    "write an array of bytes, or a wider number",
                )
            } else {
                refuse(
                    format!("`{name}` is {word}, and sub-byte fields are not supported"),
                    "make whole bytes a field, and give single bits names in a bitmask",
                )
            };
        }
    }
    if ["String", "Vec", "Box", "Rc", "Arc", "Cow", "Option", "VecDeque", "HashMap", "BTreeMap"]
        .contains(&word.as_str())
        && (word == "String" || !last.arguments.is_empty())
    {
        return refuse(varies(name, &written), VARIES);
    }
    if word == "Reserved" {
        let bytes = match &last.arguments {
            syn::PathArguments::AngleBracketed(list) => {
                let number = syn::parse2::<syn::LitInt>(list.args.to_token_stream());
                number.and_then(|number| number.base10_parse::<u64>()).ok()
            }
            _ => None,
        };
        return match bytes {
            Some(bytes) => Some(Said::Reserved(bytes)),
            None => refuse(
                format!("`{name}` does not say how many bytes are reserved"),
                "write the number out, such as `Reserved<4>`",
            ),
        };
    }
    Some(Said::Other(path))
}

fn varies(name: &str, written: &str) -> String {
    format!("`{name}` is {}, which has no fixed bytes", written.replace(' ', ""))
}

const VARIES: &str = "a layout is the fixed part; what varies in length goes behind it";
