//! Reasons in words.

use ascend_trace_format::api::Untimed;
use ascend_trace_format::record::Manner;
use ascend_trace_recording::{ProcessId, Trace};

pub(crate) use crate::display_names::{arguments, result, stream};

/// Why a task has no device time.
pub(crate) fn untimed(reason: Untimed) -> &'static str {
    match reason {
        Untimed::Timed => "its time has not been read yet",
        Untimed::Off => "timing is off",
        Untimed::Captured => "it was captured into a graph, not run",
        Untimed::Bound => "its stream is bound to a model",
        Untimed::NoEvent => "no device event was left to time it",
        Untimed::Contended => "another thread was submitting to its stream",
        Untimed::Failed => "the call failed",
        Untimed::Unreadable => "the runtime did not return its time",
        Untimed::Lost => "the program ended before its time was read",
        Untimed::HostCopy => "the host copied it: there was no device task",
        Untimed::InCallback => "it was submitted inside a callback",
        Untimed::Unknown => "its stream was made before recording began",
        Untimed::NotSampled => "the tool had no events for it: --timing events times all tasks",
        Untimed::InRun => "it ran in a run of short tasks, which has one time for all of them",
        Untimed::ContextGone => "its context ended before its time was read",
        Untimed::StreamGone => "its stream ended before its time was read",
        Untimed::QueueFull => "its stream's queue was half full of the tool's events",
        Untimed::ContextFailed => "its context had failed: the tool makes no more queries there",
        Untimed::Behind => "too many tasks before it were not known to be done",
        Untimed::Grouped => "HcclGroupEnd submitted it with others",
        Untimed::InGroup => "its time is a part of that of HcclGroupEnd",
        Untimed::NotLogged => "the hardware log has no entry that certainly belongs to it",
    }
}

/// How `--timing auto` came to time the tasks of a stream.
pub(crate) fn manner(manner: Manner) -> &'static str {
    match manner {
        Manner::Events => "timed by two events",
        Manner::Chained => "timed by one event, since tasks here are short",
        Manner::Sampled => "some tasks are timed: events around all would take too long",
    }
}

/// Command line of the process, if known.
pub(crate) fn command(trace: &Trace, id: ProcessId) -> Option<String> {
    let process = trace.process(id);
    let words: Vec<&str> = process.command().collect();
    let (serial, pid) = (process.serial, process.pid);
    let command = words.join(" ");
    (!words.is_empty()).then(|| format!("process {serial} (pid {pid}): {command}"))
}
