//! The longest of many things, in a bounded number of bytes.

/// Something with a duration. The order has the longest first, and no two that are equal.
pub(super) trait Timed: Ord {
    fn length(&self) -> i64;
}

/// A bounded set of the longest things.
#[derive(Clone, Debug)]
pub(super) struct Longest<T> {
    most: usize,
    kept: Vec<T>,
    dropped: u64,
}

impl<T: Timed> Longest<T> {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            kept: Vec::new(),
            dropped: 0,
        }
    }

    pub(super) fn add(&mut self, item: T) {
        self.kept.push(item);
        if self.kept.len() >= 2 * self.most.max(1) {
            self.cut(self.most);
        }
    }

    /// Keeps the longest of them only.
    pub(super) fn cut(&mut self, most: usize) {
        if self.kept.len() > most {
            self.dropped += (self.kept.len() - most) as u64;
            self.kept.select_nth_unstable(most);
            self.kept.truncate(most);
        }
    }

    /// How many were not kept.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(super) fn len(&self) -> usize {
        self.kept.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.kept.iter()
    }

    /// Everything from this duration on was kept; 0 if nothing was dropped.
    pub(super) fn complete_from(&self) -> i64 {
        match self.dropped {
            0 => 0,
            // One of the same duration may have been dropped.
            _ => self
                .kept
                .iter()
                .map(T::length)
                .min()
                .map_or(i64::MAX, |it| it + 1),
        }
    }

    /// The last cut. Those that stay come in the order of a key.
    pub(super) fn sorted_by_key<K: Ord>(mut self, key: impl FnMut(&T) -> K) -> Self {
        self.cut(self.most);
        self.kept.sort_by_key(key);
        self
    }
}
