//! A thread recorded an event again while another thread was waiting for the event. The waiting call may return
//! after the first record or after the second one. The work that the waiting thread knows to be done is then a matter of chance.
//!
//! Use one event for each thing that a thread waits for, or record again when the waiting thread has returned.

use ascend_trace_format::api::Role;
use ascend_trace_recording::{CallId, Trace};

use super::super::happens_before::NotedCall;
use super::super::wait_overlap::{Overlaps, waiter};
use super::super::{Check, Finding};
use crate::Window;

#[derive(Debug, Default)]
pub(super) struct RecordedWhileWaited {
    overlaps: Overlaps,
}

impl Check for RecordedWhileWaited {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        self.overlaps.take(window, wanted, Role::RecordEvent, words);
    }

    fn findings(&mut self) -> Vec<Finding> {
        self.overlaps.findings()
    }
}

fn words(trace: &Trace, call: &NotedCall, wait: &NotedCall) -> (String, String) {
    let name = &trace.function(call.function).name;
    let what = format!("{name} recorded an event again while {}", waiter(trace, wait));
    let advice = "use another event, or record it when that call has returned";
    (what, advice.to_owned())
}
