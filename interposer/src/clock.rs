//! The clock of the records: the counter that the collector chose for the session.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicU64};

use ascend_trace_format::session::TickSource;
use ascend_trace_format::time::{HostNs, Ticks};
use ascend_trace_ring::ticks::monotonic;

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

/// Both clocks when ticks were first asked about; 0 before.
static FIRST_TICKS: AtomicU64 = AtomicU64::new(0);
static FIRST_NS: AtomicU64 = AtomicU64::new(0);

/// Notes the readings of both clocks, so that ticks can be converted to nanoseconds later.
pub(crate) fn begin() {
    FIRST_NS.store(ascend_trace_ring::sys::monotonic(), Relaxed);
    FIRST_TICKS.store(ticks_directly(), Relaxed);
}

/// A number of ticks in nanoseconds, by the progress of the two clocks.
pub(crate) fn nanoseconds(count: u64) -> u64 {
    let passed_ns = monotonic().wrapping_sub(FIRST_NS.load(Relaxed));
    let passed = ticks().wrapping_sub(FIRST_TICKS.load(Relaxed)).max(1);
    (u128::from(count) * u128::from(passed_ns) / u128::from(passed)) as u64
}

/// The progress of both clocks until now, for many conversions: a reading of the clock and a division take longer than the rest.
#[derive(Clone, Copy)]
pub(crate) struct Rate {
    /// In this part of a nanosecond for each tick: a day is exact to a tenth of a microsecond.
    ratio: u128,
}

const RATE_SHIFT: u32 = 40;

/// Readings of two clocks that are this close together are at the same time.
const TOGETHER_NS: u64 = 1_000;
/// A thread may lose its processor between two readings, but seldom as often as this.
const READINGS: u32 = 4;

/// Nanoseconds and ticks of the same time.
fn both_clocks() -> (u64, u64) {
    let (mut best, mut least) = ((0, 0), u64::MAX);
    for _ in 0..READINGS {
        let (before, count) = (monotonic(), ticks());
        let apart = monotonic().wrapping_sub(before);
        if apart < least {
            (best, least) = ((before, count), apart);
        }
        if apart <= TOGETHER_NS {
            break;
        }
    }
    best
}

impl Rate {
    pub(crate) fn now() -> Self {
        let (now_ns, now) = both_clocks();
        let passed_ns = now_ns.wrapping_sub(FIRST_NS.load(Relaxed));
        let passed = now.wrapping_sub(FIRST_TICKS.load(Relaxed)).max(1);
        Self {
            ratio: (u128::from(passed_ns) << RATE_SHIFT) / u128::from(passed),
        }
    }

    /// The time at which the session's counter showed these ticks.
    pub(crate) fn moment(self, at: Ticks) -> HostNs {
        let begin = Ticks::new(FIRST_TICKS.load(Relaxed));
        let passed = u128::from(at.since(begin)).wrapping_mul(self.ratio) >> RATE_SHIFT;
        HostNs::new(FIRST_NS.load(Relaxed).wrapping_add(passed as u64) as i64)
    }
}

/// The time at which the session's counter showed these ticks.
pub(crate) fn moment(at: Ticks) -> HostNs {
    Rate::now().moment(at)
}
