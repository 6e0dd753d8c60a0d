//! The steps that a program names, as times of its threads.

use std::collections::BTreeMap;

use ascend_trace_format::range::RangeKind;
use ascend_trace_recording::{ProcessId, Range};

use crate::planned_ranges::is_named_step;
use crate::{AnalysisNeeds, Fold, Window};

/// A range with the name of a step, or a step of the hook inside Python.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepRange {
    pub process: ProcessId,
    pub begin: i64,
    pub end: i64,
    pub name: String,
}

/// Collects the steps of a recording, in the order of their begins. Of steps inside steps, it has the outer ones.
#[derive(Debug, Default)]
pub struct StepRanges {
    found: BTreeMap<(ProcessId, i64), (i64, String)>,
    /// The number of ranges that were looked at: later windows have them, too.
    seen: usize,
}

fn is_step(range: &Range) -> bool {
    match range.kind() {
        Some(kind) => kind == RangeKind::Step,
        None => is_named_step(range),
    }
}

impl Fold for StepRanges {
    type Answer = Vec<StepRange>;

    const NEEDS: AnalysisNeeds = AnalysisNeeds::Calls;

    fn take(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        let new = trace.ranges().iter().skip(self.seen);
        self.seen = self.seen.max(trace.ranges().len());
        for range in new.filter(|it| is_step(it)) {
            let process = trace.thread(range.thread).process;
            let found = self.found.entry((process, range.begin));
            let found = found.or_insert_with(|| (range.end, range.name.clone()));
            if range.end > found.0 {
                *found = (range.end, range.name.clone());
            }
        }
    }

    fn finish(self) -> Vec<StepRange> {
        let mut steps: Vec<StepRange> = Vec::new();
        for ((process, begin), (end, name)) in self.found {
            let is_inside = |it: &StepRange| it.process == process && begin < it.end;
            if !steps.last().is_some_and(is_inside) {
                steps.push(StepRange {
                    process,
                    begin,
                    end,
                    name,
                });
            }
        }
        steps
    }
}
