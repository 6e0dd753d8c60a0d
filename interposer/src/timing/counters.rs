//! What measuring has put on the program's streams, for the trace to tell.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::record::Counter;

use crate::emit;

/// A number that only grows, and how much of it the trace knows.
pub(crate) struct Tally {
    what: Counter,
    value: AtomicU64,
    told: AtomicU64,
}

/// Events recorded on the program's streams.
pub(crate) static INJECTED: Tally = Tally::new(Counter::InjectedEvents);
/// Pairs that were given up unread.
pub(crate) static LOST: Tally = Tally::new(Counter::LostPairs);

impl Tally {
    const fn new(what: Counter) -> Self {
        Self {
            what,
            value: AtomicU64::new(0),
            told: AtomicU64::new(0),
        }
    }

    pub(crate) fn add(&self, count: u64) {
        self.value.fetch_add(count, Relaxed);
    }

    fn tell(&self) {
        let value = self.value.load(Relaxed);
        if self.told.swap(value, Relaxed) != value {
            emit::counter(self.what, value);
        }
    }

    fn forget(&self) {
        self.value.store(0, Relaxed);
        self.told.store(0, Relaxed);
    }
}

/// Tells the trace what is new. The thread must be marked busy.
pub(crate) fn tell() {
    INJECTED.tell();
    LOST.tell();
}

/// A forked child begins at nothing.
pub(crate) fn forget() {
    INJECTED.forget();
    LOST.forget();
}
