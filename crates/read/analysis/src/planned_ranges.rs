//! The ranges in which work was planned: the requests of a step, a phase or a module.

use ascend_trace_format::range::{RangeKind, step_number};
use ascend_trace_recording::{ProcessId, Range, Task, ThreadId, TimeRange, Trace};
use rustc_hash::FxHashMap;

use crate::Nesting;

/// The ranges of a trace by thread, and which thread of each process has the phases and steps: what other threads
/// plan, autograd's for one, is a part of those.
#[derive(Clone, Debug, Default)]
pub struct PlannedRanges {
    nesting: Nesting,
    leaders: FxHashMap<ProcessId, ThreadId>,
}

impl PlannedRanges {
    pub fn of(trace: &Trace) -> Self {
        Self::with(trace, Nesting::of(trace))
    }

    /// The same for an interval alone.
    pub fn within(trace: &Trace, interval: impl Into<TimeRange>) -> Self {
        Self::with(trace, Nesting::within(trace, interval))
    }

    fn with(trace: &Trace, nesting: Nesting) -> Self {
        let mut leaders = FxHashMap::default();
        for range in trace.ranges() {
            let process = trace.thread(range.thread).process;
            if leads(range) {
                // The same for any order of the ranges.
                let leader = leaders.entry(process).or_insert(range.thread);
                *leader = range.thread.min(*leader);
            }
        }
        Self { nesting, leaders }
    }

    pub fn nesting(&self) -> &Nesting {
        &self.nesting
    }

    /// The thread that has the steps of a process.
    pub fn leader(&self, process: ProcessId) -> Option<ThreadId> {
        self.leaders.get(&process).copied()
    }

    /// The ranges in which a task was planned, or submitted where there was no planning, from the inside out.
    pub fn of_task<'t>(&self, trace: &'t Trace, task: &Task) -> Vec<&'t Range> {
        let launch = trace.call(task.call);
        let call = trace.planned(launch).map_or(launch, |id| trace.call(id));
        let mut found: Vec<_> = self
            .nesting
            .around(trace, call.thread, call.begin)
            .collect();
        let process = trace.thread(call.thread).process;
        let leader = self.leader(process).filter(|it| *it != call.thread);
        if let Some(leader) = leader
            && !found.iter().any(|range| leads(range))
        {
            found.extend(self.nesting.around(trace, leader, call.begin));
        }
        found
    }
}

fn leads(range: &Range) -> bool {
    match range.kind() {
        Some(kind) => matches!(kind, RangeKind::Step | RangeKind::Phase | RangeKind::Loader),
        None => is_named_step(range),
    }
}

/// Whether a range of the program has a name like a step: `step 12`, `ProfilerStep#3`, `iteration_7`.
pub(crate) fn is_named_step(range: &Range) -> bool {
    range.kind().is_none()
        && !range.time().is_empty()
        && step_number(range.name.as_bytes()).is_some()
}

/// Whether the hook inside Python reports a range as a step.
pub(crate) fn is_step_of_framework(range: &Range) -> bool {
    range.kind() == Some(RangeKind::Step)
}

/// Whether a range is a step of the program.
pub(crate) fn is_step(range: &Range) -> bool {
    is_step_of_framework(range) || is_named_step(range)
}
