//! What was found lately for a text, by its address: to look there costs no look at the text.
//!
//! The address stands for the text, so nothing may be looked up that can go away before
//! [`Recent::forget`] is called.

/// Texts that are remembered at a time.
const PLACES: usize = 256;

/// A text and a second one that belongs to it, by address and length.
type Key = (*const u8, usize, *const u8, usize);

#[derive(Debug)]
pub(crate) struct Recent<V> {
    entries: Vec<Option<(Key, V)>>,
}

#[inline]
fn key(text: &str, other: &str) -> Key {
    (text.as_ptr(), text.len(), other.as_ptr(), other.len())
}

#[inline]
fn place(key: &Key) -> usize {
    let (text, other) = (key.0 as usize, key.2 as usize);
    (text ^ text >> 8 ^ other.rotate_left(4) ^ key.1) % PLACES
}

impl<V> Recent<V> {
    pub(crate) fn new() -> Self {
        let entries = Vec::new();
        Self { entries }
    }

    /// What is remembered for these texts, else what is made for them.
    #[inline]
    pub(crate) fn get(&mut self, (text, other): (&str, &str), make: impl FnOnce() -> V) -> &V {
        let key = key(text, other);
        let place = place(&key);
        let is_known = matches!(self.entries.get(place), Some(Some((known, _))) if *known == key);
        if !is_known {
            self.make_room();
        }
        let entry = &mut self.entries[place];
        if !is_known {
            *entry = None;
        }
        &entry.get_or_insert_with(|| (key, make())).1
    }

    /// There are many of these, and most are never asked.
    fn make_room(&mut self) {
        self.entries.resize_with(PLACES, || None);
    }

    /// What was looked up may be gone.
    pub(crate) fn forget(&mut self) {
        self.entries.fill_with(|| None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_known_until_it_is_forgotten() {
        let texts: Vec<String> = (0..2000).map(|number| number.to_string()).collect();
        let mut recent = Recent::new();
        for round in 0..2 {
            for text in &texts {
                let found = recent.get((text, ""), || text.clone());
                assert_eq!(found, text, "{round}");
            }
        }
        assert_eq!(*recent.get(("a", "b"), || "ab".to_owned()), "ab");
        assert_eq!(*recent.get(("a", ""), || "a".to_owned()), "a");
        let text = &texts[0];
        recent.forget();
        recent.get((text, ""), || "first".to_owned());
        assert_eq!(recent.get((text, ""), || "second".to_owned()), "first");
        recent.forget();
        assert_eq!(recent.get((text, ""), || "second".to_owned()), "second");
    }
}
