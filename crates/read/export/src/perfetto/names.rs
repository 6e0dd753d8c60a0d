//! Texts that occur more than once: a packet gives each a number, later packets use the number.

use super::fields::{event, interned};
use super::wire::{MessageWriter, RepeatedFields};
use crate::by_name::ByName;
use crate::fields::FieldName;
use rustc_hash::FxHashMap;

/// One of Perfetto's tables of texts.
#[derive(Debug)]
struct InternTable {
    /// Number of the field that new entries come in.
    field: u32,
    numbers: FxHashMap<Box<str>, u64>,
}

/// Entries that the packet under construction has to carry.
type NewEntries = Vec<(u32, u64, Box<str>)>;

impl InternTable {
    fn new(field: u32) -> Self {
        Self {
            field,
            numbers: FxHashMap::default(),
        }
    }

    /// The number of a text, which is added when it is new.
    fn number(&mut self, text: &str, fresh: &mut NewEntries) -> u64 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.numbers.len() as u64 + 1;
        self.numbers.insert(text.into(), number);
        fresh.push((self.field, number, text.into()));
        number
    }
}

/// Numbers of the tool's own words, by where they lie: that is known without a look at them, and stays.
#[derive(Debug)]
struct OwnWords([(usize, usize, u64); WORDS]);

/// Words that are remembered at a time. Slices have about thirty.
const WORDS: usize = 64;

impl OwnWords {
    const NONE: Self = Self([(0, 0, 0); WORDS]);

    #[inline]
    fn number(&mut self, word: &'static str, make: impl FnOnce() -> u64) -> u64 {
        let (address, length) = (word.as_ptr().addr(), word.len());
        let place = (address ^ address >> 6 ^ length << 2) % WORDS;
        let known = &mut self.0[place];
        if (known.0, known.1) != (address, length) {
            *known = (address, length, make());
        }
        known.2
    }
}

/// All tables, and the additions of the packet under construction.
#[derive(Debug)]
pub(super) struct InternedNames {
    categories: InternTable,
    events: InternTable,
    keys: InternTable,
    strings: InternTable,
    fresh: NewEntries,
    labels: ByName<RepeatedFields>,
    words: OwnWords,
}

impl InternedNames {
    pub(super) fn new() -> Self {
        Self {
            categories: InternTable::new(interned::CATEGORY),
            events: InternTable::new(interned::EVENT_NAME),
            keys: InternTable::new(interned::ANNOTATION_NAME),
            strings: InternTable::new(interned::ANNOTATION_STRING),
            fresh: NewEntries::new(),
            labels: ByName::default(),
            words: OwnWords::NONE,
        }
    }

    /// The number of an argument's name.
    #[inline]
    pub(super) fn key(&mut self, name: FieldName<'_>) -> u64 {
        let mut number = |text: &str| self.keys.number(text, &mut self.fresh);
        match name.word() {
            Some(word) => self.words.number(word, || number(word)),
            None => number(name.text()),
        }
    }

    /// The number of an argument's value.
    #[inline]
    pub(super) fn string(&mut self, text: &str) -> u64 {
        self.strings.number(text, &mut self.fresh)
    }

    /// The fields of an event that say its name and category.
    #[inline]
    pub(super) fn label(&mut self, name: &str, category: &str) -> RepeatedFields {
        if let Some(fields) = self.labels.get(name, category) {
            return *fields;
        }
        let fields = RepeatedFields::of(|wire| {
            let number = self.events.number(name, &mut self.fresh);
            wire.unsigned(event::NAME_IID, number);
            if !category.is_empty() {
                let number = self.categories.number(category, &mut self.fresh);
                wire.unsigned(event::CATEGORY_IID, number);
            }
        });
        self.labels.insert(name, category, fields);
        fields
    }

    /// Whether the packet has to carry new entries.
    pub(super) fn has_fresh(&self) -> bool {
        !self.fresh.is_empty()
    }

    /// Writes the new entries into an open message of interned data.
    pub(super) fn write_fresh(&mut self, wire: &mut MessageWriter) {
        for (field, number, text) in self.fresh.drain(..) {
            let entry = wire.open(field);
            wire.unsigned(interned::IID, number);
            wire.text(interned::TEXT, &text);
            wire.close(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_share_a_number_at_any_address() {
        let other = String::from("MatMul");
        let mut names = InternedNames::new();
        let written = |names: &mut InternedNames, text: &str| {
            let fields = names.label(text, "kernel");
            let mut wire = MessageWriter::default();
            wire.fields(&fields);
            wire.bytes().to_vec()
        };
        let tag = (event::NAME_IID << 3) as u8;
        assert_eq!(written(&mut names, "MatMul")[..2], [tag, 1]);
        assert_eq!(written(&mut names, "Add")[..2], [tag, 2]);
        assert_eq!(written(&mut names, &other)[..2], [tag, 1]);
        assert_eq!(names.key("Add".into()), 1, "tables count for themselves");
        assert_eq!(names.key(FieldName::of("Add")), 1, "at any address");
        assert_eq!(names.key("Add".into()), 1);
        assert_eq!(names.key("Ad".into()), 2);
        assert_eq!(names.key(FieldName::of("Mul")), 3);
        assert_eq!(names.fresh.len(), 6, "names of events, a category, keys");
    }
}
