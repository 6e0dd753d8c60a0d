//! The tasks that were submitted, or planned, in the work for requests.

use std::collections::BTreeMap;

use ascend_trace_recording::{Call, Task, ThreadId, TimeRange, Trace};

use super::plan::RequestPlan;
use super::rows::TimePoint;
use crate::Intervals;
use crate::estimate::Measured;

/// The tasks of one execution.
#[derive(Clone, Debug, Default)]
pub(super) struct DeviceWork {
    pub(super) tasks: u64,
    pub(super) untimed: u64,
    /// When they ran, where that is needed.
    pub(super) ran: Vec<TimeRange>,
    /// The errors of their durations together.
    pub(super) error: i64,
    /// The end of the last one.
    pub(super) end: Option<TimePoint>,
}

/// Parts of the times of an execution that are kept before those that touch are united.
const LOOSE: usize = 256;

impl DeviceWork {
    fn add(&mut self, task: &Task, needs_times: bool) {
        self.tasks += 1;
        let Some(time) = &task.time else {
            self.untimed += 1;
            return;
        };
        let end = TimePoint {
            at: time.end,
            error: time.error,
        };
        if self.end.is_none_or(|last| last.at < end.at) {
            self.end = Some(end);
        }
        if !needs_times {
            return;
        }
        self.error = self.error.saturating_add(Measured::of(time).open());
        self.ran.push(time.range());
        if self.ran.len().is_multiple_of(LOOSE) {
            self.ran = Intervals::union_of(self.ran.drain(..)).parts().to_vec();
        }
    }
}

/// Executions by thread, to find those around a call.
#[derive(Debug, Default)]
pub(super) struct ExecutionIndex {
    /// By begin, with the latest end until there.
    threads: BTreeMap<ThreadId, Vec<(TimeRange, i64, usize)>>,
}

impl ExecutionIndex {
    pub(super) fn of(plan: &RequestPlan) -> Self {
        let mut threads: BTreeMap<ThreadId, Vec<(TimeRange, i64, usize)>> = BTreeMap::new();
        for (place, execution) in plan.executions.iter().enumerate() {
            let own = threads.entry(execution.thread).or_default();
            let before = own.last().map_or(i64::MIN, |it| it.1);
            own.push((execution.time, before.max(execution.time.end), place));
        }
        Self { threads }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    /// The executions in which a task was submitted; without one, those in which it was planned: another thread may submit it.
    fn around(&self, trace: &Trace, task: &Task) -> Vec<usize> {
        let launch = trace.call(task.call);
        let submitted = self.around_call(launch);
        match trace.planned(launch) {
            Some(planned) if submitted.is_empty() => self.around_call(trace.call(planned)),
            _ => submitted,
        }
    }

    fn around_call(&self, call: &Call) -> Vec<usize> {
        let own = self.threads.get(&call.thread);
        let own = own.map_or(&[][..], Vec::as_slice);
        let begun = own.partition_point(|it| it.0.begin <= call.begin);
        let open = own.iter().take(begun).rev();
        let open = open.take_while(|it| it.1 > call.begin);
        let around = open.filter(|it| it.0.end > call.begin);
        around.map(|it| it.2).collect()
    }
}

/// Adds a task to the executions around it.
pub(super) fn add(
    (plan, index): (&RequestPlan, &ExecutionIndex),
    works: &mut [DeviceWork],
    trace: &Trace,
    task: &Task,
) {
    for place in index.around(trace, task) {
        if let (Some(work), Some(execution)) = (works.get_mut(place), plan.executions.get(place)) {
            work.add(task, execution.is_prefill);
        }
    }
}
