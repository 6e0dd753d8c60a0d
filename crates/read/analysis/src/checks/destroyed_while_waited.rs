//! A thread destroyed an event while another thread was waiting for the event inside the runtime. An event may be
//! destroyed while streams wait for it, but not while another call uses it: the waiting call may read freed memory.
//!
//! Destroy the event when the waiting thread has returned from its call.

use ascend_trace_format::api::Role;
use ascend_trace_recording::{CallId, Trace};

use super::super::happens_before::NotedCall;
use super::super::wait_overlap::{Overlaps, waiter};
use super::super::{Check, Finding};
use crate::Window;

#[derive(Debug, Default)]
pub(super) struct DestroyedWhileWaited {
    overlaps: Overlaps,
}

impl Check for DestroyedWhileWaited {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        self.overlaps
            .take(window, wanted, Role::DestroyEvent, words);
    }

    fn findings(&mut self) -> Vec<Finding> {
        self.overlaps.findings()
    }
}

fn words(trace: &Trace, call: &NotedCall, wait: &NotedCall) -> (String, String) {
    let name = &trace.function(call.function).name;
    let what = format!("{name} destroyed an event while {}", waiter(trace, wait));
    let advice = "destroy the event when that call has returned";
    (what, advice.to_owned())
}
