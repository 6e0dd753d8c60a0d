//! A call waited for the whole device while only one stream had work left. A wait for that stream has the same
//! effect. If another stream gets work as well, a device sync waits for both streams, and a stream sync does not.
//!
//! Use `aclrtSynchronizeStream`. If you need only one task, use `aclrtSynchronizeEvent`. In PyTorch, use
//! `stream.synchronize()` or `event.synchronize()` instead of `torch.npu.synchronize()`.
//!
//! The last wait of a thread, after which it submits nothing, is left out: there it costs nothing. So are calls that give memory
//! back, such as `aclrtFreeWithDevSync`.

use std::collections::{HashMap, HashSet};

use ascend_trace_format::api::{ArgPart, Role, Untimed};
use ascend_trace_recording::units::duration;
use ascend_trace_recording::{CallId, StreamId, ThreadId, Trace};

use super::super::grouping::Groups;
use super::super::happens_before::NotedCall;
use super::super::{Check, Finding, Remedy};
use crate::{Node, Window, released};

#[derive(Debug, Default)]
pub(super) struct DeviceSync {
    groups: Groups<i64>,
    /// The last wait of each thread, and its stream, until the thread submits more.
    last: HashMap<ThreadId, (NotedCall, i64)>,
}

impl Check for DeviceSync {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        let trace = window.trace;
        for thread in (0..trace.threads().len() as u32).map(ThreadId) {
            for id in window.thread_calls(thread) {
                self.take_call(window, id, wanted(id));
            }
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        let groups = std::mem::take(&mut self.groups);
        let found = groups.into_findings(|found, stream, _| {
            let what = format!(
                "{} waited {} for the device, on which stream {stream} alone was busy",
                found.site.name,
                duration(found.total_ns),
            );
            (what, "wait for the stream or an event instead".to_owned())
        });
        let remedy = Some(Remedy::WaitForStream);
        let found = found.into_iter().map(|it| Finding { remedy, ..it });
        found.collect()
    }
}

impl DeviceSync {
    fn take_call(&mut self, window: &Window<'_>, id: CallId, is_wanted: bool) {
        let trace = window.trace;
        let call = trace.call(id);
        if call.task.is_some()
            && let Some((wait, stream)) = self.last.remove(&call.thread)
        {
            self.groups.add_note(trace, &wait, stream);
        }
        let function = trace.function(call.function);
        let frees = [ArgPart::Freed, ArgPart::HostFreed].map(|part| function.part(part));
        let is_sync = function.role == Role::SyncDevice && frees == [None; 2];
        if is_sync
            && is_wanted
            && call.result() == Some(0)
            && let Some(stream) = only_stream(window, id)
        {
            let wait = (NotedCall::of(trace, id, true), trace.stream(stream).number());
            // Nothing was submitted between this wait and the one before.
            self.last.insert(call.thread, wait);
        }
    }
}

/// The only stream with work that ended during a call, if every other stream that it waited for had
/// finished before.
fn only_stream(window: &Window<'_>, id: CallId) -> Option<StreamId> {
    let trace: &Trace = window.trace;
    let begin = trace.call(id).begin;
    let mut busy: HashSet<StreamId> = HashSet::new();
    for task in released::tasks(trace, &window.dependencies, Node::Call(id)) {
        let task = trace.task(task);
        // A task without a time may have been running, unless it ended with its stream.
        let has_ended = matches!(task.untimed, Untimed::StreamGone | Untimed::ContextGone);
        let is_busy = |end: Option<i64>| end.map_or(!has_ended, |end| end > begin);
        if is_busy(task.time.map(|time| time.end)) {
            busy.insert(task.stream);
        }
    }
    let mut busy = busy.into_iter();
    busy.next().filter(|_| busy.next().is_none())
}
