//! The program launched a callback, and no thread of the program processed reports. `aclrtLaunchCallback` runs the
//! function on a thread that the program must provide. This thread subscribes to the stream's reports with
//! `aclrtSubscribeReport`, and calls `aclrtProcessReport`. Without it, the callback never runs, and a stream that
//! waits for the callback hangs.
//!
//! Start such a thread before the first callback. Or use `aclrtLaunchHostFunc`, which needs none.

use std::collections::HashMap;

use ascend_trace_format::api::{Part, Role, TaskKind};
use ascend_trace_recording::{CallId, ProcessId, ThreadId};

use super::super::{Check, Finding};
use crate::Window;

/// What is known of a process.
#[derive(Debug, Default)]
struct Seen {
    /// By thread: its first callback, and how many it launched.
    launched: HashMap<ThreadId, Finding>,
    processes_reports: bool,
}

#[derive(Debug, Default)]
pub(super) struct UnservedCallback {
    processes: HashMap<ProcessId, Seen>,
}

impl Check for UnservedCallback {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        let trace = window.trace;
        for id in window.calls() {
            let call = trace.call(id);
            let function = trace.function(call.function);
            let process = trace.thread(call.thread).process;
            if function.role == Role::ProcessReport {
                self.processes.entry(process).or_default().processes_reports = true;
                continue;
            }
            let task = call.task.map(|task| trace.task(task));
            let is_callback = task.is_some_and(|it| it.kind == TaskKind::HostFunc)
                && function.part(Part::Blocking).is_some();
            if !is_callback || !wanted(id) {
                continue;
            }
            let launched = &mut self.processes.entry(process).or_default().launched;
            let this = Finding::of_call(trace, id);
            launched
                .entry(call.thread)
                .and_modify(|known| known.join(&this))
                .or_insert(this);
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        let processes = std::mem::take(&mut self.processes).into_values();
        let unserved = processes.filter(|seen| !seen.processes_reports);
        let found = unserved.flat_map(|seen| seen.launched.into_values());
        found
            .map(|finding| Finding {
                what: format!(
                    "{} launched callbacks, and no thread called aclrtProcessReport",
                    finding.site.name
                ),
                advice: "process reports in a thread, or use aclrtLaunchHostFunc".to_owned(),
                ..finding
            })
            .collect()
    }
}
