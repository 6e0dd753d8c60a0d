//! A stream or a thread waited for an event that had never been recorded. The call succeeds and waits for nothing.
//! Work after it may run before the work that it should wait for. The result is then right or wrong by chance.
//!
//! Record the event before you submit the wait. If another thread records it, let that thread signal when it has.
//! Only events of `aclrtCreateEventExWithFlag` do this; PyTorch uses them. Some other events refuse the wait. Events
//! of `aclrtCreateEventWithFlag` with `ACL_EVENT_SYNC` hold the stream until the next record.

use ascend_trace_format::api::Role;
use ascend_trace_recording::{CallId, Trace};

use super::super::grouping::Groups;
use super::super::{Check, Finding};
use crate::Window;

/// `EventRow::creation` of `aclrtCreateEventExWithFlag`.
const MADE_EX: u8 = 2;

#[derive(Debug, Default)]
pub(super) struct UnrecordedEvent {
    groups: Groups<u32>,
}

impl Check for UnrecordedEvent {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        let trace = window.trace;
        for id in window.calls().filter(|id| wanted(*id)) {
            if let Some(serial) = unrecorded(trace, id) {
                self.groups.add(trace, id, serial, 0);
            }
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.groups).into_findings(|found, serial, _| {
            let what = format!(
                "{} waited for nothing: event {serial} had not been recorded",
                found.site.name
            );
            let advice = "record the event before the wait is submitted";
            (what, advice.to_owned())
        })
    }
}

/// The event for which a call waited in vain.
fn unrecorded(trace: &Trace, id: CallId) -> Option<u32> {
    let call = trace.call(id);
    let role = trace.function(call.function).role;
    let generation = call.event.filter(|generation| generation.number == 0)?;
    let event = trace.event(generation.event);
    let waits = matches!(role, Role::WaitEvent | Role::SyncEvent);
    (waits && event.creation == MADE_EX && call.result() == Some(0)).then_some(event.serial)
}
