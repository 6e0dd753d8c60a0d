//! When tasks without a time probably ran: each after its launch and after the task before it on its stream, for its usual duration.
//!
//! Later tasks change nothing, so the parts in which a recording is read do not matter.

use ascend_trace_recording::{Task, TaskId, TimeRange, Trace};

use crate::TaskRole;
use crate::dependencies::is_pending;
use crate::estimate::{Comparability, Learner, RowRoom, RowTask};

/// The last task of a stream.
#[derive(Clone, Copy, Debug)]
struct LastTask {
    /// When it ended. `None` if that is not known.
    end: Option<i64>,
    sequence: u32,
}

/// The last task of each stream. Tasks of a stream come in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct FollowedStreams {
    last: Vec<Option<LastTask>>,
}

impl FollowedStreams {
    /// Takes in a task that ran. Returns the probable time of one without a time, and by how much its duration may be off: if it
    /// was launched at or after `launched`, tasks like it have times, and the end of the one before it is known.
    pub(super) fn take(
        &mut self,
        (trace, id): (&Trace, TaskId),
        launched: i64,
        learner: &mut Learner,
    ) -> Option<(TimeRange, i64)> {
        let task = trace.task(id);
        let before = self.end_before(task, launched);
        let placed = before.and_then(|before| {
            let is_known = task.time.is_none() && !is_pending(trace, id);
            let (usual, error) = is_known.then(|| learner.usual(trace, task))??;
            let task_of_row = RowTask {
                launched,
                usual,
                released: None,
            };
            let is_alike = Comparability::of(trace, task) == Comparability::Alike;
            is_alike.then(|| (RowRoom::open(before, usual).take(task_of_row), error))
        });
        let end = match (&task.time, &placed, TaskRole::of(trace, task)) {
            (Some(time), ..) => Some(time.end),
            (None, Some((range, _)), _) => Some(range.end),
            (None, None, TaskRole::Mark) => before,
            (None, None, _) => None,
        };
        self.note(task, end);
        placed
    }

    /// The end of the task before this one; before the first one, the begin of this one.
    fn end_before(&self, task: &Task, launched: i64) -> Option<i64> {
        match self.last.get(task.stream.index()).copied().flatten() {
            None => Some(launched),
            Some(last) => last
                .end
                .filter(|_| last.sequence.saturating_add(1) == task.sequence),
        }
    }

    fn note(&mut self, task: &Task, end: Option<i64>) {
        let stream = task.stream.index();
        if self.last.len() <= stream {
            self.last.resize(stream + 1, None);
        }
        let sequence = task.sequence;
        self.last[stream] = Some(LastTask { end, sequence });
    }
}
