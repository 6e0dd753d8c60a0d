//! Threads without recorded calls, for which recorded threads may wait: a loader prepares the next batch.
//!
//! The recorder knows how long each of them used a processor. Its work is unknown. If the program needs their results, then it takes
//! at least as long as the busiest of them works.

use std::cmp::Reverse;

use ascend_trace_recording::{OtherThread, TimeRange, Trace};
use schemars::JsonSchema;
use serde::Serialize;

/// Threads that work for a smaller part of the time are not reported, and no more than this number.
const LEAST_SHARE: f64 = 0.1;
const REPORTED: usize = 5;

/// A thread without recorded calls that worked for a large part of the time.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BusyThread {
    /// Number of the recorded process that has it, or that its process comes from.
    pub process: u32,
    pub pid: u32,
    pub tid: u32,
    pub name: String,
    /// About how long it used a processor while the recorded calls and tasks ran.
    pub work_ns: i64,
}

/// All of a recording.
#[derive(Debug, Default)]
pub(super) struct OtherThreads(Vec<OtherThread>);

impl OtherThreads {
    pub(super) fn of(trace: &Trace) -> Self {
        Self(trace.other_threads())
    }

    /// How long the busiest one used a processor.
    pub(super) fn most_work(&self, range: TimeRange) -> i64 {
        self.0.iter().map(|it| it.work_ns(range)).max().unwrap_or(0)
    }

    /// How often one of a process got a processor, at most.
    pub(super) fn most_runs(&self, process: u32, range: TimeRange) -> u64 {
        let own = self.0.iter().filter(|it| it.last().process == process);
        own.map(|it| it.runs(range)).max().unwrap_or(0)
    }

    /// The busy ones, the busiest first.
    pub(super) fn busy(&self, range: TimeRange) -> Vec<BusyThread> {
        let least = (range.duration() as f64 * LEAST_SHARE) as i64;
        let all = self.0.iter().map(|thread| {
            let row = thread.last();
            BusyThread {
                process: row.process,
                pid: row.pid,
                tid: row.tid,
                name: row.name,
                work_ns: thread.work_ns(range),
            }
        });
        let mut busy: Vec<BusyThread> = all.filter(|it| it.work_ns >= least.max(1)).collect();
        busy.sort_by_key(|it| (Reverse(it.work_ns), it.pid, it.tid));
        busy.truncate(REPORTED);
        busy
    }
}
