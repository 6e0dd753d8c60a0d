//! Stalls of a stream: waits at its head, and gaps between its tasks.

use ascend_trace_format::api::{TaskKind, Untimed};
use ascend_trace_model::{StreamId, Task, TaskId, TaskTime, Trace};

use super::{Cause, IDLE_FLOOR_NS, Lane, Stall};
use crate::dependencies::{Node, is_pending, runs};

/// The stalls of one stream, and where the search for more stands.
#[derive(Clone, Debug, Default)]
pub(super) struct StreamStalls {
    pub(super) stalls: Vec<Stall>,
    next: usize,
    /// End of the last timed task.
    busy_until: Option<i64>,
    /// Something that takes device time but has no times ran since then.
    blind: bool,
}

impl StreamStalls {
    /// Follows the stream's tasks, up to one whose time may still come unless all is `finished`.
    pub(super) fn advance(&mut self, trace: &Trace, stream: StreamId, finished: bool) {
        let tasks = trace.stream_tasks(stream);
        while let Some(&id) = tasks.get(self.next) {
            if is_pending(trace, id) && !finished {
                return;
            }
            self.next += 1;
            let task = trace.task(id);
            match task.time {
                Some(time) => self.timed(trace, id, time),
                None => self.blind |= takes_time(trace, id, task),
            }
        }
    }

    fn timed(&mut self, trace: &Trace, id: TaskId, time: TaskTime) {
        let task = trace.task(id);
        if let Some(idle_since) = self.busy_until
            && time.begin - idle_since >= IDLE_FLOOR_NS
        {
            let submitted = trace.call(task.call).begin;
            let cause = match submitted > idle_since && !self.blind {
                true => Cause::HostLate,
                false => Cause::Unknown,
            };
            self.push(id, task.stream, (idle_since, time.begin), cause);
        }
        // Mapped times can put the begin a little before the previous end; lanes do not overlap.
        let begin = self
            .busy_until
            .map_or(time.begin, |until| until.max(time.begin));
        if task.kind == TaskKind::Wait && begin < time.end {
            self.push(id, task.stream, (begin, time.end), Cause::EventWait);
        }
        self.busy_until = Some(
            self.busy_until
                .map_or(time.end, |until| until.max(time.end)),
        );
        self.blind = false;
    }

    fn push(&mut self, task: TaskId, stream: StreamId, (begin, end): (i64, i64), cause: Cause) {
        self.stalls.push(Stall {
            lane: Lane::Stream(stream),
            begin,
            end,
            cause,
            node: Node::Task(task),
        });
    }
}

/// Whether a task without times can have kept its stream busy. Records take no device time.
fn takes_time(trace: &Trace, id: TaskId, task: &Task) -> bool {
    task.kind != TaskKind::Record && task.untimed != Untimed::Failed && runs(trace, id)
}
