//! Texts that occur more than once: a packet gives each a number, later packets use the number.

use super::fields::interned;
use super::wire::Wire;
use crate::hash::FastMap;
use std::borrow::Cow;

/// Texts that were looked up lately, by address: a lookup there costs no hash of the text.
const RECENT: usize = 256;

/// One of Perfetto's tables of texts.
#[derive(Debug)]
struct Table {
    /// Number of the field that new entries come in.
    field: u32,
    numbers: FastMap<Box<str>, u64>,
    recent: Vec<(*const u8, usize, u64)>,
}

impl Table {
    fn new(field: u32) -> Self {
        Self {
            field,
            numbers: FastMap::default(),
            recent: vec![(std::ptr::null(), 0, 0); RECENT],
        }
    }

    /// The number of a text, and whether it is new. The address stands for the text, so nothing
    /// that may go away before the export does can be looked up this way.
    fn lasting(&mut self, text: &str) -> (u64, bool) {
        let (address, length) = (text.as_ptr(), text.len());
        let place = (address as usize ^ (address as usize >> 8)) % RECENT;
        if let Some(recent) = self.recent.get(place)
            && recent.0 == address
            && recent.1 == length
            && recent.2 != 0
        {
            return (recent.2, false);
        }
        let (number, is_new) = self.passing(text);
        if let Some(recent) = self.recent.get_mut(place) {
            *recent = (address, length, number);
        }
        (number, is_new)
    }

    /// The same for a text that is gone after the call.
    fn passing(&mut self, text: &str) -> (u64, bool) {
        if let Some(number) = self.numbers.get(text) {
            return (*number, false);
        }
        let number = self.numbers.len() as u64 + 1;
        self.numbers.insert(text.into(), number);
        (number, true)
    }
}

/// All tables, and what the packet under construction has added to them.
#[derive(Debug)]
pub(super) struct Names {
    categories: Table,
    events: Table,
    keys: Table,
    strings: Table,
    fresh: Vec<(u32, u64, Box<str>)>,
}

macro_rules! numbers {
    ($($name:ident in $table:ident;)+) => {$(
        pub(super) fn $name(&mut self, text: &str) -> u64 {
            let (number, is_new) = self.$table.lasting(text);
            if is_new {
                self.fresh.push((self.$table.field, number, text.into()));
            }
            number
        }
    )+};
}

impl Names {
    pub(super) fn new() -> Self {
        Self {
            categories: Table::new(interned::CATEGORY),
            events: Table::new(interned::EVENT_NAME),
            keys: Table::new(interned::ANNOTATION_NAME),
            strings: Table::new(interned::ANNOTATION_STRING),
            fresh: Vec::new(),
        }
    }

    numbers! {
        category in categories;
        key in keys;
        string in strings;
    }

    pub(super) fn event(&mut self, text: Cow<'_, str>) -> u64 {
        let (number, is_new) = match &text {
            Cow::Borrowed(text) => self.events.lasting(text),
            Cow::Owned(text) => self.events.passing(text),
        };
        if is_new {
            self.fresh
                .push((self.events.field, number, text.as_ref().into()));
        }
        number
    }

    /// What was looked up by address may be gone.
    pub(super) fn forget_addresses(&mut self) {
        for table in [
            &mut self.categories,
            &mut self.events,
            &mut self.keys,
            &mut self.strings,
        ] {
            table.recent.fill((std::ptr::null(), 0, 0));
        }
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
        assert_eq!(names.event("MatMul".into()), 1);
        assert_eq!(names.event("Add".into()), 2);
        assert_eq!(names.event((&*other).into()), 1);
        assert_eq!(names.event(other.clone().into()), 1);
        assert_eq!(names.key("Add"), 1, "tables count for themselves");
        assert_eq!(names.fresh.len(), 3);
    }
}
