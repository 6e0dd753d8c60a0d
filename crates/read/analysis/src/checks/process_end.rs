//! How processes ended: at the end of their work, or in the middle of it.

use std::collections::BTreeSet;

use ascend_trace_recording::{ProcessId, Trace};

/// Statuses from here on mean a signal.
const SIGNALLED: i32 = 128;

/// How a process ended, as far as the recording shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProcessEnd {
    /// Its status is that of success.
    Success,
    BySignal,
    /// It failed, or nothing shows the status: another process of the recording started it, or the recorder has not seen it.
    Unknown,
}

impl ProcessEnd {
    /// The status of a recording is that of the program that the tool started.
    pub(super) fn of(trace: &Trace, process: ProcessId) -> Self {
        let Some(status) = trace.exit_status() else {
            return Self::Unknown;
        };
        let processes = trace.processes();
        let is_first = |parent: u32| processes.iter().all(|it| it.pid != parent);
        let firsts = processes.iter().filter(|it| is_first(it.parent_pid));
        // After `exec`, a process is in the list again.
        let firsts: BTreeSet<u32> = firsts.map(|it| it.pid).collect();
        let is_only = firsts.len() == 1;
        match is_first(trace.process(process).parent_pid) {
            // Several programs share the status.
            true if status >= SIGNALLED && is_only => Self::BySignal,
            true if status == 0 => Self::Success,
            _ => Self::Unknown,
        }
    }
}
