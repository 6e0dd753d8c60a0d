//! When the target of a blocking call was done: from then on the call only had to return.

use ascend_trace_format::api::{Role, WaitTarget};
use ascend_trace_recording::{Call, CallId, TaskId, Trace};

use super::task_role::takes_time;
use crate::dependencies::{Dependencies, Node, is_pending, runs};
use crate::released::{self, ReleaseKind};

/// Marks without a time that are looked behind for the work before them.
const MARKS: usize = 256;

/// When the target of a call was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Release {
    /// At this time, within the error bar of the last task. It may be before the call.
    At(i64),
    /// Not while the call waited, or unknown.
    Unknown,
    /// The time of a task is still to be read.
    Pending,
}

impl Release {
    /// When both were done.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Pending, _) | (_, Self::Pending) => Self::Pending,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::At(one), Self::At(other)) => Self::At(one.max(other)),
        }
    }
}

/// When the call had nothing more to wait for. It began to wait at `begin`.
pub(super) fn release(
    trace: &Trace,
    dependencies: &Dependencies,
    (id, begin): (CallId, i64),
) -> Release {
    let call = trace.call(id);
    let role = trace.function(call.function).role;
    let mut found = None;
    for row in released::of(trace, dependencies, Node::Call(id)) {
        let next = match (row.kind, row.by) {
            (ReleaseKind::Replay, Node::Task(task)) => done(trace, task),
            (kind, Node::Task(task)) if kind.is_sync() => done(trace, task),
            // It gave up before.
            (ReleaseKind::GaveUp, _) => Release::Unknown,
            _ => continue,
        };
        found = Some(found.map_or(next, |it: Release| it.and(next)));
    }
    match found.unwrap_or_else(|| nothing_found(trace, call, role)) {
        // The rest of the recording may contain its target.
        Release::At(moment) if moment < begin && !trace.reaches(call.end) => Release::Unknown,
        found => found,
    }
}

/// When a task was done. One without a time that takes none was done with the work before it.
fn done(trace: &Trace, id: TaskId) -> Release {
    let tasks = trace.stream_tasks(trace.task(id).stream);
    let sequence = trace.task(id).sequence;
    let upto = tasks.partition_point(|it| trace.task(*it).sequence <= sequence);
    let mut expected = sequence;
    for id in tasks[..upto].iter().rev().take(MARKS) {
        let task = trace.task(*id);
        if task.sequence < expected {
            return Release::Unknown;
        }
        if let Some(time) = task.time {
            return Release::At(time.end);
        }
        if is_pending(trace, *id) {
            return match trace.end() {
                None => Release::Pending,
                Some(_) => Release::Unknown,
            };
        }
        if takes_time(trace, *id) {
            return Release::Unknown;
        }
        // One that does not run has the sequence of the next that does.
        expected = match runs(trace, *id) {
            true => task.sequence.saturating_sub(1),
            false => task.sequence,
        };
    }
    Release::Unknown
}

/// No task is known that the call waited for.
fn nothing_found(trace: &Trace, call: &Call, role: Role) -> Release {
    let is_named = match role.meaning().waits {
        WaitTarget::Stream => call.stream.is_some(),
        // The target of a copy by the host is known from its stream.
        WaitTarget::Nothing if role == Role::Task => call.stream.is_some(),
        WaitTarget::Device => call.context.is_some() || call.device.is_some(),
        WaitTarget::Event => match call.event {
            // It had not been recorded.
            Some(generation) if generation.number == 0 => true,
            Some(_) if trace.has_past() => true,
            Some(_) if trace.end().is_none() => return Release::Pending,
            _ => false,
        },
        _ => false,
    };
    let is_all_there = trace.losses().calls == 0;
    match is_named && is_all_there {
        true => Release::At(i64::MIN),
        false => Release::Unknown,
    }
}
