//! The executions of a graph.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Lives as long as its graph can be executed or looked at.
#[derive(Default)]
pub(crate) struct Activity {
    /// Replays that were submitted and are not over.
    pub(super) replays: AtomicU32,
    /// When the last replay ended.
    pub(crate) ended_ns: AtomicU64,
    /// Replays that were ever submitted.
    submitted: AtomicU64,
    /// Those up to this number were aborted.
    aborted: AtomicU64,
}

impl Activity {
    /// A replay is submitted; gives its number.
    pub(super) fn submit(&self) -> u64 {
        self.replays.fetch_add(1, Ordering::AcqRel);
        self.submitted.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Aborts all replays that were submitted before.
    pub(super) fn abort(&self) {
        let last = self.submitted.load(Ordering::Acquire);
        self.aborted.fetch_max(last, Ordering::AcqRel);
    }

    pub(super) fn is_aborted(&self, number: u64) -> bool {
        number <= self.aborted.load(Ordering::Acquire)
    }
}
