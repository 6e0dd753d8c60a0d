//! An asynchronous copy uses pageable memory of the host: memory of `malloc`, of `new`, or of a tensor that is not
//! pinned. The device cannot read such memory. So the runtime waits until the stream is empty, and then copies
//! while the program waits inside the call. In spite of its name, the copy overlaps neither the host nor other
//! work of the stream.
//!
//! Allocate the memory with `aclrtMallocHost`, or pin it: in PyTorch `tensor.pin_memory()` and
//! `DataLoader(pin_memory=True)`.

use ascend_trace_format::api::Untimed;
use ascend_trace_recording::CallId;
use ascend_trace_recording::units::{bytes, duration};

use super::super::grouping::Groups;
use super::super::{Check, Finding};
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
                self.groups.add(trace, id, (), moved);
            }
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.groups).into_findings(|found, (), moved| {
            let what = format!(
                "{} copied {} of pageable memory and blocked for {}",
                found.site.name,
                bytes(moved),
                duration(found.total_ns),
            );
            (what, "allocate the memory with aclrtMallocHost, or pin it".to_owned())
        })
    }
}
