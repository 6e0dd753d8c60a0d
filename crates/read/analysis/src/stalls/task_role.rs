//! Role of a task on its stream.

use ascend_trace_format::api::{Fact, Role, TaskKind, Untimed};
use ascend_trace_recording::{Task, TaskId, Trace};

use crate::dependencies::{Dependencies, Node, runs};
use crate::released;

/// Role of a task on its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TaskRole {
    /// The device works.
    Work,
    /// The stream waits for an event.
    EventWait,
    /// The stream waits for a notify or a value in memory.
    SignalWait,
    /// The stream waits for a function that runs on the host.
    Callback,
    /// A position in the stream's order, which takes no time.
    Mark,
}

impl TaskRole {
    pub fn of(trace: &Trace, task: &Task) -> Self {
        let function = || trace.function(trace.call(task.call).function);
        match task.kind {
            TaskKind::Record => Self::Mark,
            TaskKind::Wait => Self::EventWait,
            TaskKind::HostFunc => Self::Callback,
            TaskKind::Notify | TaskKind::Value => match function().is(Fact::Awaits) {
                true => Self::SignalWait,
                false => Self::Mark,
            },
            TaskKind::Other if function().role == Role::ResetEvent => Self::Mark,
            _ => Self::Work,
        }
    }
}

/// Code of a creation by `aclrtCreateEventExWithFlag`: a wait for such an event does not block before its first record.
const CREATED_EX: u8 = 2;

/// Whether a wait really held its stream: it did not if its target was done before the wait was
/// reached.
pub(super) fn held_stream(trace: &Trace, dependencies: &Dependencies, id: TaskId) -> bool {
    let task = trace.task(id);
    let Some(time) = task.time else { return false };
    match released::tasks(trace, dependencies, Node::Task(id))
        .next()
        .map(|cause| trace.task(cause))
    {
        Some(record) => {
            let Some(recorded) = record.time else {
                return true;
            };
            // Times of one device need no comparison of clocks.
            let device = |stream| trace.stream(stream).device;
            let tolerance = match device(record.stream) == device(task.stream) {
                true => 0,
                false => recorded.error.saturating_add(time.error),
            };
            recorded.end.saturating_sub(tolerance) > time.begin
        }
        // A record that has no part in the window of its wait was over before that began.
        None if trace.has_past() && record_precedes_submission(trace, id) => false,
        None => {
            let event = trace.call(task.call).event;
            let was_recorded = |it: ascend_trace_recording::Generation| {
                it.number > 0 || trace.event(it.event).creation != CREATED_EX
            };
            event.is_none_or(was_recorded)
        }
    }
}

/// Whether the record that a wait waits for had been made when the wait was submitted.
fn record_precedes_submission(trace: &Trace, wait: TaskId) -> bool {
    let event = trace.call(trace.task(wait).call).event;
    event.is_some_and(|generation| generation.number > 0)
}

/// Whether a task without times can have kept its stream busy.
pub(super) fn takes_time(trace: &Trace, id: TaskId) -> bool {
    let task = trace.task(id);
    TaskRole::of(trace, task) != TaskRole::Mark
        && task.untimed != Untimed::Failed
        && runs(trace, id)
}
