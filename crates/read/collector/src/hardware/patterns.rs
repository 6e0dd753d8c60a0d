//! Which kernels a function launches: one call of it may launch several, and losing one of them leaves entries that
//! look like those of a whole call.

use std::collections::{BTreeMap, BTreeSet};

use super::entry::LogEntry;

/// Different sequences of kernels that are kept of a function.
const MOST: usize = 64;

#[derive(Debug, Default)]
pub(super) struct OperatorPatterns {
    /// By function: names of kernels in their order.
    known: BTreeMap<u16, BTreeSet<Vec<u64>>>,
}

impl OperatorPatterns {
    /// Notes the kernels of a call. Returns whether another call of the same function launched these
    /// and more.
    pub(super) fn is_part(&mut self, function: u16, entries: &[LogEntry]) -> bool {
        let names: Vec<u64> = entries.iter().map(|entry| entry.activity.name).collect();
        let known = self.known.entry(function).or_default();
        let is_part = known.iter().any(|other| is_within(&names, other));
        if known.len() < MOST {
            known.insert(names);
        }
        is_part
    }
}

/// Whether names are in a longer sequence, in this order.
fn is_within(names: &[u64], other: &[u64]) -> bool {
    let mut rest = other.iter();
    names.len() < other.len() && names.iter().all(|name| rest.any(|it| it == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_less_is_noticed() {
        assert!(is_within(&[2], &[1, 2]) && is_within(&[1, 3], &[1, 2, 3]));
        assert!(!is_within(&[1, 2], &[1, 2]) && !is_within(&[2, 1], &[1, 2, 3]));
        assert!(!is_within(&[4], &[1, 2]));
    }
}
