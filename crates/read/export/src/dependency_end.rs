//! The end of a dependency: a started task begins then, a released one ends then.
//!
//! A wait ends when its target is done, so both are read from clocks at the same time. Each reading has
//! the precision of its error bar, and the wait can seem to end slightly earlier. No arrow can be drawn
//! then: the wait is drawn until the begin of the task that released it, if the bars allow for that.

use ascend_trace_analysis::{EdgeKind, Node};
use ascend_trace_recording::{Task, TaskId, TaskTime, Trace};

use crate::ExportSource;
use crate::tracks::is_waiter;

/// When the slice of a task ends that has this time.
pub(crate) fn drawn_end(source: &ExportSource<'_>, id: TaskId, time: TaskTime) -> i64 {
    let trace = source.trace;
    let task = trace.task(id);
    if !is_waiter(trace, task) {
        return time.end;
    }
    let incoming = source.dependencies.stored_incoming(Node::Task(id));
    let begins = incoming.filter_map(|(_, edge)| match (edge.kind, edge.from) {
        (EdgeKind::RecordToWait | EdgeKind::SignalToWait, Node::Task(from)) => {
            let other = trace.task(from);
            let begin = other.time?.begin;
            let late = begin.saturating_sub(time.end);
            (late > 0 && late <= bars(trace, task, other)).then_some(begin)
        }
        _ => None,
    });
    begins.max().unwrap_or(time.end)
}

/// How far the times of two tasks may be off against each other.
fn bars(trace: &Trace, one: &Task, other: &Task) -> i64 {
    let place = |task: &Task| {
        let stream = trace.stream(task.stream);
        (stream.process, stream.device)
    };
    let is_near = place(one) == place(other);
    let bar = |task: &Task| {
        let bar = |time: TaskTime| {
            if is_near {
                time.local_error
            } else {
                time.error
            }
        };
        task.time.map_or(0, bar)
    };
    bar(one).saturating_add(bar(other))
}
