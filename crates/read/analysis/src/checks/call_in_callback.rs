//! A callback called the runtime: it submitted work, waited, or allocated or freed memory. The runtime runs callbacks while
//! it waits for them, so such a call may wait for the callback itself. It then never returns.
//!
//! Let the callback wake another thread of the program, and make the calls there.
//!
//! The check knows callbacks that a thread of the program runs in `aclrtProcessReport`.
//!
//! Functions of `aclrtLaunchHostFunc` run in a thread of the runtime, and a recording does not say which one. The check takes a
//! thread for that one under these conditions:
//!
//! - each of its calls is in the time of a host function, as far as the error bars allow;
//! - calls are in five host functions or more, beyond the error bars;
//! - the pauses before these functions, in which no host function ran, are as long in sum as the functions.
//!
//! So mistakes in a few, very short or unmeasured host functions are not found. A call that never returns is not found, and
//! nothing is found in a process that lost calls or in a range of a recording.
//!
//! A thread of the program that makes calls only while host functions run looks the same. The finding is then
//! not true.

use std::collections::HashMap;

use ascend_trace_format::api::{ArgPart, WaitTarget};
use ascend_trace_recording::{CallId, Function, ThreadId, Trace};

use super::super::grouping::Groups;
use super::super::host_function_threads::HostFunctionThreads;
use super::super::happens_before::OrderFact;
use super::super::{Check, Finding};
use crate::Window;

#[derive(Debug, Default)]
pub(super) struct CallInCallback {
    /// By thread: until when its last call that ran callbacks lasted, and its depth.
    reports: HashMap<ThreadId, (i64, u8)>,
    groups: Groups<()>,
    hosted: HostFunctionThreads,
}

impl Check for CallInCallback {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        let trace = window.trace;
        for thread in (0..trace.threads().len() as u32).map(ThreadId) {
            let mut report = self.reports.get(&thread).copied();
            for id in window.thread_calls(thread) {
                let call = trace.call(id);
                let function = trace.function(call.function);
                if function.role.meaning().calls_back {
                    report = Some((call.end, call.depth));
                    continue;
                }
                let is_inside = report.is_some_and(|(end, depth)| {
                    call.begin < end && call.depth == depth.saturating_add(1)
                });
                if is_inside && may_wait(function) && wanted(id) {
                    self.groups.add(trace, id, (), 0);
                }
            }
            if let Some(report) = report {
                self.reports.insert(thread, report);
            }
        }
        let counts = |id: CallId| may_wait(trace.function(trace.call(id).function)) && wanted(id);
        self.hosted.take(window, counts);
    }

    fn judge(&mut self, _: &Trace, facts: &[OrderFact]) {
        for fact in facts {
            if let OrderFact::Unknown(process) = fact {
                self.hosted.doubt(*process);
            }
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        let groups = std::mem::take(&mut self.groups);
        let mut found = groups.into_findings(|found, (), _| {
            let what = format!("{} was called in a callback", found.site.name);
            let advice = "let the callback wake a thread of the program, and make the call there";
            (what, advice.to_owned())
        });
        let hosted = self.hosted.findings().into_iter();
        found.extend(hosted.map(|found| Finding {
            what: format!("{} was called in a host function", found.site.name),
            advice: "let the function wake a thread of the program, and make the call there"
                .to_owned(),
            ..found
        }));
        found
    }
}

/// Whether calls may have to wait for something that the runtime does.
fn may_wait(function: &Function) -> bool {
    let meaning = function.role.meaning();
    let memory = [
        ArgPart::Allocated,
        ArgPart::Freed,
        ArgPart::HostAllocated,
        ArgPart::HostFreed,
        ArgPart::PhysicalAllocated,
        ArgPart::PhysicalFreed,
    ];
    meaning.submits
        || meaning.drains
        || meaning.waits != WaitTarget::Nothing
        || memory.iter().any(|it| function.part(*it).is_some())
}
