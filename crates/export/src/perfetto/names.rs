//! Texts that occur more than once: a packet gives each a number, later packets use the number.

use super::fields::{event, interned};
use super::wire::{Fields, Wire};
use crate::recent::Recent;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// One of Perfetto's tables of texts.
#[derive(Debug)]
struct Table {
    /// Number of the field that new entries come in.
    field: u32,
    numbers: FxHashMap<Box<str>, u64>,
}

/// Entries that the packet under construction has to carry.
type Fresh = Vec<(u32, u64, Box<str>)>;

impl Table {
    fn new(field: u32) -> Self {
        Self {
            field,
            numbers: FxHashMap::default(),
        }
    }

    /// The number of a text, which is added when it is new.
    fn number(&mut self, text: &str, fresh: &mut Fresh) -> u64 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.numbers.len() as u64 + 1;
        self.numbers.insert(text.into(), number);
        fresh.push((self.field, number, text.into()));
        number
    }
}

/// All tables, and what the packet under construction has added to them.
#[derive(Debug)]
pub(super) struct Names {
    categories: Table,
    events: Table,
    keys: Table,
    strings: Table,
    fresh: Fresh,
    recent_labels: Recent<Fields>,
    recent_keys: Recent<u64>,
    recent_strings: Recent<u64>,
}

impl Names {
    pub(super) fn new() -> Self {
        Self {
            categories: Table::new(interned::CATEGORY),
            events: Table::new(interned::EVENT_NAME),
            keys: Table::new(interned::ANNOTATION_NAME),
            strings: Table::new(interned::ANNOTATION_STRING),
            fresh: Fresh::new(),
            recent_labels: Recent::new(),
            recent_keys: Recent::new(),
            recent_strings: Recent::new(),
        }
    }

    /// The number of an argument's name, which lasts as long as the part that is being written.
    #[inline]
    pub(super) fn key(&mut self, text: &str) -> u64 {
        let (keys, fresh) = (&mut self.keys, &mut self.fresh);
        *self
            .recent_keys
            .get((text, ""), || keys.number(text, fresh))
    }

    /// The number of an argument's value, which lasts as long as the part that is being written.
    #[inline]
    pub(super) fn string(&mut self, text: &str) -> u64 {
        let (strings, fresh) = (&mut self.strings, &mut self.fresh);
        *self
            .recent_strings
            .get((text, ""), || strings.number(text, fresh))
    }

    /// As [`Self::string`], of a text that does not last.
    pub(super) fn passing(&mut self, text: &str) -> u64 {
        self.strings.number(text, &mut self.fresh)
    }

    /// The fields of an event that say its name and category. What is borrowed lasts as long as
    /// the part that is being written, and so does the category.
    #[inline]
    pub(super) fn label(&mut self, name: Cow<'_, str>, category: &str) -> Fields {
        let (events, categories) = (&mut self.events, &mut self.categories);
        let fresh = &mut self.fresh;
        let mut make = |name: &str| {
            Fields::of(|wire| {
                wire.unsigned(event::NAME_IID, events.number(name, fresh));
                if !category.is_empty() {
                    let number = categories.number(category, fresh);
                    wire.unsigned(event::CATEGORY_IID, number);
                }
            })
        };
        match name {
            Cow::Borrowed(name) => *self.recent_labels.get((name, category), || make(name)),
            Cow::Owned(name) => make(&name),
        }
    }

    /// What was looked up by address may be gone.
    pub(super) fn forget_addresses(&mut self) {
        self.recent_labels.forget();
        self.recent_keys.forget();
        self.recent_strings.forget();
    }

    /// Whether the packet has to carry new entries.
    pub(super) fn has_fresh(&self) -> bool {
        !self.fresh.is_empty()
    }

    /// Writes the new entries into an open message of interned data.
    pub(super) fn write_fresh(&mut self, wire: &mut Wire) {
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
    fn equal_texts_share_a_number_wherever_they_lie() {
        let other = String::from("MatMul");
        let mut names = Names::new();
        let written = |names: &mut Names, text: Cow<'_, str>| {
            let fields = names.label(text, "kernel");
            let mut wire = Wire::default();
            wire.fields(&fields);
            wire.bytes().to_vec()
        };
        let tag = (event::NAME_IID << 3) as u8;
        assert_eq!(written(&mut names, "MatMul".into())[..2], [tag, 1]);
        assert_eq!(written(&mut names, "Add".into())[..2], [tag, 2]);
        assert_eq!(written(&mut names, (&*other).into())[..2], [tag, 1]);
        assert_eq!(written(&mut names, other.clone().into())[..2], [tag, 1]);
        assert_eq!(names.key("Add"), 1, "tables count for themselves");
        assert_eq!(names.fresh.len(), 4, "three names and a category");
    }
}
