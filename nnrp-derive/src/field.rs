//! A field of a struct as a field of a layout.

use nnrp_gen::source::{Span, Spanned};
use nnrp_gen::suggest::did_you_mean;
use nnrp_gen::syntax::{Element, Field, Native, Number, Scalar, Type};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::ext::IdentExt;

use crate::derive::{Derive, Foreign, doc};
use crate::keys::Keys;
use crate::ty::{Said, array, said};

/// A field that was read, and what else is known of it.
pub struct Read {
    pub field: Field,
    /// Whether the offset was written down.
    pub placed: bool,
    /// Whether an offset was written down that cannot be read.
    pub misplaced: bool,
    /// What its type is held to.
    pub held: Option<Held>,
}

/// What only the compiler can tell of a type.
pub struct Held {
    pub ty: TokenStream,
    pub name: String,
    pub kind: HeldKind,
}

/// What a type has to be.
pub enum HeldKind {
    Enum(Scalar),
    Bitmask(Scalar),
    Layout(i128),
    Reserved(u64),
}

/// Reads a field that starts at `end` if it does not say where. What cannot be read comes back as nothing, with its
/// offset and the place of its type.
pub fn read(derive: &mut Derive, field: &syn::Field, end: i128) -> Result<Read, (Option<Number>, Span)> {
    let cx = &mut derive.cx;
    let doc_comment = doc(cx, &field.attrs);
    let mut keys = Keys::read(cx, &field.attrs, "layout", "field");
    let offset = keys.number(cx, "offset");
    let reserved = keys.flag(cx, "reserved");
    let constant = keys.literal(cx, "const");
    let alone = keys.stands_alone("bool") || !keys.has("bool");
    let boolean = if alone { keys.flag(cx, "bool") } else { None };
    let bool_width = if alone { None } else { keys.width(cx, "bool") };
    let enumeration = keys.width(cx, "enum");
    let bitmask = keys.width(cx, "bitmask");
    let layout = keys.number(cx, "layout");
    let unit = keys.text(cx, "unit");
    let doc = keys.text(cx, "doc").or(doc_comment);
    let since = keys.text(cx, "since");
    let deprecated = keys.text(cx, "deprecated");
    let kinds = ["enum", "bitmask", "layout"];
    let said_kind = kinds.into_iter().any(|key| keys.has(key) || keys.misspelled(key));
    let misplaced = offset.is_none() && (keys.has("offset") || keys.misspelled("offset"));
    let understood = keys.close(cx);

    let ident = field.ident.as_ref();
    let name = ident.map(|ident| ident.unraw().to_string()).unwrap_or_default();
    let name = cx.places.spanned(name, ident);
    let ty_span = cx.places.of(&field.ty);
    let failed = (offset.clone(), ty_span);

    let (ty, count) = array(derive, &name.value, &field.ty).ok_or_else(|| failed.clone())?;
    let said = said(derive, &name.value, ty).ok_or_else(|| failed.clone())?;
    let mut read = Field {
        offset: offset.clone().unwrap_or_else(|| Number::new(end, name.span)),
        ty: Spanned::new(Type { element: Element::Scalar(Scalar::U8), count }, ty_span),
        native: Native::Meant,
        reserved,
        constant,
        enumeration: None,
        bitmask: None,
        boolean: boolean.or(bool_width.as_ref().map(|width| width.span)),
        unit,
        doc,
        since,
        deprecated,
        role: None,
        error: None,
        understood,
        span: name.span,
        name,
    };
    let mut held = None;
    match said {
        Said::Number(scalar) => {
            read.ty.value.element = Element::Scalar(scalar);
            let kinds = [
                ("enum", enumeration.map(|width| width.span)),
                ("bitmask", bitmask.map(|width| width.span)),
                ("bool", bool_width.map(|width| width.span)),
                ("layout", layout.map(|size| size.span)),
            ];
            for (key, span) in kinds {
                let Some(span) = span else { continue };
                let message = format!("`{}` is {}, which is no {key}", read.name.value, scalar.name());
                let help = match key {
                    "bool" => "write `bool` without a width, or make the field a bool",
                    _ => "say it on a field whose type it is",
                };
                derive.cx.error(span, message).help = Some(help.to_owned());
            }
            if read.reserved.is_some() || read.constant.is_some() || read.boolean.is_some() {
                read.native = Native::Number;
            }
        }
        Said::Bool => {
            let width = bool_width.map_or(Scalar::U8, |width| width.value);
            read.ty.value.element = Element::Scalar(width);
            if read.boolean.is_none() {
                read.boolean = Some(ty_span);
            }
        }
        Said::Reserved(bytes) => {
            if count.is_some() {
                derive
                    .cx
                    .error(ty_span, format!("`{}` is an array of reserved places", read.name.value))
                    .help = Some("write one place with all the bytes".to_owned());
            }
            read.ty.value.count = Some(bytes);
            read.native = Native::Place;
            read.reserved = Some(ty_span);
            let kind = HeldKind::Reserved(bytes);
            held = Some(Held { ty: ty.to_token_stream(), name: read.name.value.clone(), kind });
            let besides = [
                ("enum", enumeration.map(|width| width.span)),
                ("bitmask", bitmask.map(|width| width.span)),
                ("layout", layout.map(|size| size.span)),
            ];
            for (key, span) in besides {
                let Some(span) = span else { continue };
                let message = format!("`{}` is reserved and has a meaning, `{key}`", read.name.value);
                derive.cx.error(span, message).help =
                    Some(format!("leave `{key}` out, or write the type that it is"));
            }
        }
        Said::Other(path) => {
            let mut kinds = Vec::new();
            kinds.extend(enumeration.map(|width| (width.span, HeldKind::Enum(width.value))));
            kinds.extend(bitmask.map(|width| (width.span, HeldKind::Bitmask(width.value))));
            kinds.extend(layout.map(|size| (size.span, HeldKind::Layout(size.value))));
            let Some((_, kind)) = kinds.pop() else {
                if said_kind {
                    return Err(failed);
                }
                let written = path.to_token_stream().to_string().replace(' ', "");
                let scalars = Scalar::ALL.iter().map(|scalar| scalar.name()).chain(["bool"]);
                let help = did_you_mean(&written, scalars).unwrap_or_else(|| {
                    "say what it is: `enum = u8`, `bitmask = u8` or `layout = 16`".to_owned()
                });
                let message = format!("`{written}` does not say how wide it is on the wire");
                derive.cx.error(ty_span, message).help = Some(help);
                return Err(failed);
            };
            if let Some((span, _)) = kinds.first() {
                let message = format!("`{}` is one thing only", read.name.value);
                derive.cx.error(*span, message).help =
                    Some("leave all of `enum`, `bitmask` and `layout` out but one".to_owned());
            }
            match kind {
                HeldKind::Enum(width) => {
                    read.ty.value.element = Element::Scalar(width);
                    read.enumeration = Some(derive.foreign(path, Foreign::Enum(width)));
                }
                HeldKind::Bitmask(width) => {
                    read.ty.value.element = Element::Scalar(width);
                    read.bitmask = Some(derive.foreign(path, Foreign::Bitmask(width)));
                }
                HeldKind::Layout(size) => {
                    let name = derive.foreign(path, Foreign::Layout(size));
                    read.ty.value.element = Element::Layout(name.value);
                }
                HeldKind::Reserved(_) => {}
            }
            held = Some(Held { ty: quote!(#path), name: read.name.value.clone(), kind });
        }
    }
    Ok(Read { field: read, placed: offset.is_some(), misplaced, held })
}
