//! Sums over a range of a recording, and the slowest instance of an operation in it.

use ascend_trace_analysis::Stats;
use ascend_trace_recording::recording::{SearchDirection, SearchResult, WindowError};
use ascend_trace_recording::{Recording, TimeRange, Trace};

use crate::item::CallOrTask;
use crate::rank;

use super::{FoundElsewhere, QueryPosition};
use crate::job::JobProgress;

/// Tables of a range. It starts over when it has to wait, since then another range is looked at.
#[derive(Debug)]
pub(crate) struct StatsQuery {
    pub(crate) range: TimeRange,
    pub(crate) stats: Option<Stats>,
}

impl StatsQuery {
    pub(super) fn advance(
        &mut self,
        recording: &mut Recording,
        keep_on: &mut dyn FnMut(JobProgress) -> bool,
    ) -> Result<bool, WindowError> {
        let on_progress = |reached| keep_on(JobProgress::Moment(reached, false));
        self.stats = Stats::of_recording(recording, Some(self.range), on_progress)?;
        Ok(self.stats.is_some())
    }
}

/// The longest task or call of a name in a range.
#[derive(Debug)]
pub(crate) struct SlowestQuery {
    pub(crate) name: String,
    pub(crate) task: bool,
    pub(crate) range: TimeRange,
    pub(crate) found: Option<(i64, FoundElsewhere)>,
}

impl SlowestQuery {
    pub(super) fn advance(
        &mut self,
        course: &mut QueryPosition,
        recording: &mut Recording,
        keep_on: &mut dyn FnMut(JobProgress) -> bool,
    ) -> Result<bool, WindowError> {
        let TimeRange { begin, end } = self.range;
        let mut next = course.next.max(begin);
        let mut is_over = false;
        let answer = recording.find(
            next,
            SearchDirection::Later,
            |_| true,
            |reached| {
                next = reached;
                is_over = reached > end;
                !is_over && keep_on(JobProgress::Moment(reached, false))
            },
            |trace, part| {
                self.take(trace, part);
                None::<()>
            },
        )?;
        course.next = next;
        Ok(is_over || answer == SearchResult::Nothing)
    }

    fn take(&mut self, trace: &Trace, part: TimeRange) {
        let is_wanted = |item: CallOrTask| {
            matches!(item, CallOrTask::Task(_)) == self.task
                && item.name(trace) == self.name
                && part.contains(item.span(trace).begin)
        };
        let Some(item) = rank::slowest(trace, is_wanted, self.range) else {
            return;
        };
        let length = item.length(trace);
        if self.found.as_ref().is_none_or(|(known, _)| length > *known) {
            self.found = Some((length, FoundElsewhere::of(trace, item)));
        }
    }
}
