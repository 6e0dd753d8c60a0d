//! Cache of values that are made once for each name in a category.

use rustc_hash::FxHashMap;

/// Names that are remembered at a time. Most recordings have a few hundred.
const MOST: usize = 4096;

/// Values of the names of a category.
type CategoryNames<V> = FxHashMap<Box<str>, V>;

#[derive(Debug)]
pub(crate) struct ByName<V> {
    /// There are about a dozen.
    categories: Vec<(Box<str>, CategoryNames<V>)>,
    names: usize,
}

impl<V> Default for ByName<V> {
    fn default() -> Self {
        Self {
            categories: Vec::new(),
            names: 0,
        }
    }
}

impl<V> ByName<V> {
    #[inline]
    pub(crate) fn get(&self, name: &str, category: &str) -> Option<&V> {
        let mut categories = self.categories.iter();
        let (_, names) = categories.find(|(known, _)| is_same(known, category))?;
        names.get(name)
    }

    pub(crate) fn insert(&mut self, name: &str, category: &str, value: V) {
        if self.names == MOST {
            self.categories.clear();
            self.names = 0;
        }
        let mut categories = self.categories.iter();
        let place = categories.position(|(known, _)| is_same(known, category));
        let place = place.unwrap_or_else(|| {
            self.categories
                .push((category.into(), CategoryNames::default()));
            self.categories.len() - 1
        });
        let old = self.categories[place].1.insert(name.into(), value);
        self.names += usize::from(old.is_none());
    }
}

/// Equality. An empty text has no address, and comparing without an address takes some processors
/// hundreds of cycles.
#[inline]
fn is_same(known: &str, category: &str) -> bool {
    known.len() == category.len() && (category.is_empty() || known == category)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_by_category_and_not_without_end() {
        let mut known = ByName::default();
        known.insert("a", "b", 1);
        known.insert("b", "", 2);
        known.insert("a", "b", 3);
        assert_eq!(known.get("a", "b"), Some(&3));
        assert_eq!(known.get("b", ""), Some(&2));
        assert_eq!(known.get("a", ""), None);
        assert_eq!(known.get("ab", ""), None);
        for number in 0..3 * MOST {
            known.insert(&number.to_string(), "b", number);
            assert_eq!(known.get(&number.to_string(), "b"), Some(&number));
            let names = known.categories.iter().map(|(_, names)| names.len());
            assert!(names.sum::<usize>() <= MOST);
        }
    }
}
