//! A callback called the runtime: it submitted work, waited, or allocated or freed memory. The runtime runs callbacks while
//! it waits for them, so such a call may wait for the callback itself. It then never returns.
//!
//! Let the callback wake another thread of the program, and make the calls there.
//!
//! The check knows callbacks that a thread of the program runs in `aclrtProcessReport`. It does not know functions of
//! `aclrtLaunchHostFunc`: a thread of the runtime runs them.

use std::collections::HashMap;

use ascend_trace_format::api::{Part, Waits};
use ascend_trace_recording::{CallId, Function, ThreadId};

use super::super::grouping::Groups;
use super::super::{Check, Finding};
use crate::Window;

#[derive(Debug, Default)]
pub(super) struct CallInCallback {
    /// By thread: until when its last call that ran callbacks lasted, and its depth.
    reports: HashMap<ThreadId, (i64, u8)>,
    groups: Groups<()>,
}

impl Check for CallInCallback {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        let trace = window.trace;
        for thread in (0..trace.threads().len() as u32).map(ThreadId) {
            for id in window.thread_calls(thread) {
                let call = trace.call(id);
                let function = trace.function(call.function);
                if function.role.meaning().calls_back {
                    self.reports.insert(thread, (call.end, call.depth));
                    continue;
                }
                let report = self.reports.get(&thread);
                let is_inside = report.is_some_and(|(end, depth)| {
                    call.begin < *end && call.depth == depth.saturating_add(1)
                });
                if is_inside && may_wait(function) && wanted(id) {
                    self.groups.add(trace, id, (), 0);
                }
            }
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.groups).into_findings(|found, (), _| {
            let what = format!("{} was called in a callback", found.site.name);
            let advice = "let the callback wake a thread of the program, and make the call there";
            (what, advice.to_owned())
        })
    }
}

/// Whether calls may have to wait for something that the runtime does.
fn may_wait(function: &Function) -> bool {
    let meaning = function.role.meaning();
    let memory = [
        Part::Allocated,
        Part::Freed,
        Part::HostAllocated,
        Part::HostFreed,
    ];
    meaning.submits
        || meaning.drains
        || meaning.waits != Waits::Nothing
        || memory.iter().any(|it| function.part(*it).is_some())
}
