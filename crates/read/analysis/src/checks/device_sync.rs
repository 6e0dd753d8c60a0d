//! A call waited for the whole device, and a wait for one stream would do. Only that stream had work left, or only that stream
//! had copies to or from the host. In the second case the program goes on earlier. In the first case the wait takes as long, until
//! another stream gets work as well.
//!
//! Use `aclrtSynchronizeStream`. If you need only one task, use `aclrtSynchronizeEvent`. In PyTorch, use
//! `stream.synchronize()` or `event.synchronize()` instead of `torch.npu.synchronize()`.
//!
//! `check` reports calls that cost at least a thousandth of the program's time. Of several streams with work, it makes sure that no use
//! of memory or of an event loses its order without the rest of the wait, as `what-if --syncs` does. The host must not use
//! memory of the other streams before it waits for them.
//!
//! The last wait of a thread, after which it submits nothing, is left out: there it costs nothing. So are calls that give memory
//! back, such as `aclrtFreeWithDevSync`.

use std::collections::HashMap;

use ascend_trace_format::api::{ArgPart, Role, Untimed, WaitTarget};
use ascend_trace_recording::units::duration;
use ascend_trace_recording::{CallId, Direction, StreamId, ThreadId, Trace};

use super::super::grouping::Groups;
use super::super::happens_before::NotedCall;
use super::super::{Check, Finding, Remedy};
use crate::{Node, Window, released};

/// The stream for which a wait would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct NeededStream {
    number: i64,
    /// Other streams had work as well.
    is_one_of_several: bool,
}

#[derive(Debug, Default)]
pub(super) struct DeviceSync {
    groups: Groups<NeededStream>,
    /// The last wait of each thread, until the thread submits more.
    last: HashMap<ThreadId, (NotedCall, NeededStream)>,
    /// The end of the last wait of each thread.
    waited: HashMap<ThreadId, i64>,
    /// By stream: the begin of the last call that submitted a copy to or from the host.
    copies: HashMap<StreamId, i64>,
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
        let found = groups.into_groups().map(|(found, needed)| {
            let (name, stream) = (&found.site.name, needed.number);
            let time = duration(found.total_ns);
            let (what, remedy) = match needed.is_one_of_several {
                false => (
                    format!(
                        "{name} waited {time} for the device, on which stream {stream} alone was busy"
                    ),
                    Remedy::WaitForStream,
                ),
                true => (
                    format!(
                        "{name} waited {time} for the device, on which stream {stream} alone had copies to or from the host"
                    ),
                    Remedy::WaitForCopies,
                ),
            };
            Finding {
                what,
                advice: "wait for the stream or an event instead".to_owned(),
                remedy: Some(remedy),
                ..found
            }
        });
        found.collect()
    }
}

impl DeviceSync {
    fn take_call(&mut self, window: &Window<'_>, id: CallId, is_wanted: bool) {
        let trace = window.trace;
        let call = trace.call(id);
        if call.task.is_some() {
            if let Some((wait, needed)) = self.last.remove(&call.thread) {
                self.groups.add_note(trace, &wait, needed);
            }
            let is_of_host = matches!(
                trace.direction(call),
                Some(Direction::HostToDevice | Direction::DeviceToHost)
            );
            if let Some(stream) = call.stream.filter(|_| is_of_host) {
                self.copies.insert(stream, call.begin);
            }
        }
        let function = trace.function(call.function);
        let frees = [ArgPart::Freed, ArgPart::HostFreed].map(|part| function.part(part));
        let is_sync = function.role == Role::SyncDevice && frees == [None; 2];
        if is_sync
            && is_wanted
            && call.result() == Some(0)
            && let Some(needed) = self.needed_stream(window, id)
        {
            let wait = NotedCall::of(trace, id, true);
            // Nothing was submitted between this wait and the one before.
            self.last.insert(call.thread, (wait, needed));
        }
        if function.role.meaning().waits != WaitTarget::Nothing {
            self.waited.insert(call.thread, call.end);
        }
    }

    /// The only stream with work that ended during a call. If several have work, the only one of them with copies to or from the
    /// host since the thread has waited.
    fn needed_stream(&self, window: &Window<'_>, id: CallId) -> Option<NeededStream> {
        let trace: &Trace = window.trace;
        let busy = busy_streams(window, id);
        let since = self.waited.get(&trace.call(id).thread).copied();
        let has_copies = |it: &&StreamId| self.copies.get(it).copied() > since;
        let only = |streams: &[StreamId]| match streams {
            [one] => Some(*one),
            _ => None,
        };
        let is_one_of_several = busy.len() > 1;
        let needed = match is_one_of_several {
            true => only(&busy.iter().filter(has_copies).copied().collect::<Vec<_>>()),
            false => only(&busy),
        };
        needed.map(|it| NeededStream {
            number: trace.stream(it).number(),
            is_one_of_several,
        })
    }
}

/// The streams with work that ended during a call.
fn busy_streams(window: &Window<'_>, id: CallId) -> Vec<StreamId> {
    let trace: &Trace = window.trace;
    let begin = trace.call(id).begin;
    let mut busy: Vec<StreamId> = Vec::new();
    for task in released::tasks(trace, &window.dependencies, Node::Call(id)) {
        let task = trace.task(task);
        // A task without a time may have been running, unless it ended with its stream.
        let has_ended = matches!(task.untimed, Untimed::StreamGone | Untimed::ContextGone);
        let is_busy = |end: Option<i64>| end.map_or(!has_ended, |end| end > begin);
        if is_busy(task.time.map(|time| time.end)) && !busy.contains(&task.stream) {
            busy.push(task.stream);
        }
    }
    busy
}
