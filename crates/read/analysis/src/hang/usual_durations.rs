//! Durations of earlier tasks by name: whether a long one is unusual.

use std::collections::HashMap;
use std::sync::Arc;

/// Largest number of kept names; others are not known.
const MOST: usize = 4096;

/// Facts about the tasks of one name.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Length {
    pub(super) count: u64,
    /// The longest of them, in nanoseconds.
    pub(super) longest_ns: i64,
}

#[derive(Debug, Default)]
pub(super) struct Lengths(HashMap<Arc<str>, Length>);

impl Lengths {
    pub(super) fn note(&mut self, name: &Arc<str>, length_ns: i64) {
        if self.0.len() >= MOST && !self.0.contains_key(name) {
            return;
        }
        let known = self.0.entry(Arc::clone(name)).or_default();
        known.count += 1;
        known.longest_ns = known.longest_ns.max(length_ns);
    }

    pub(super) fn of(&self, name: &str) -> Option<Length> {
        self.0.get(name).copied()
    }
}
