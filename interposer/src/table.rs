//! Finds the tracer's facts about an object of the runtime by its handle, without locks.
//!
//! An entry, once taken by a handle, stays with it: a handle that is destroyed and made again gets
//! its entry back with a new serial. So readers never see an entry change its owner, and nothing
//! needs to be reclaimed.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{Acquire, Relaxed};

/// An entry of a table.
pub(crate) trait TableEntry: 'static {
    /// The handle this entry belongs to; 0 while it is free.
    fn key(&self) -> &AtomicU64;
}

/// A table in static memory; its pages exist only where they are used.
pub(crate) struct HandleTable<E: TableEntry, const N: usize> {
    entries: [E; N],
}

/// Entries that are looked at before a table counts as full.
const PROBES: usize = 256;

impl<E: TableEntry, const N: usize> HandleTable<E, N> {
    pub(crate) const fn new(entries: [E; N]) -> Self {
        assert!(N.is_power_of_two());
        Self { entries }
    }

    /// The entry of a handle, if it has one.
    #[inline]
    pub(crate) fn get(&self, handle: u64) -> Option<&E> {
        for step in 0..PROBES {
            let entry = self.entries.get(place(handle, step) & (N - 1))?;
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
        for step in 0..PROBES {
            let entry = self.entries.get(place(handle, step) & (N - 1))?;
            match entry.key().compare_exchange(0, handle, Acquire, Acquire) {
                Ok(_) => return Some(entry),
                Err(key) if key == handle => return Some(entry),
                Err(_) => {}
            }
        }
        None
    }

    /// Every entry that belongs to a handle. Walks the whole table.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &E> {
        self.entries
            .iter()
            .filter(|entry| entry.key().load(Relaxed) != 0)
    }
}

/// The place of the `step`th look for a handle, modulo the number of places. Handles are addresses, or
/// numbers: those near each other are searched near each other, so that few pages of memory are used;
/// distant ones are spread by multiplication.
pub(crate) fn place(handle: u64, step: usize) -> usize {
    let page = (handle >> 12).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let within = (handle >> 4) & 0xff;
    ((page as usize) << 8 | within as usize).wrapping_add(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Plain(AtomicU64);

    impl TableEntry for Plain {
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
