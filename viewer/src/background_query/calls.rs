//! Calls of a thread in a range of a recording, summed up by nesting.

use ascend_trace_analysis::calls::CallTree;
use ascend_trace_recording::recording::{SearchDirection, SearchResult, WindowError};
use ascend_trace_recording::{Recording, ThreadId, TimeRange, Trace};

use super::QueryPosition;
use crate::job::JobProgress;

#[derive(Debug)]
pub(crate) struct CallsQuery {
    pub(crate) thread: ThreadId,
    pub(crate) range: TimeRange,
    pub(crate) tree: CallTree,
}

impl CallsQuery {
    pub(super) fn advance(
        &mut self,
        course: &mut QueryPosition,
        recording: &mut Recording,
        keep_on: &mut dyn FnMut(JobProgress) -> bool,
    ) -> Result<bool, WindowError> {
        let (mut next, mut is_over) = (course.next, false);
        let end = self.range.end;
        let answer = recording.find(
            next,
            SearchDirection::Later,
            |_| true,
            |reached| {
                next = reached;
                is_over = reached > end;
                !is_over && keep_on(JobProgress::Moment(reached, false))
            },
            |trace: &Trace, own| {
                self.tree.add(trace, self.thread, self.range, own);
                None::<()>
            },
        )?;
        course.next = next;
        let is_done = is_over || answer == SearchResult::Nothing;
        if is_done {
            self.tree.close();
        }
        Ok(is_done)
    }
}
