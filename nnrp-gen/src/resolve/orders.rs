//! What stands in which order in a body: slots, sorted parts, sizes, tensors.

use super::Resolve;
use crate::model::{Content, ObjectSize, Slots, Sorted, Tensor};
use crate::report::Diagnostic;
use crate::source::Spanned;
use crate::syntax::{self, Text};

impl Resolve<'_> {
    /// A part of the message's body by name.
    fn part_of(&mut self, body: Option<usize>, name: &Text) -> Option<usize> {
        let Some(body) = body else {
            self.report.add(Diagnostic::error(
                name.span,
                format!("`{}` is a part, and the message has no body of parts", name.value),
            ));
            return None;
        };
        let parts = &self.registry.bodies[body].parts;
        let found = parts.iter().position(|part| part.name.value == name.value);
        if found.is_none() {
            self.unknown(name, "part of its body", parts.iter().map(|part| part.name.as_str()));
        }
        found
    }

    /// The layout whose fields a part's rows or entry headers have.
    fn row_layout(&mut self, body: Option<usize>, part: usize, name: &Text) -> Option<usize> {
        let of = self.registry.bodies[body?].parts[part].of.as_ref();
        match self.content(of)? {
            Content::Layout(layout) => Some(layout),
            Content::Entry(entry) => {
                let header = self.registry.entries[entry].header.clone();
                self.layout(&header)
            }
            _ => {
                self.report.add(Diagnostic::error(name.span, format!("`{}` has no rows", name.value)));
                None
            }
        }
    }

    pub(super) fn slots(
        &mut self,
        item: &syntax::Slots,
        metadata: Option<usize>,
        body: Option<usize>,
    ) -> Option<Slots> {
        let mask = self.metadata_field(metadata, &item.mask)?;
        let references = self.part_of(body, &item.references)?;
        let inline = self.part_of(body, &item.inline)?;
        let reference_layout = self.row_layout(body, references, &item.references)?;
        let inline_layout = self.row_layout(body, inline, &item.inline)?;
        let reference_key = self.number_field(reference_layout, &item.key)?;
        let inline_key = self.number_field(inline_layout, &item.key)?;
        let mut order = Vec::new();
        for name in &item.order {
            let kind = self.value(reference_layout, reference_key, name)?;
            let path = Spanned::new(format!("{}.{}", item.mask.value, name.value), name.span);
            let (_, bit) = self.bit(metadata?, &path)?;
            order.push((kind, bit));
        }
        let mode = match &item.mode {
            None => None,
            Some(name) => {
                let field = self.metadata_field(metadata, name)?;
                let mut value =
                    |word: &str| self.value(metadata?, field, &Spanned::new(word.to_owned(), name.span));
                Some((field, value("reference")?, value("mixed")?))
            }
        };
        Some(Slots {
            id: item.id.value.clone(),
            mask,
            references: (references, reference_key),
            inline: (inline, inline_key),
            order,
            mode,
        })
    }

    pub(super) fn sorted(&mut self, item: &syntax::Sorted, body: Option<usize>) -> Option<Sorted> {
        let part = self.part_of(body, &item.part)?;
        let layout = self.row_layout(body, part, &item.part)?;
        let by = item.by.iter().map(|name| self.number_field(layout, name)).collect::<Option<Vec<_>>>()?;
        Some(Sorted { id: item.id.value.clone(), part, by, strict: item.strict })
    }

    /// The part of the body whose entries say by an enum what they are.
    fn object_part(&mut self, body: Option<usize>, at: &Text) -> Option<(usize, usize, usize)> {
        let parts = body.map_or(&[][..], |body| &self.registry.bodies[body].parts);
        for (position, part) in parts.iter().enumerate() {
            let entry = part.of.as_ref().and_then(|of| self.index.entries.get(of.as_str()));
            let Some(&entry) = entry else { continue };
            let entry = &self.registry.entries[entry];
            let Some(select) = &entry.select else { continue };
            let header = self.layout(&entry.header)?;
            let field = self.field(header, select)?;
            return Some((position, header, field));
        }
        self.report.add(Diagnostic::error(at.span, "the message's body has no part with objects"));
        None
    }

    pub(super) fn size(
        &mut self,
        item: &syntax::Size,
        metadata: Option<usize>,
        body: Option<usize>,
    ) -> Option<ObjectSize> {
        let field = self.metadata_field(metadata, &item.field)?;
        let (part, layout, select) = self.object_part(body, &item.kind)?;
        let kind = self.value(layout, select, &item.kind)?;
        Some(ObjectSize { id: item.id.value.clone(), part, kind, field })
    }

    pub(super) fn tensor(
        &mut self,
        item: &syntax::Tensor,
        metadata: Option<usize>,
        body: Option<usize>,
    ) -> Option<Tensor> {
        let name = |key: &str| {
            item.names.iter().find(|(known, _)| known.value == key).map(|(_, value)| value.clone())
        };
        let mut need = |key: &str| {
            let found = name(key);
            if found.is_none() {
                self.report.add(
                    Diagnostic::error(item.span, format!("a tensor without `{key}`"))
                        .label(format!("`{key}` is missing")),
                );
            }
            found
        };
        let (id, section_table, tile_index) = (need("id")?, need("section_table")?, need("tile_index")?);
        let (section_count, tile_count, base) = (need("section_count")?, need("tile_count")?, need("base")?);
        let (part, layout, select) = self.object_part(body, &section_table)?;
        Some(Tensor {
            id: id.value,
            part,
            section_table: self.value(layout, select, &section_table)?,
            tile_index: self.value(layout, select, &tile_index)?,
            section_count: self.metadata_field(metadata, &section_count)?,
            tile_count: self.metadata_field(metadata, &tile_count)?,
            base: self.metadata_field(metadata, &base)?,
            mode: match name("mode") {
                Some(mode) => Some(self.metadata_field(metadata, &mode)?),
                None => None,
            },
        })
    }
}
