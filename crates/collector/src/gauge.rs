//! What has been recorded up to now, for whoever watches: it may not be in the file yet.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a recorder has counted up to now, which may not be in its file yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    pub calls: u64,
    /// Calls and other records that could not be recorded.
    pub lost: u64,
}

/// Counts of the collecting thread, which are told after each look at the shared memory.
#[derive(Debug, Default)]
pub struct Gauge {
    calls: AtomicU64,
    lost: AtomicU64,
}

impl Gauge {
    pub fn tell(&self, counted: Counted) {
        self.calls.store(counted.calls, Ordering::Relaxed);
        self.lost.store(counted.lost, Ordering::Relaxed);
    }

    pub fn now(&self) -> Counted {
        Counted {
            calls: self.calls.load(Ordering::Relaxed),
            lost: self.lost.load(Ordering::Relaxed),
        }
    }
}
