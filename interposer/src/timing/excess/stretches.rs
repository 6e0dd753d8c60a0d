//! When a stream gets a stretch of tasks that are timed as a whole.

use ascend_trace_format::record::figure::Work;

/// Whether the next tasks of a stream are timed as a whole: for who submits to it.
#[derive(Clone, Copy)]
pub(crate) struct Stretches {
    since: u32,
    left: u32,
    /// The sort of work that it began with.
    work: Option<Work>,
}

/// Tasks of a stretch that is made for this, and one stretch in this number of tasks of a stream.
const TASKS: u32 = 3;
const AT_ONCE: u32 = 16;
const SOON: u32 = 32;
const RARELY: u32 = 1024;
/// Number of stretches that are made at once, and soon.
pub(super) const FEW: u32 = 16;
pub(super) const ENOUGH: u32 = 40;
/// Number of tasks in the queue.
const LEAST_PENDING: usize = 32;

impl Stretches {
    pub(crate) const fn new() -> Self {
        Self {
            since: 0,
            left: 0,
            work: None,
        }
    }

    /// Whether a stretch has begun and is not over.
    pub(crate) fn is_under_way(&self) -> bool {
        self.left > 0
    }

    /// Whether the next task is one of a stretch; `is_known` if its duration with events is known.
    pub(crate) fn takes(
        &mut self,
        work: Work,
        pending: usize,
        is_known: bool,
        samples: u32,
    ) -> bool {
        if self.left > 0 {
            // A stretch of one sort of work shows more than a longer one.
            let is_long_enough = self.left < TASKS.wrapping_sub(1);
            let goes_on = self.work.is_none_or(|it| it == work) || !is_long_enough;
            self.left = if goes_on {
                self.left.wrapping_sub(1)
            } else {
                0
            };
            if goes_on {
                self.work = self.work.filter(|it| *it == work);
            }
            return goes_on;
        }
        self.since = self.since.saturating_add(1);
        let step = match samples {
            0..FEW => AT_ONCE,
            FEW..ENOUGH => SOON,
            _ => RARELY,
        };
        if self.since < step || !is_known || pending < LEAST_PENDING {
            return false;
        }
        *self = Self {
            since: 0,
            left: TASKS.wrapping_sub(1),
            work: Some(work),
        };
        true
    }
}
