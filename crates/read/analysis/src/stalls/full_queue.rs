//! Finding submissions that were held up by a full queue.
//!
//! A call does not say that the queue was full. It shows: the call takes long, a task of its stream
//! ends meanwhile and makes room, and about as many tasks are pending as the queue can hold. That depends on
//! nothing but the tasks of the stream that had not ended, so it is the same however much of a recording is read.

use ascend_trace_format::api::Untimed;
use ascend_trace_recording::{Call, TaskId, Trace};

use crate::dependencies::runs;

/// Submissions that return faster are not held up by anything.
const LONG_NS: i64 = 10_000;

/// No runtime has queues so short that fewer pending tasks fill them.
const LEAST: usize = 4;

/// The depth of the shortest queue of any chip (Ascend 310P), where the recording does not say it.
const SHORTEST: u32 = 1024;

/// A measured task takes up to three places of a queue: its place, and those of two events. The rest is
/// for ended tasks that were not yet removed.
const PLACES: u32 = 4;

/// With this number of pending tasks a queue can be full.
pub(crate) fn least_full(trace: &Trace) -> usize {
    let depth = trace.session().queue_depth.unwrap_or(SHORTEST);
    LEAST.max((depth / PLACES) as usize)
}

/// Whether a call waited for room in its stream's queue.
pub(super) fn is_full(trace: &Trace, call: &Call) -> bool {
    let depth = trace.session().queue_depth.unwrap_or(SHORTEST);
    let least = least_full(trace);
    // No more can be pending, and tasks that hide their ends are ignored from here on.
    let most = (depth as usize).max(LEAST) + 1;
    pending(trace, call, most).is_some_and(|pending| pending >= least)
}

/// How many of the last `most` tasks were pending when a long submission began, if one of them ended before
/// it returned.
fn pending(trace: &Trace, call: &Call, most: usize) -> Option<usize> {
    let id = call.task?;
    let task = trace.task(id);
    let is_long = call.end - call.begin >= LONG_NS;
    if !is_long || task.untimed == Untimed::HostCopy || !runs(trace, id) {
        return None;
    }
    let tasks = trace.stream_tasks(task.stream);
    let before = tasks.partition_point(|it| trace.task(*it).sequence < task.sequence);
    let tasks = &tasks[before.saturating_sub(most)..before];
    let ended = |moment: i64| {
        let is_over = |id: &TaskId| trace.task(*id).time.is_some_and(|it| it.end <= moment);
        tasks.iter().rposition(is_over).map_or(0, |place| place + 1)
    };
    let (early, late) = (ended(call.begin), ended(call.end));
    (late > early).then_some(tasks.len() - early)
}
