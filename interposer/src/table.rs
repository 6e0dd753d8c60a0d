//! From a handle of the runtime to what the tracer knows about it, without locks.
//!
//! An entry that a handle has taken stays with it until the handle is said to be gone. Then the next handle
//! that comes by may have the entry; the same one, made again, gets it back. Who still looks at the entry of
//! a handle that is gone uses what does not exist any more. Tables whose handles are never said to be gone
//! never change the owner of an entry.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

/// What a table stores.
pub(crate) trait Entry: 'static {
    /// The handle this entry belongs to; 0 while it is free.
    fn key(&self) -> &AtomicU64;
}

/// A table in static memory; its pages exist only where they are used.
pub(crate) struct HandleTable<E: Entry, const N: usize> {
    entries: [E; N],
}

/// Entries that are looked at before a table counts as full.
const PROBES: usize = 256;
/// Walks that are made where other threads take the same entries at the same time.
const ATTEMPTS: usize = 16;
/// Marks the key of a handle that is gone; neither addresses nor other keys have this bit.
const GONE: u64 = 1 << 61;

/// Takes an entry whose key is this for a handle, unless somebody else has.
fn take<E: Entry>(entry: &E, key: u64, handle: u64) -> Option<&E> {
    match entry.key().compare_exchange(key, handle, AcqRel, Acquire) {
        Ok(_) => Some(entry),
        Err(now) => (now == handle).then_some(entry),
    }
}

impl<E: Entry, const N: usize> HandleTable<E, N> {
    pub(crate) const fn new(entries: [E; N]) -> Self {
        assert!(N.is_power_of_two());
        Self { entries }
    }

    /// The entry of a handle, if it has one.
    #[inline]
    pub(crate) fn get(&self, handle: u64) -> Option<&E> {
        for step in 0..PROBES {
            let entry = self.entries.get(Self::place(handle, step))?;
            match entry.key().load(Acquire) {
                key if key == handle => return Some(entry),
                0 => return None,
                _ => {}
            }
        }
        None
    }

    /// The entry of a handle, taken for it if it had none. `None` when the table is full.
    pub(crate) fn get_or_insert(&self, handle: u64) -> Option<&E> {
        if handle == 0 {
            return None;
        }
        let mut attempts = 0..ATTEMPTS;
        attempts.find_map(|_| self.attempt(handle)).flatten()
    }

    /// One walk along the places of a handle; `None` when another thread has changed them meanwhile.
    fn attempt(&self, handle: u64) -> Option<Option<&E>> {
        let mut left: Option<(&E, u64)> = None;
        let mut last = None;
        for step in 0..PROBES {
            let entry = self.entries.get(Self::place(handle, step))?;
            match entry.key().load(Acquire) {
                key if key == handle => return Some(Some(entry)),
                key if key == handle | GONE => return take(entry, key, handle).map(Some),
                0 => {
                    last = Some((entry, 0));
                    break;
                }
                key if key & GONE != 0 && left.is_none() => left = Some((entry, key)),
                _ => {}
            }
        }
        match left.or(last) {
            Some((entry, key)) => take(entry, key, handle).map(Some),
            None => Some(None),
        }
    }

    /// A handle is gone: its entry is free for another one.
    pub(crate) fn leave(&self, handle: u64) {
        if let Some(entry) = self.get(handle) {
            let gone = handle | GONE;
            let _ = entry.key().compare_exchange(handle, gone, AcqRel, Relaxed);
        }
    }

    /// A handle was not gone after all: it has its entry back, unless that was taken meanwhile.
    pub(crate) fn come_back(&self, handle: u64) {
        for step in 0..PROBES {
            let Some(entry) = self.entries.get(Self::place(handle, step)) else {
                return;
            };
            match entry.key().load(Acquire) {
                0 => return,
                key if key == handle | GONE => {
                    take(entry, key, handle);
                    return;
                }
                _ => {}
            }
        }
    }

    /// Every entry that belongs, or last belonged, to a handle. Walks the whole table.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &E> {
        self.entries
            .iter()
            .filter(|entry| entry.key().load(Relaxed) != 0)
    }

    fn place(handle: u64, step: usize) -> usize {
        // Handles are addresses, so their low bits say little: spread them by multiplication.
        let spread = handle.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        (spread as usize).wrapping_add(step) & (N - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Plain(AtomicU64);

    impl Entry for Plain {
        fn key(&self) -> &AtomicU64 {
            &self.0
        }
    }

    fn table() -> HandleTable<Plain, 512> {
        HandleTable::new([const { Plain(AtomicU64::new(0)) }; 512])
    }

    #[test]
    fn a_handle_keeps_its_entry() {
        let table = table();
        let first = std::ptr::from_ref(table.get_or_insert(0x1000).unwrap());
        table.get_or_insert(0x2000).unwrap();
        assert!(std::ptr::eq(first, table.get_or_insert(0x1000).unwrap()));
        assert!(std::ptr::eq(first, table.get(0x1000).unwrap()));
        assert!(table.get(0x3000).is_none());
        assert!(table.get_or_insert(0).is_none());
    }

    #[test]
    fn a_full_table_says_so() {
        let table = table();
        let taken = (1..=2000u64)
            .filter(|n| table.get_or_insert(n * 64).is_some())
            .count();
        assert_eq!(taken, 512);
        assert_eq!(table.iter().count(), 512);
    }

    #[test]
    fn handles_that_are_gone_leave_the_table() {
        let table = table();
        // Many times what it has room for, a few at a time.
        for handle in 1..=100_000u64 {
            assert!(table.get_or_insert(handle * 64).is_some(), "{handle}");
            if let Some(old) = handle.checked_sub(50).filter(|old| *old > 0) {
                table.leave(old * 64);
                assert!(table.get(old * 64).is_none());
            }
        }
        let alive = (99_951..=100_000u64).filter(|handle| table.get(handle * 64).is_some());
        assert_eq!(alive.count(), 50);
    }

    #[test]
    fn a_handle_that_comes_back_has_its_entry_or_a_free_one() {
        let table = table();
        let first = std::ptr::from_ref(table.get_or_insert(0x1000).unwrap());
        table.leave(0x1000);
        table.leave(0x1000);
        assert!(std::ptr::eq(first, table.get_or_insert(0x1000).unwrap()));
        table.leave(0x2000);
        assert!(table.get(0x2000).is_none());
        table.leave(0x1000);
        table.come_back(0x1000);
        table.come_back(0x3000);
        assert!(std::ptr::eq(first, table.get(0x1000).unwrap()));
        assert_eq!(table.iter().count(), 1);
    }

    #[test]
    fn threads_that_come_and_go_have_entries_of_their_own() {
        let table = table();
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                let table = &table;
                scope.spawn(move || {
                    for round in 0..20_000u64 {
                        let handle = (round * 4 + thread + 1) * 64;
                        let entry = table.get_or_insert(handle).unwrap();
                        assert_eq!(entry.key().load(Relaxed), handle);
                        assert!(std::ptr::eq(entry, table.get(handle).unwrap()));
                        table.leave(handle);
                    }
                });
            }
        });
    }

    #[test]
    fn threads_agree_on_the_entry_of_a_handle() {
        let table = table();
        let places: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| std::ptr::from_ref(table.get_or_insert(42).unwrap()) as usize)
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        assert!(places.windows(2).all(|pair| pair[0] == pair[1]));
        assert_eq!(table.iter().count(), 1);
    }
}
