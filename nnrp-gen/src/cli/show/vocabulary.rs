//! Vocabularies.

use crate::model::{Registry, Vocabulary};

use super::super::WIDTH;
use super::super::paint::Ink;
use super::super::table::{Table, cell, counted, left};
use super::{Item, View, source};

pub(super) fn items(registry: &Registry) -> Vec<Item<'_>> {
    let fact = |item: &Vocabulary| counted(item.words.len(), "word", "words");
    let items = registry.vocabularies.iter();
    items.map(|item| Item { name: &item.name, fact: fact(item), doc: &item.doc }).collect()
}

pub(super) fn show(view: &View<'_>, item: &Vocabulary) -> String {
    let lengths = format!("each word behind its length, a {}", item.length_type.name());
    let facts = ["vocabulary".to_owned(), lengths, source(&item.source)];
    format!("{}\n{}", view.head(&item.name, &facts, &item.doc), words(item).draw(WIDTH, 0, view.paint))
}

/// The words and what they mean.
pub(super) fn words(item: &Vocabulary) -> Table {
    let mut table = Table::new([left("word"), left("meaning")]);
    for (word, doc) in &item.words {
        table.row([cell(Ink::Bold, word.as_str()), doc.as_str().into()]);
    }
    table
}
