//! What has been recorded up to now, for whoever watches: it may not be in the file yet.

use std::sync::atomic::{AtomicU64, Ordering};

use ascend_trace_viewer::Counted;

/// Counts of the collecting thread, which are told after each look at the shared memory.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    calls: AtomicU64,
    lost: AtomicU64,
}

impl Gauge {
    pub(crate) fn tell(&self, counted: Counted) {
        self.calls.store(counted.calls, Ordering::Relaxed);
        self.lost.store(counted.lost, Ordering::Relaxed);
    }

    pub(crate) fn now(&self) -> Counted {
        Counted {
            calls: self.calls.load(Ordering::Relaxed),
            lost: self.lost.load(Ordering::Relaxed),
        }
    }
}
