//! The results of one sort of tasks, and which of them are in the file.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

use ascend_trace_format::record::figure::PairFigures;

use crate::timing::spread::{Spread, emit_learnt};

const UNREPORTED: u64 = u64::MAX;
/// Tasks that are this number of times as long as those of the samples show less: their own durations differ by more.
const FAR_LONGER: u32 = 4;

/// The device may take longer between two tasks than a pair adds, but not by more than this.
pub(super) const ZERO: u32 = 4_096;

/// Results of one sort of tasks.
pub(super) struct Values {
    /// The excess of a pair, less the time of the device between two tasks; more by [`ZERO`].
    pub(super) beyond: Spread,
    /// Samples that were added. It never falls.
    pub(super) added: AtomicU32,
    /// About the duration of the tasks of the samples.
    length: AtomicU32,
    /// The shortest task with its events: they take no longer.
    pub(super) shortest: AtomicU32,
    reported_added: AtomicU32,
    reported: AtomicU64,
    /// The present session has the results.
    is_reported: AtomicBool,
    reported_shortest: AtomicU32,
}

impl Values {
    pub(super) const fn new() -> Self {
        Self {
            beyond: Spread::with_zero(ZERO),
            added: AtomicU32::new(0),
            length: AtomicU32::new(u32::MAX),
            shortest: AtomicU32::new(u32::MAX),
            reported_added: AtomicU32::new(0),
            reported: AtomicU64::new(UNREPORTED),
            is_reported: AtomicBool::new(false),
            reported_shortest: AtomicU32::new(u32::MAX),
        }
    }

    pub(super) fn forget(&self) {
        if self.beyond.samples() > 0 {
            self.beyond.forget();
        }
        self.added.store(0, Relaxed);
        self.length.store(u32::MAX, Relaxed);
        self.shortest.store(u32::MAX, Relaxed);
        self.reported_added.store(0, Relaxed);
        self.reported.store(UNREPORTED, Relaxed);
        self.reported_shortest.store(u32::MAX, Relaxed);
    }

    /// Another session has none of the results.
    pub(super) fn tell_again(&self) {
        self.reported_added.store(0, Relaxed);
        self.is_reported.store(false, Relaxed);
        self.reported_shortest.store(u32::MAX, Relaxed);
    }

    /// A stretch of tasks of about `length` showed this.
    pub(super) fn add(&self, length: u32, beyond: i32) {
        let known = self.length.load(Relaxed);
        if length / FAR_LONGER > known {
            return;
        }
        if known == u32::MAX {
            self.length.store(length, Relaxed);
        } else if length < known / FAR_LONGER {
            self.length.store(length, Relaxed);
            self.beyond.forget();
        }
        self.beyond.add(ZERO.saturating_add_signed(beyond));
        self.added.fetch_add(1, Relaxed);
    }

    /// The median that was recorded last.
    pub(super) fn reported_median(&self) -> Option<i32> {
        let reported = self.reported.load(Relaxed);
        let median = (reported >> 32) as u32;
        (reported != UNREPORTED).then(|| median.wrapping_sub(ZERO) as i32)
    }

    /// Whether there are samples enough, if that takes this number.
    pub(super) fn has(&self, least: u32) -> bool {
        self.beyond.samples() >= least
    }

    pub(super) fn tell_shortest(&self, device: u32, figures: PairFigures) {
        let shortest = self.shortest.load(Relaxed);
        if self.reported_shortest.swap(shortest, Relaxed) != shortest {
            // It falls, and counters grow.
            let grows = u32::MAX.wrapping_sub(shortest);
            emit_learnt(figures.shortest, device, grows, shortest);
        }
    }

    /// `before` is the number of samples that were recorded in another place.
    pub(super) fn tell(&self, device: u32, figures: PairFigures, before: u32) {
        let added = self.added.load(Relaxed);
        // The summary takes a look at all steps of the spread.
        if self.reported_added.swap(added, Relaxed) == added {
            return;
        }
        let Some(known) = self.beyond.known() else {
            return;
        };
        let both = u64::from(known.median) << 32 | u64::from(known.open);
        let is_new = self.reported.swap(both, Relaxed) != both;
        if is_new | !self.is_reported.swap(true, Relaxed) {
            let beyond = known.median.wrapping_sub(ZERO);
            // Counters grow.
            let samples = added.saturating_add(before);
            emit_learnt(figures.beyond, device, samples, beyond);
            emit_learnt(figures.open, device, samples, known.open);
            emit_learnt(figures.mean, device, samples, known.mean_open);
        }
    }
}
