//! The longest stalls, which the lanes highlight without a request.

use ascend_trace_analysis::{Stall, Stalls};

use crate::item::CallOrTask;

/// How many stand out: those that head the list of the longest stalls.
const COUNT: usize = 3;

/// The longest stalls of a recording, or of the part of it that is loaded; the longest one first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LongestStalls(Vec<Stall>);

impl LongestStalls {
    pub(crate) fn of(stalls: &Stalls) -> Self {
        let is_wanted = |stall: &Stall| stall.is_notable() && !stalls.continues(stall);
        let worst = stalls.worst_where(COUNT, is_wanted);
        Self(worst.into_iter().copied().collect())
    }

    pub(crate) fn longest(&self) -> Option<&Stall> {
        self.0.first()
    }

    /// Whether a stall is one of them. One that still grows is known by where it began.
    pub(crate) fn has(&self, stall: &Stall) -> bool {
        let is_it =
            |it: &Stall| (it.lane, it.begin, it.node) == (stall.lane, stall.begin, stall.node);
        self.0.iter().any(is_it)
    }

    /// Whether a wait or a call that blocked is one of them.
    pub(crate) fn has_item(&self, item: CallOrTask) -> bool {
        let mut items = self.0.iter().filter(|stall| !stall.is_gap());
        items.any(|stall| CallOrTask::from(stall.node) == item)
    }
}
