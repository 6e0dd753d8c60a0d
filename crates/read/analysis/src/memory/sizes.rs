//! Sizes of the allocations in use, and the bytes that each change adds or takes away.

use std::collections::HashMap;

use super::changes::{MemoryChange, MemoryChangeKind, MemoryKey, MemoryPlace};

/// By how many bytes the memory in use in a place changes.
pub type PlaceChange = (MemoryPlace, i64);

/// The allocations in use with a known place and size.
#[derive(Clone, Debug, Default)]
pub struct LiveSizes {
    live: HashMap<MemoryKey, (MemoryPlace, i64)>,
}

impl LiveSizes {
    /// Takes a change. Returns the bytes that it takes away, and those that it adds.
    pub fn apply(&mut self, change: &MemoryChange) -> [Option<PlaceChange>; 2] {
        let made = match change.kind {
            MemoryChangeKind::Refused { .. } => return [None, None],
            MemoryChangeKind::Freed => None,
            MemoryChangeKind::Allocated { place, size } => {
                let size = size.map(|it| i64::try_from(it).unwrap_or(i64::MAX));
                place.zip(size)
            }
        };
        // A call inside an allocation reports it as well.
        let old = match made {
            Some(new) => self.live.insert(change.key(), new),
            None => self.live.remove(&change.key()),
        };
        [old.map(|(place, size)| (place, -size)), made]
    }

    /// The number of allocations in use.
    pub fn len(&self) -> usize {
        self.live.len()
    }

    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }
}
