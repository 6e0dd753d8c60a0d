//! Who kept a lane waiting.

use std::cmp::Reverse;

use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::{CallId, Generation, StreamId, TaskId, Trace};

use super::task_role::TaskRole;
use super::{Cause, Lane, Stall};
use crate::dependencies::{Dependencies, Node, runs};
use crate::released;

/// End of a stall, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Culprit {
    /// The event that was waited for.
    pub event: Option<Generation>,
    /// The stream that was waited for.
    pub stream: Option<StreamId>,
    /// The record of that event, or what set the notify or the value.
    pub record: Option<TaskId>,
    /// The last piece of work that was waited for.
    pub task: Option<TaskId>,
    /// The call that came late.
    pub call: Option<CallId>,
}

impl Stall {
    /// The culprit. Later times can change the result for a device sync.
    pub fn culprit(&self, trace: &Trace, dependencies: &Dependencies) -> Culprit {
        match (self.cause, self.node) {
            (Cause::HostLate | Cause::GraphLaunch, Node::Task(task)) => Culprit {
                call: Some(trace.task(task).call),
                ..Culprit::default()
            },
            (Cause::EventWait | Cause::SignalWait | Cause::HostSync, node) => {
                awaited(trace, dependencies, node, self)
            }
            (Cause::ReturnLatency, Node::Call(call)) => Culprit {
                call: Some(call),
                ..Culprit::default()
            },
            // Behind the function, only the next task is known.
            (Cause::Callback, Node::Task(task)) if trace.task(task).kind == TaskKind::HostFunc => {
                Culprit {
                    task: Some(task),
                    call: Some(trace.task(task).call),
                    ..Culprit::default()
                }
            }
            _ => Culprit::default(),
        }
    }
}

/// The target of a waiting task or call, in the time of a stall.
pub(super) fn awaited(
    trace: &Trace,
    dependencies: &Dependencies,
    node: Node,
    stall: &Stall,
) -> Culprit {
    let call = match node {
        Node::Task(task) => trace.task(task).call,
        Node::Call(call) => call,
    };
    let mut culprit = Culprit {
        event: trace.call(call).event,
        ..Culprit::default()
    };
    let Some(last) = last_cause(trace, dependencies, node) else {
        return culprit;
    };
    culprit.stream = Some(trace.task(last).stream);
    let is_record = trace.task(last).kind == TaskKind::Record || matches!(node, Node::Task(_));
    culprit.record = is_record.then_some(last);
    culprit.task = work_until(trace, last).filter(|task| !is_over(trace, *task, stall));
    if culprit.event.is_none() {
        culprit.event = culprit
            .record
            .and_then(|it| trace.call(trace.task(it).call).event);
    }
    culprit
}

/// The error bar of the end of a call's waiting, where the stall begins or ends there.
pub(super) fn split_error(
    trace: &Trace,
    dependencies: &Dependencies,
    stall: &Stall,
) -> Option<i64> {
    let Node::Call(id) = stall.node else {
        return None;
    };
    let call = trace.call(id);
    let polls = trace.function(call.function).role.asks_for_an_end();
    let is_split = match stall.cause {
        Cause::HostSync => stall.end < call.end,
        Cause::ReturnLatency if polls => true,
        Cause::ReturnLatency | Cause::HostCopy => stall.begin > call.begin,
        _ => false,
    };
    let last = last_cause(trace, dependencies, stall.node)?;
    let time = trace.task(last).time.filter(|_| is_split)?;
    Some(time.error)
}

/// The task that released a wait last; one with an unknown time counts as the latest.
fn last_cause(trace: &Trace, dependencies: &Dependencies, waiter: Node) -> Option<TaskId> {
    let tasks = released::tasks(trace, dependencies, waiter);
    // Of several that ended at the same time, the newest one comes first.
    tasks.min_by_key(|task| Reverse(trace.task(*task).time.map_or(i64::MAX, |time| time.end)))
}

/// The last task up to `task` on its stream that is more than a mark in it.
pub(crate) fn work_until(trace: &Trace, task: TaskId) -> Option<TaskId> {
    let tasks = trace.stream_tasks(trace.task(task).stream);
    let sequence = trace.task(task).sequence;
    let upto = tasks.partition_point(|other| trace.task(*other).sequence <= sequence);
    let mut earlier = tasks[..upto].iter().rev().copied();
    earlier.find(|other| {
        TaskRole::of(trace, trace.task(*other)) != TaskRole::Mark && runs(trace, *other)
    })
}

/// Whether a task had ended, beyond its error bar, before a stall began: then it held nothing up.
pub(super) fn is_over(trace: &Trace, task: TaskId, stall: &Stall) -> bool {
    let task = trace.task(task);
    let Some(time) = task.time else { return false };
    let device = trace.stream(task.stream).device;
    let bar = match stall.lane {
        Lane::Stream(stream) if trace.stream(stream).device == device => time.local_error,
        _ => time.error,
    };
    time.end.saturating_add(bar) < stall.begin
}
