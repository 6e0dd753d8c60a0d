//! Finding submissions that were held up by a full queue.
//!
//! A call does not say that the queue was full. It shows: the call takes long, a task of its stream
//! ends meanwhile and makes room, and as many tasks are pending as ever were at such a call.

use std::collections::HashMap;

use ascend_trace_format::api::Untimed;
use ascend_trace_model::{Call, StreamId, Trace};

use crate::dependencies::runs;

/// Submissions that return faster are not held up by anything.
const LONG_NS: i64 = 10_000;

/// No runtime has queues so short that fewer pending tasks fill them.
const LEAST: usize = 4;

/// The most tasks that were seen pending at a long submission, by stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Queues {
    depths: HashMap<StreamId, usize>,
}

impl Queues {
    /// Notes how deep the stream's queue was, if the call looks like one that waited for room.
    pub(super) fn learn(&mut self, trace: &Trace, call: &Call) {
        if let (Some(pending), Some(stream)) = (pending(trace, call), call.stream) {
            let depth = self.depths.entry(stream).or_default();
            *depth = pending.max(*depth);
        }
    }

    /// Whether the call waited for room in its stream's queue.
    pub(super) fn is_full(&self, trace: &Trace, call: &Call) -> bool {
        let (Some(pending), Some(stream)) = (pending(trace, call), call.stream) else {
            return false;
        };
        let depth = self.depths.get(&stream).copied().unwrap_or(0);
        pending >= depth - depth / 8
    }
}

/// How many tasks were pending when a long submission began, if one of them ended before it
/// returned.
fn pending(trace: &Trace, call: &Call) -> Option<usize> {
    let id = call.task?;
    let task = trace.task(id);
    let is_long = call.end - call.begin >= LONG_NS;
    if !is_long || task.untimed == Untimed::HostCopy || !runs(trace, id) {
        return None;
    }
    let tasks = trace.stream_tasks(task.stream);
    let before = tasks.partition_point(|it| trace.task(*it).sequence < task.sequence);
    let tasks = &tasks[..before];
    // What has no time ended no later than its neighbours, as far as this matters.
    let ended = |moment: i64| {
        tasks.partition_point(|it| trace.task(*it).time.is_some_and(|time| time.end <= moment))
    };
    let (early, late) = (ended(call.begin), ended(call.end));
    let pending = before - early;
    (late > early && pending >= LEAST).then_some(pending)
}
