//! The program launched a callback, and no thread of the program processed reports. `aclrtLaunchCallback` runs the
//! function on a thread that the program must provide. This thread subscribes to the stream's reports with
//! `aclrtSubscribeReport`, and calls `aclrtProcessReport`. Without it, the callback never runs, and a stream that
//! waits for the callback hangs. Another thread that processes reports does not help: it gets only the reports of streams that it subscribed to.
//!
//! Start such a thread before the first callback. Or use `aclrtLaunchHostFunc`, which needs none.

use std::collections::{HashMap, HashSet};

use ascend_trace_format::api::{ArgPart, Role, TaskKind};
use ascend_trace_recording::{CallId, ProcessId, ThreadId};

use super::super::{Check, Finding};
use crate::Window;
use crate::subscriptions::Subscriptions;

/// Facts about a process.
#[derive(Debug, Default)]
struct ProcessCallbacks {
    /// By launching thread, and by how the program names the one that is subscribed to the stream: the first callback, and
    /// how many there are.
    launched: HashMap<(ThreadId, Option<u64>), Finding>,
    /// The program's names of the threads that processed reports; 0 is one with an unknown name.
    reporters: HashSet<u64>,
}

impl ProcessCallbacks {
    /// Whether a thread ran the callbacks of the streams that this one is subscribed to.
    fn serves(&self, subscriber: Option<u64>) -> bool {
        match subscriber {
            Some(handle) => self.reporters.contains(&handle) || self.reporters.contains(&0),
            None => !self.reporters.is_empty(),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct UnservedCallback {
    processes: HashMap<ProcessId, ProcessCallbacks>,
    subscriptions: Subscriptions,
}

impl Check for UnservedCallback {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        let trace = window.trace;
        for id in window.calls() {
            let call = trace.call(id);
            let function = trace.function(call.function);
            let thread = trace.thread(call.thread);
            let process = thread.process;
            self.subscriptions.note(trace, call);
            if function.role == Role::ProcessReport {
                let seen = self.processes.entry(process).or_default();
                seen.reporters.insert(thread.handle);
                continue;
            }
            let task = call.task.map(|task| trace.task(task));
            let is_callback = task.is_some_and(|it| it.kind == TaskKind::HostFunc)
                && function.part(ArgPart::Blocking).is_some();
            if !is_callback || !wanted(id) {
                continue;
            }
            let launched = &mut self.processes.entry(process).or_default().launched;
            let this = Finding::of_call(trace, id);
            let subscriber = call.stream.and_then(|it| self.subscriptions.handle(it));
            launched
                .entry((call.thread, subscriber))
                .and_modify(|known| known.join(&this))
                .or_insert(this);
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        let processes = std::mem::take(&mut self.processes).into_values();
        let found = processes.flat_map(|mut seen| {
            let launched = std::mem::take(&mut seen.launched).into_iter();
            let unserved = launched.filter(|((_, subscriber), _)| !seen.serves(*subscriber));
            let has_no_reporter = seen.reporters.is_empty();
            unserved.map(|(_, finding)| found(finding, has_no_reporter)).collect::<Vec<_>>()
        });
        found.collect()
    }
}

fn found(finding: Finding, has_no_reporter: bool) -> Finding {
    let missing = match has_no_reporter {
        true => "no thread called",
        false => "the thread that is subscribed to the stream did not call",
    };
    Finding {
        what: format!(
            "{} launched callbacks, and {missing} aclrtProcessReport",
            finding.site.name
        ),
        advice: "process reports in a thread, or use aclrtLaunchHostFunc".to_owned(),
        ..finding
    }
}
