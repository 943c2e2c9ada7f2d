//! How generated Rust looks: formatted, with a blank line between ideas.

use proc_macro2::TokenStream;
use quote::ToTokens;

/// Formats items as rustfmt would.
///
/// They come in parts, each formatted on its own: what a parser holds of a whole module at once does
/// not fit the caches, and takes twice as long.
pub(super) fn pretty(parts: impl IntoIterator<Item = TokenStream>) -> String {
    let mut text = String::new();
    for items in parts {
        match syn::parse2::<syn::File>(items) {
            Ok(file) => text.push_str(&file_text(file)),
            // Cannot happen with what the emitter writes.
            Err(error) => text.push_str(&error.into_compile_error().to_string()),
        }
    }
    text
}

/// A file as text, with the one macro in it that a formatter does not know laid out as a struct.
fn file_text(file: syn::File) -> String {
    let mut text = String::new();
    let mut plain = file_of(Vec::new());
    for item in file.items {
        let flags = match &item {
            syn::Item::Macro(item) => syn::parse2::<Flags>(item.mac.tokens.clone()).ok(),
            _ => None,
        };
        match (flags, &item) {
            (Some(flags), syn::Item::Macro(item)) => {
                text.push_str(&prettyplease::unparse(&plain));
                plain.items.clear();
                let path: String = item.mac.path.to_token_stream().to_string().split_whitespace().collect();
                text.push_str(&format!("\n{path}! {{\n{}}}\n", indent(&flags.text())));
            }
            _ => plain.items.push(item),
        }
    }
    text + &prettyplease::unparse(&plain)
}

fn file_of(items: Vec<syn::Item>) -> syn::File {
    syn::File { shebang: None, frontmatter: None, attrs: Vec::new(), items }
}

/// What stands in `bitflags!`: a struct with a type and constants.
struct Flags {
    head: syn::ItemStruct,
    raw: syn::Type,
    bits: Vec<(Vec<syn::Attribute>, syn::Ident, syn::Expr)>,
}

impl syn::parse::Parse for Flags {
    fn parse(input: syn::parse::ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(syn::Attribute::parse_outer)?;
        let vis: syn::Visibility = input.parse()?;
        input.parse::<syn::Token![struct]>()?;
        let name: syn::Ident = input.parse()?;
        input.parse::<syn::Token![:]>()?;
        let raw = input.parse()?;
        let inside;
        syn::braced!(inside in input);
        let mut bits = Vec::new();
        while !inside.is_empty() {
            let attrs = inside.call(syn::Attribute::parse_outer)?;
            inside.parse::<syn::Token![const]>()?;
            let name = inside.parse()?;
            inside.parse::<syn::Token![=]>()?;
            bits.push((attrs, name, inside.parse()?));
            inside.parse::<syn::Token![;]>()?;
        }
        let head: syn::ItemStruct = syn::parse_quote!(#(#attrs)* #vis struct #name;);
        Ok(Self { head, raw, bits })
    }
}

impl Flags {
    fn text(self) -> String {
        let items = |items| prettyplease::unparse(&file_of(items));
        let raw = &self.raw;
        let head = items(vec![syn::Item::Struct(self.head)]);
        let head = head.trim_end().trim_end_matches(';');
        // A constant needs a type to be formatted, which the macro leaves out.
        let bits = self
            .bits
            .iter()
            .map(|(attrs, name, value)| syn::parse_quote!(#(#attrs)* const #name: #raw = #value;));
        let typed = format!(": {} =", raw.to_token_stream());
        let bits = items(bits.collect()).replace(&typed, " =");
        format!("{head}: {} {{\n{}}}\n", raw.to_token_stream(), indent(&bits))
    }
}

/// Puts a blank line before each item that follows another, and none inside short ones.
pub(super) fn spaced(texts: &[String]) -> String {
    let size: usize = texts.iter().map(String::len).sum();
    let mut out = String::with_capacity(size + size / 16);
    let mut before = "";
    for line in texts.iter().flat_map(|text| text.lines()) {
        let indent = indent_of(line);
        let closes =
            before.trim_start().starts_with('}') && before.len() - before.trim_start().len() == indent;
        let comment = before.trim_start().starts_with("//");
        let ends_item = closes || (!comment && before.ends_with(';') && indent_of(before) == indent);
        let starts_item = starts_item(line.trim_start());
        let constants = is_constant(before) && is_constant(line);
        if ends_item && starts_item && !constants {
            out.push('\n');
        }
        out.push_str(line);
        out.push('\n');
        before = line;
    }
    out
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn starts_item(line: &str) -> bool {
    ["///", "#[", "pub ", "impl", "const ", "fn ", "struct ", "enum "]
        .iter()
        .any(|start| line.starts_with(start))
}

/// A constant without a doc of its own: several of them are one idea.
fn is_constant(line: &str) -> bool {
    line.trim_start().starts_with("const ") || line.trim_start().starts_with("pub const ")
}

/// A module's text one level deeper.
pub(super) fn indent(text: &str) -> String {
    let line = |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") };
    text.lines().map(line).collect()
}

/// Breaks a paragraph into lines that fit beside `///`.
pub(super) fn wrap(paragraph: &str) -> Vec<String> {
    const WIDTH: usize = 96;
    // What continues an item of a list stands under its text.
    let hang = if paragraph.starts_with("- ") { "  " } else { "" };
    let mut lines = vec![String::new()];
    for word in paragraph.split_whitespace() {
        let line = lines.last_mut().map_or(0, |line| line.len());
        if line > 0 && line + 1 + word.len() > WIDTH {
            lines.push(hang.to_owned());
        }
        if let Some(last) = lines.last_mut() {
            if !last.trim_start().is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}
