//! `derive(Layout)`: a struct as a layout.

use nnrp_gen::names;
use nnrp_gen::source::Spanned;
use nnrp_gen::syntax::{ByteOrder, Element, Field, Layout, Native, Rule, Scalar, Type};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Fields};

use crate::derive::{Derive, Foreign, doc, snake};
use crate::field::{self, Held, HeldKind};
use crate::held;
use crate::keys::Keys;
use crate::refuse::refuse;
use crate::root::root;
use crate::stub;

/// Expands `derive(Layout)`.
pub fn expand(input: &DeriveInput) -> TokenStream {
    let mut derive = Derive::new(&input.ident);
    let visibility = &input.vis;
    derive.given.insert(nnrp_gen::emit::rust::VISIBILITY.to_owned(), quote!(#visibility).to_string());
    let cx = &mut derive.cx;
    let comment = doc(cx, &input.attrs);
    let mut keys = Keys::read(cx, &input.attrs, "layout", "layout");
    let root = keys.path(cx, "crate").unwrap_or_else(root);
    let name = keys.text(cx, "name");
    let size = keys.number(cx, "size");
    let order = keys.text(cx, "byte_order");
    let mutable = keys.flag(cx, "view_mut").is_some();
    let source = keys.text(cx, "source");
    let doc = keys.text(cx, "doc").or(comment);
    let uses = keys.paths(cx);
    let rules = keys.inner(cx, "rule", |cx, keys, span| {
        let id = keys.text(cx, "id");
        let id = keys.need(cx, span, "id", id);
        let when = keys.text(cx, "when");
        let require = keys.text(cx, "require");
        let require = keys.need(cx, span, "require", require);
        let (field, doc) = (keys.text(cx, "field"), keys.text(cx, "doc"));
        Some(Rule { id: id?, when, require: require?, field, error: None, doc, span })
    });
    keys.close(cx);
    let byte_order = order.and_then(|order| match order.as_str() {
        "little" => Some(Spanned::new(ByteOrder::Little, order.span)),
        "big" => Some(Spanned::new(ByteOrder::Big, order.span)),
        other => {
            cx.error(order.span, format!("`byte_order` cannot be `{other}`")).help =
                Some("write \"little\" or \"big\"".to_owned());
            None
        }
    });
    let title = input.ident.unraw().to_string();
    let ident = cx.places.spanned(title.clone(), &input.ident);

    let Some(written) = fields_of(&mut derive, input, &title) else {
        return stub::layout(input, &root, mutable, &refuse(&derive.cx.report, &derive.cx.places));
    };
    let (fields, complete, mut held) = fields(&mut derive, written, size.as_ref().map(|size| size.value));
    for ty in &uses {
        let name = derive.foreign(ty, Foreign::Enum(Scalar::U64)).value;
        held.push(Held { ty: quote!(#ty), name, kind: HeldKind::Enum(Scalar::U64) });
    }
    let ends = fields.iter().map(|field| {
        let one = derive.size_of(&field.ty.value.element).unwrap_or(0);
        field.offset.value.saturating_add(one.saturating_mul(field.ty.value.count.unwrap_or(1).into()))
    });
    let end = ends.max().unwrap_or(0);
    derive.registry.layouts.push(Layout {
        complete,
        name: name.unwrap_or_else(|| Spanned::new(snake(&title), ident.span)),
        size: size.unwrap_or(Spanned::new(end, ident.span)),
        byte_order,
        fields,
        rules,
        mutable,
        given: Some(title),
        source,
        doc,
        span: ident.span,
    });
    let registry = derive.registry.clone();
    let types = derive.types.clone();
    let wire = format_ident!("{}Wire", input.ident.unraw());
    let ends = |derive: &Derive| -> Vec<_> {
        let rules = registry.layouts.last().map(|layout| layout.rules.as_slice()).unwrap_or_default();
        rules.iter().map(|rule| derive.cx.places.ends(rule.require.span)).collect()
    };
    let ends = ends(&derive);
    let expansion = derive.finish(&root, |model| {
        let kinds = held.iter().map(|held| held::type_held(held, &root));
        let names = held::names_held(model, &types, &ends, &root, &wire);
        quote!(#(#kinds)* #names)
    });
    expansion.unwrap_or_else(|errors| stub::layout(input, &root, mutable, &errors))
}

/// The fields of what a layout can be made of.
fn fields_of<'i>(derive: &mut Derive, input: &'i DeriveInput, title: &str) -> Option<Vec<&'i syn::Field>> {
    let cx = &mut derive.cx;
    if let Some(first) = input.generics.params.first() {
        let span = cx.places.of(&input.generics.params);
        let (message, help) = match first {
            syn::GenericParam::Lifetime(_) => (
                format!("`{title}` borrows, and the values of a layout are its own"),
                "write the values themselves",
            ),
            _ => (
                format!("`{title}` is generic, and the bytes of a layout are always the same"),
                "derive on one struct for each type that it is used with",
            ),
        };
        cx.error(span, message).help = Some(help.to_owned());
        return None;
    }
    let span = cx.places.of(&input.ident);
    let (message, help) = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) if !fields.named.is_empty() => return Some(fields.named.iter().collect()),
            Fields::Unnamed(_) => (
                format!("`{title}` is a tuple struct, and the fields of a layout have names"),
                format!("write `struct {title} {{ name: type }}`"),
            ),
            _ => (format!("`{title}` has no fields"), "a layout has at least one byte".to_owned()),
        },
        Data::Enum(_) => (
            format!("`{title}` is an enum, and a layout is a struct"),
            "an enum with numbers derives `WireEnum`".to_owned(),
        ),
        Data::Union(_) => {
            (format!("`{title}` is a union, and a layout is a struct"), "choose one of its fields".to_owned())
        }
    };
    cx.error(span, message).help = Some(help);
    None
}

/// Reads the fields one after another. One that cannot be read leaves its bytes behind, so that those after it are
/// looked at too. Also says whether it is known where each one is.
fn fields(
    derive: &mut Derive,
    written: Vec<&syn::Field>,
    size: Option<i128>,
) -> (Vec<Field>, bool, Vec<Held>) {
    let mut fields: Vec<Field> = Vec::new();
    let mut held = Vec::new();
    let mut complete = true;
    let mut end = 0;
    // The position of a field whose bytes are not known yet.
    let mut open: Option<usize> = None;
    for item in written {
        if let Some(ident) = &item.ident {
            let name = ident.unraw().to_string();
            let emitted = names::field(&name);
            if emitted != name {
                derive.given.insert(emitted, ident.to_string());
            }
        }
        match field::read(derive, item, end) {
            Ok(read) => {
                if let (Some(at), true) = (open, read.placed) {
                    fill(&mut fields[at..], read.field.offset.value.saturating_sub(end));
                    open = None;
                }
                let one = derive.size_of(&read.field.ty.value.element).unwrap_or(0);
                let count = i128::from(read.field.ty.value.count.unwrap_or(1));
                end = read.field.offset.value.saturating_add(one.saturating_mul(count));
                complete &= !read.misplaced;
                held.extend(read.held);
                fields.push(read.field);
            }
            Err((offset, span)) => {
                let name = item.ident.as_ref().map(|ident| ident.unraw().to_string()).unwrap_or_default();
                let start = offset.as_ref().map_or(end, |offset| offset.value);
                if let (Some(at), true) = (open, offset.is_some()) {
                    fill(&mut fields[at..], start.saturating_sub(end));
                }
                open = Some(fields.len());
                end = start.saturating_add(1);
                fields.push(unknown(Spanned::new(name, span), Spanned::new(start, span)));
            }
        }
    }
    if let (Some(at), Some(size)) = (open, size) {
        fill(&mut fields[at..], size.saturating_sub(end));
    }
    (fields, complete, held)
}

/// What stands for a field that could not be read.
fn unknown(name: Spanned<String>, offset: Spanned<i128>) -> Field {
    let span = name.span;
    Field {
        name,
        offset,
        ty: Spanned::new(Type { element: Element::Scalar(Scalar::U8), count: None }, span),
        native: Native::Meant,
        reserved: None,
        constant: None,
        enumeration: None,
        bitmask: None,
        boolean: None,
        unit: None,
        doc: None,
        since: None,
        deprecated: None,
        role: None,
        error: None,
        understood: false,
        span,
    }
}

/// Makes the first of some fields, which is such a field, longer by `missing` bytes. All behind it follow one another, so
/// they move together.
fn fill(fields: &mut [Field], missing: i128) {
    let Some((first, behind)) = fields.split_first_mut() else { return };
    if let (Ok(bytes @ 2..), 1..) = (u64::try_from(missing.saturating_add(1)), missing) {
        first.ty.value.count = Some(bytes);
        for field in behind {
            field.offset.value = field.offset.value.saturating_add(missing);
        }
    }
}
