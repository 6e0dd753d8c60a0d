//! An asynchronous copy uses pageable memory of the host: memory of `malloc`, of `new`, or of a tensor that is not
//! pinned. The device cannot read such memory. So the runtime waits until the stream is empty, and then copies
//! while the program waits inside the call. In spite of its name, the copy overlaps neither the host nor other
//! work of the stream.
//!
//! The time of a finding is that of the copies alone. A wait for earlier tasks of the stream does not count: with pinned memory,
//! a later call would wait for them. A task without a time may have ended at any time, so a copy after one counts with no time.
//!
//! Allocate the memory with `aclrtMallocHost`, or pin it: in PyTorch `tensor.pin_memory()` and
//! `DataLoader(pin_memory=True)`.

use ascend_trace_format::api::Untimed;
use ascend_trace_recording::units::{bytes, duration};
use ascend_trace_recording::{Call, CallId, Trace};

use super::super::grouping::Groups;
use super::super::{Check, Finding, Remedy};
use crate::Window;

#[derive(Debug, Default)]
pub(super) struct PageableCopy {
    groups: Groups<()>,
}

impl Check for PageableCopy {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        let trace = window.trace;
        for id in window.calls().filter(|id| wanted(*id)) {
            let call = trace.call(id);
            let task = call.task.map(|task| trace.task(task));
            if task.is_some_and(|task| task.untimed == Untimed::HostCopy) {
                let moved = trace.bytes(call).unwrap_or(0);
                let cost = copying(trace, call);
                self.groups.add_cost(trace, id, (), moved, cost);
            }
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        let groups = std::mem::take(&mut self.groups);
        let found = groups.into_findings(|found, (), moved| {
            let blocked = match found.total_ns {
                0 => "a time that is not known".to_owned(),
                time => duration(time),
            };
            let name = &found.site.name;
            let what = format!(
                "{name} copied {} of pageable memory and blocked for {blocked}",
                bytes(moved)
            );
            (
                what,
                "allocate the memory with aclrtMallocHost, or pin it".to_owned(),
            )
        });
        let remedy = Some(Remedy::PinnedMemory);
        let found = found.into_iter().map(|it| Finding { remedy, ..it });
        found.collect()
    }
}

/// How long a call copied, after the earlier tasks of its stream.
fn copying(trace: &Trace, call: &Call) -> i64 {
    let whole = call.end - call.begin;
    let Some(stream) = call.stream else {
        return whole;
    };
    let tasks = trace.stream_tasks(stream);
    let earlier = tasks.partition_point(|id| trace.call(trace.task(*id).call).begin < call.begin);
    let mut earlier = tasks[..earlier].iter().rev().map(|id| trace.task(*id));
    // Copies that the host made are done.
    let last = earlier.find(|it| it.untimed != Untimed::HostCopy && trace.runs(it));
    match last.map(|it| it.time) {
        None => whole,
        Some(None) => 0,
        Some(Some(time)) => call.end - time.end.clamp(call.begin, call.end),
    }
}
