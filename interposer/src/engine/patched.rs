//! From a patched function to the way around its patch.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{Acquire, Release};

use crate::table::{HandleTable, TableEntry};

struct Original {
    /// Where the function begins.
    address: AtomicU64,
    /// An address with the effect of the original function, 0 until it is known.
    original: AtomicU64,
}

impl TableEntry for Original {
    fn key(&self) -> &AtomicU64 {
        &self.address
    }
}

const MOST: usize = 1 << 15;

static ORIGINALS: HandleTable<Original, MOST> = HandleTable::new(
    [const {
        Original {
            address: AtomicU64::new(0),
            original: AtomicU64::new(0),
        }
    }; MOST],
);

/// Remembers how to call a function that is patched from now on.
pub(super) fn remember(address: usize, original: usize) {
    if let Some(entry) = ORIGINALS.get_or_insert(address as u64) {
        entry.original.store(original as u64, Release);
    }
}

/// What to call to have the function at `address` do its work: the way around its patch, if it has
/// one.
pub(crate) fn original(address: usize) -> usize {
    match ORIGINALS.get(address as u64) {
        Some(entry) => match entry.original.load(Acquire) {
            0 => address,
            original => original as usize,
        },
        None => address,
    }
}

/// Bytes that the ways around patches are taken to have: an engine moves the few instructions that its
/// patch takes, and adds a jump.
const WAY: usize = 64;

/// The function with a way around its patch at an address.
pub(crate) fn function_of(address: usize) -> Option<usize> {
    if !super::loaded::is_there() {
        return None;
    }
    let begin = |entry: &Original| entry.original.load(Acquire) as usize;
    let ways = ORIGINALS.iter().filter(|entry| {
        let begin = begin(entry);
        begin != 0 && address.wrapping_sub(begin) < WAY
    });
    let last = ways.max_by_key(|entry| begin(entry))?;
    Some(last.address.load(Acquire) as usize).filter(|function| *function != address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_patched_functions_are_bypassed() {
        remember(0x7000_0000, 0x8000_0000);
        assert_eq!(original(0x7000_0000), 0x8000_0000);
        assert_eq!(original(0x7000_0010), 0x7000_0010);
        assert_eq!(original(0), 0);
    }
}
