//! A call waited for the whole device while only one stream had work left. A wait for that stream has the same
//! effect. If another stream gets work as well, a device sync waits for both streams, and a stream sync does not.
//!
//! Use `aclrtSynchronizeStream`. If you need only one task, use `aclrtSynchronizeEvent`. In PyTorch, use
//! `stream.synchronize()` or `event.synchronize()` instead of `torch.npu.synchronize()`.

use std::collections::HashSet;

use ascend_trace_format::api::WaitTarget;
use ascend_trace_recording::units::duration;
use ascend_trace_recording::{CallId, StreamId, Trace};

use super::super::grouping::Groups;
use super::super::{Check, Finding};
use crate::{EdgeKind, Node, Window};

#[derive(Debug, Default)]
pub(super) struct DeviceSync {
    groups: Groups<i64>,
}

impl Check for DeviceSync {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        let trace = window.trace;
        for id in window.calls().filter(|id| wanted(*id)) {
            let call = trace.call(id);
            let waits = trace.function(call.function).role.meaning().waits;
            if waits == WaitTarget::Device
                && call.result() == Some(0)
                && let Some(stream) = only_stream(window, id)
            {
                self.groups.add(trace, id, trace.stream(stream).number(), 0);
            }
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.groups).into_findings(|found, stream, _| {
            let what = format!(
                "{} waited {} for the device, on which stream {stream} alone was busy",
                found.site.name,
                duration(found.total_ns),
            );
            (what, "wait for the stream or an event instead".to_owned())
        })
    }
}

/// The only stream with work that ended during a call, if every other stream that it waited for had
/// finished before.
fn only_stream(window: &Window<'_>, id: CallId) -> Option<StreamId> {
    let trace: &Trace = window.trace;
    let begin = trace.call(id).begin;
    let mut busy: HashSet<StreamId> = HashSet::new();
    for edge in window.dependencies.incoming(trace, Node::Call(id)).iter() {
        let (EdgeKind::TaskToSync, Node::Task(task)) = (edge.kind, edge.from) else {
            continue;
        };
        let task = trace.task(task);
        // A task without a time may have been running.
        if task.time.is_none_or(|time| time.end > begin) {
            busy.insert(task.stream);
        }
    }
    let mut busy = busy.into_iter();
    busy.next().filter(|_| busy.next().is_none())
}
