//! The clock of the records: whatever counter the collector chose for the session.

use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::session::TickSource;

static COUNTER: AtomicBool = AtomicBool::new(false);

pub(crate) fn choose(source: TickSource) {
    COUNTER.store(source == TickSource::Counter, Relaxed);
}

/// Now, in the session's ticks.
#[inline(always)]
pub(crate) fn ticks() -> u64 {
    if COUNTER.load(Relaxed) {
        ascend_trace_ring::ticks::counter()
    } else {
        slow_ticks()
    }
}

/// Apart, so that wrappers do not step over it.
#[cold]
#[inline(never)]
fn slow_ticks() -> u64 {
    ascend_trace_ring::ticks::monotonic()
}

/// Now, without the C library, which may not be ready while the session is being joined.
pub(crate) fn ticks_directly() -> u64 {
    if COUNTER.load(Relaxed) {
        ascend_trace_ring::ticks::counter()
    } else {
        ascend_trace_ring::sys::monotonic()
    }
}

/// Now, and not before everything that stands before it is done.
pub(crate) fn ticks_after_all() -> u64 {
    if COUNTER.load(Relaxed) {
        ascend_trace_ring::ticks::counter_after_all()
    } else {
        ascend_trace_ring::ticks::monotonic()
    }
}
