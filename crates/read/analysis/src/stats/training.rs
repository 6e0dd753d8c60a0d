//! The use of a training loop's time, in the words of its framework: a verdict for each step, and sums
//! by range and by module.
//!
//! It is worked out from ranges that the program named.

mod followed;
pub(crate) mod lane;
mod modules;
mod ranges;
mod step;
mod steps;

pub use modules::ModuleStats;
pub use ranges::RangeStats;
pub use step::{HOST, StepStats, Verdict};
pub use steps::Steps;

use ascend_trace_recording::{StreamId, TimeRange};

use super::tables::{Range, overlaps};
use crate::{Fold, Window};

/// The sums of a recording on its way.
#[derive(Debug, Default)]
pub(super) struct Training {
    steps: Steps,
    ranges: ranges::RangeTotals,
    modules: modules::Modules,
}

impl Training {
    pub(super) fn take(&mut self, window: &Window<'_>, range: Range) {
        let trace = window.trace;
        if trace.ranges().is_empty() {
            return;
        }
        self.steps.take(window);
        for stream in (0..trace.streams().len() as u32).map(StreamId) {
            for id in window.stream_tasks(stream) {
                let task = trace.task(id);
                if !overlaps(range, trace.extent(task)) {
                    continue;
                }
                let place = window.places().of_task(trace, task);
                self.ranges.task(trace, task, &place);
                self.modules.task(trace, task, &place);
            }
        }
        if window.part.is_last {
            self.ranges.close(trace, range);
        }
    }

    pub(super) fn rows(self, range: Range) -> (Vec<StepStats>, Vec<RangeStats>, Vec<ModuleStats>) {
        let mut steps = self.steps.finish();
        steps.retain(|row| {
            let end = row.begin_ns + row.length_ns;
            overlaps(range, TimeRange::new(row.begin_ns, end))
        });
        (steps, self.ranges.rows(), self.modules.rows())
    }
}
