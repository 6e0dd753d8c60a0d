//! Times on devices' clocks, with columns that are made by hand.

use ascend_trace_format::api::Untimed;
use ascend_trace_format::record::kinds;

/// When a task ran, in the device's own time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskTimeRow {
    pub process: u32,
    pub stream: u32,
    pub sequence: u32,
    /// `Untimed` code; the times are 0 unless it is `Timed`.
    pub untimed: u8,
    pub begin_device_ns: i64,
    pub end_device_ns: i64,
    /// Host time at which the task had certainly completed.
    pub seen_ns: i64,
    /// The event before the task was submitted no earlier than this before the begin of the call
    /// that submitted the task; 0 when that is not known.
    pub arming_ns: u32,
    /// The event after the task was submitted no later than this after the begin of the call that
    /// submitted the task; 0 when that is not known.
    pub submitting_ns: u32,
    /// Duration of the event record after the task: its time is later than the end of the task by this.
    pub record_ns: u32,
    /// The error of that, and the resolution of both times in the runtime.
    pub record_open_ns: u32,
    /// Number of tasks that the two times enclose: this one and those after it on its stream. 0 or 1 for this one alone.
    pub run_tasks: u32,
}

/// A run has no more tasks than this. A row with more is damaged.
pub const MOST_RUN_TASKS: u32 = 1024;

impl TaskTimeRow {
    /// When a function of the program ran on the host, in nanoseconds after the begin of the call that submitted the task, and
    /// for how long. Then both columns of records have these.
    pub fn hosted(&self) -> Option<(i64, i64)> {
        let (after, lasted) = kinds::hosted_of(self.record_ns, self.record_open_ns)?;
        Some((after.cast_signed(), lasted.cast_signed()))
    }

    /// The number of tasks that its times are of, if these are several.
    pub fn run(&self) -> Option<u32> {
        let is_run = self.untimed == Untimed::Timed.code() && self.run_tasks > 1;
        is_run.then_some(self.run_tasks)
    }

    /// Nanoseconds that the event after the task took, and the error of that.
    pub fn record(&self) -> (i64, i64) {
        match self.hosted() {
            Some(_) => (0, 0),
            None => (self.record_ns.into(), self.record_open_ns.into()),
        }
    }
}

/// The device clock read `device_ns` somewhere between the two host times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnchorRow {
    pub process: u32,
    pub device: u32,
    pub before_ns: i64,
    pub after_ns: i64,
    pub device_ns: i64,
    /// An [`AnchorSource`](ascend_trace_format::api::AnchorSource) as a number.
    pub source: u8,
}
