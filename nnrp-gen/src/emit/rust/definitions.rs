//! Layouts as data, for crates that describe them to others: the canonical form and the text of a registry, both in
//! pieces around what only the compiler knows.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::model::{ByteOrder, Element, Field, Layout, Meaning, Rule, Scalar};
use crate::rule;

use super::{Rust, ident};

impl Rust<'_> {
    /// The layout as a constant; nothing where nobody asked for it.
    pub(super) fn definition(&self, layout: &Layout) -> Option<TokenStream> {
        let describe = self.options.describe.as_ref()?;
        let ty = super::given_ident(layout.given.as_ref(), &layout.name);
        let name = &layout.name;
        let form = self.form(layout, describe);
        let text = self.text(layout);
        Some(quote! {
            impl #describe::Described for #ty {
                const DEFINITION: &'static #describe::Layout =
                    &#describe::Layout { name: #name, form: &[#(#form),*], text: &[#(#text),*] };
            }
        })
    }

    /// The canonical form, byte by byte as nnrp-core documents it.
    fn form(&self, layout: &Layout, describe: &TokenStream) -> Vec<TokenStream> {
        let mut form = Form { parts: Vec::new(), bytes: Vec::new(), describe };
        form.text(&layout.name);
        form.bytes.push((layout.byte_order == ByteOrder::Big).into());
        form.bytes.extend(layout.size.to_le_bytes());
        form.count(layout.fields.len());
        for field in &layout.fields {
            form.text(&field.name);
            form.bytes.extend(field.offset.to_le_bytes());
            match field.element {
                Element::Scalar(scalar) => {
                    let number = Scalar::ALL.iter().position(|known| *known == scalar).unwrap_or_default();
                    form.bytes.push(number as u8);
                }
                Element::Layout(inner) => {
                    form.bytes.push(255);
                    let ty = self.layout_type(inner);
                    form.part(quote!(Layout(<#ty as #describe::Described>::DEFINITION)));
                }
            }
            form.bytes.extend(field.count.unwrap_or(0).to_le_bytes());
            match &field.meaning {
                Meaning::Plain => form.bytes.push(0),
                Meaning::Reserved => form.bytes.push(1),
                Meaning::Constant(constant) => {
                    form.bytes.push(2);
                    form.bytes.extend((constant.len() as u32).to_le_bytes());
                    form.bytes.extend(constant);
                }
                Meaning::Bool => form.bytes.push(3),
                Meaning::Enum(position) => {
                    form.bytes.push(4);
                    form.part(self.enum_part(*position, describe));
                }
                Meaning::Bitmask(position) => {
                    form.bytes.push(5);
                    form.part(self.bitmask_part(*position, describe));
                }
            }
        }
        form.count(layout.rules.len());
        for rule in &layout.rules {
            form.text(&rule.id);
            form.text(&self.condition(rule.text.0.as_deref().unwrap_or_default()).concat());
            form.text(&self.condition(&rule.text.1).concat());
            form.text(&layout.fields[rule.blame.index].name);
        }
        let enums = only_in_rules(layout);
        form.count(enums.len());
        for position in enums {
            form.part(self.enum_part(position, describe));
        }
        form.end();
        form.parts
    }

    fn enum_part(&self, position: usize, describe: &TokenStream) -> TokenStream {
        let ty = self.enum_type(position);
        quote!(Enum(#describe::Enum::of::<#ty>()))
    }

    fn bitmask_part(&self, position: usize, describe: &TokenStream) -> TokenStream {
        let item = &self.registry.bitmasks[position];
        let name = &item.name;
        let known = self.known_bits(position);
        let ty = self.bitmask_path(position);
        if !item.is_foreign() {
            let bytes = Literal::u32_unsuffixed(item.ty.size());
            let known = if item.ty == Scalar::U64 { known } else { quote!(#known as u64) };
            return quote! {
                Bitmask(#describe::Bitmask { name: #name, bytes: #bytes, known: #known, bits: #ty::NAMES })
            };
        }
        let bitflags = &self.options.bitflags;
        quote! {
            Bitmask(#describe::Bitmask {
                name: #name,
                bytes: #describe::bytes_of::<<#ty as #bitflags::Flags>::Bits>(),
                known: #known as u64,
                bits: {
                    const BITS: &[(&str, u64)] = &{
                        const FLAGS: &[#bitflags::Flag<#ty>] = <#ty as #bitflags::Flags>::FLAGS;
                        let mut bits = [("", 0); FLAGS.len()];
                        let mut at = 0;
                        while at < FLAGS.len() {
                            bits[at] = (FLAGS[at].name(), FLAGS[at].value().bits() as u64);
                            at += 1;
                        }
                        bits
                    };
                    BITS
                },
            })
        }
    }

    /// The table of a registry file, without those of what it refers to.
    fn text(&self, layout: &Layout) -> Vec<TokenStream> {
        let mut text = Text::default();
        text.add(&format!("\n[[layout]]\nname   = \"{}\"\nsize   = {}\n", layout.name, layout.size));
        if layout.byte_order == ByteOrder::Big {
            text.add("byte_order = \"big\"\n");
        }
        if !layout.doc.is_empty() {
            text.add(&format!("doc    = {}\n", quoted(&layout.doc)));
        }
        text.add("fields = [\n");
        for field in &layout.fields {
            self.field_text(field, layout.byte_order, &mut text);
        }
        text.add("]\n");
        if !layout.rules.is_empty() {
            text.add("rules  = [\n");
            for rule in &layout.rules {
                self.rule_text(rule, layout, &mut text);
            }
            text.add("]\n");
        }
        text.end();
        text.pieces
    }

    fn field_text(&self, field: &Field, byte_order: ByteOrder, text: &mut Text) {
        let (open, close) = match field.count {
            Some(count) => ("[", format!("; {count}]")),
            None => ("", String::new()),
        };
        text.add(&format!("  {{ offset = {}, name = \"{}\", ", field.offset, field.name));
        match field.element {
            Element::Scalar(scalar) => text.add(&format!("type = \"{open}{}", scalar.name())),
            Element::Layout(inner) => {
                text.add(&format!("layout = \"{open}"));
                let item = &self.registry.layouts[inner];
                let ty = self.layout_type(inner);
                let support = &self.options.wire;
                text.name(&item.name, item.given.is_some(), quote!(<#ty as #support::Layout>::NAME));
            }
        }
        text.add(&format!("{close}\""));
        match &field.meaning {
            Meaning::Plain => {}
            Meaning::Reserved => text.add(", reserved = true"),
            Meaning::Bool => text.add(", bool = true"),
            Meaning::Constant(bytes) => {
                text.add(&format!(", const = {}", constant(field, bytes, byte_order)));
            }
            Meaning::Enum(position) => {
                text.add(", enum = \"");
                self.enum_name(*position, text);
                text.add("\"");
            }
            Meaning::Bitmask(position) => {
                text.add(&format!(", bitmask = \"{}\"", self.registry.bitmasks[*position].name));
            }
        }
        if !field.unit.is_empty() {
            text.add(&format!(", unit = {}", quoted(&field.unit)));
        }
        if !field.doc.is_empty() {
            text.add(&format!(", doc = {}", quoted(&field.doc)));
        }
        text.add(" },\n");
    }

    fn enum_name(&self, position: usize, text: &mut Text) {
        let item = &self.registry.enums[position];
        let ty = self.enum_type(position);
        let support = &self.options.wire;
        text.name(&item.name, item.given.is_some(), quote!(<#ty as #support::WireEnum>::NAME));
    }

    fn rule_text(&self, rule: &Rule, layout: &Layout, text: &mut Text) {
        text.add(&format!("  {{ id = {}", quoted(&rule.id)));
        for (key, condition) in [("when", rule.text.0.as_deref()), ("require", Some(rule.text.1.as_str()))] {
            let Some(condition) = condition else { continue };
            text.add(&format!(", {key} = \""));
            for (at, piece) in self.condition(condition).iter().enumerate() {
                let named = self.registry.enums.iter().position(|item| item.name == *piece);
                match named {
                    Some(position) if at % 2 == 1 => self.enum_name(position, text),
                    _ => text.add(&escaped(piece)),
                }
            }
            text.add("\"");
        }
        text.add(&format!(", field = \"{}\"", layout.fields[rule.blame.index].name));
        if !rule.doc.is_empty() {
            text.add(&format!(", doc = {}", quoted(&rule.doc)));
        }
        text.add(" },\n");
    }

    /// A condition as a registry has it, with one space where there was any. Every second piece is the name of an enum.
    fn condition(&self, text: &str) -> Vec<String> {
        let mut pieces = vec![String::new()];
        let mut before = "";
        for (at, word) in text.split_whitespace().enumerate() {
            if let (Some(last), true) = (pieces.last_mut(), at > 0) {
                last.push(' ');
            }
            // Only what stands behind `in` names an enum, maybe with a parenthesis behind it.
            let end =
                word.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(word.len());
            let (name, rest) = word.split_at(end);
            let is_named =
                |item: &&crate::model::Enum| item.given.as_deref() == Some(name) || item.name == name;
            match self.registry.enums.iter().find(is_named) {
                Some(item) if before == "in" => pieces.extend([item.name.clone(), rest.to_owned()]),
                _ => {
                    if let Some(last) = pieces.last_mut() {
                        last.push_str(word);
                    }
                }
            }
            before = word;
        }
        pieces
    }
}

/// The enums that the rules of a layout name and none of its fields holds.
fn only_in_rules(layout: &Layout) -> Vec<usize> {
    let mut list = Vec::new();
    for position in layout.rules.iter().flat_map(|rule| rule::enums(&rule.condition())) {
        let held = layout.fields.iter().any(|field| field.meaning == Meaning::Enum(position));
        if !held && !list.contains(&position) {
            list.push(position);
        }
    }
    list
}

/// Bytes, and between them what only the compiler knows.
struct Form<'a> {
    parts: Vec<TokenStream>,
    bytes: Vec<u8>,
    describe: &'a TokenStream,
}

impl Form<'_> {
    fn count(&mut self, count: usize) {
        self.bytes.extend((count as u16).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.bytes.extend(text.as_bytes());
    }

    fn part(&mut self, part: TokenStream) {
        self.end();
        let describe = self.describe;
        self.parts.push(quote!(#describe::Part::#part));
    }

    fn end(&mut self) {
        if !self.bytes.is_empty() {
            let bytes = Literal::byte_string(&std::mem::take(&mut self.bytes));
            let (describe, part) = (self.describe, ident("Bytes"));
            self.parts.push(quote!(#describe::Part::#part(#bytes)));
        }
    }
}

/// Text, and between it names that only the compiler knows.
#[derive(Default)]
struct Text {
    pieces: Vec<TokenStream>,
    text: String,
}

impl Text {
    fn add(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn name(&mut self, name: &str, given: bool, constant: TokenStream) {
        if given {
            self.end();
            self.pieces.push(constant);
        } else {
            self.add(name);
        }
    }

    fn end(&mut self) {
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            self.pieces.push(quote!(#text));
        }
    }
}

/// A constant as the numbers that stand in its bytes.
fn constant(field: &Field, bytes: &[u8], byte_order: ByteOrder) -> String {
    let Element::Scalar(scalar) = field.element else { return String::new() };
    let size = scalar.size() as usize;
    let numbers = bytes.chunks(size).map(|chunk| {
        let fold = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        let number = match byte_order {
            ByteOrder::Little => chunk.iter().rev().fold(0, fold),
            ByteOrder::Big => chunk.iter().fold(0, fold),
        };
        let unused = 64 - 8 * scalar.size();
        if scalar.is_unsigned() {
            number.to_string()
        } else {
            ((number << unused) as i64 >> unused).to_string()
        }
    });
    let numbers: Vec<String> = numbers.collect();
    if field.count.is_some() { format!("[{}]", numbers.join(", ")) } else { numbers.concat() }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}
