//! The durations of many steps, as a few points of a plot.

use ascend_trace_analysis::stats::{StepStats, Verdict};
use ascend_trace_analysis::steps::Report;
use serde::Serialize;

use crate::bounded::shortened;

/// Points of all loops together.
const MOST_POINTS: usize = 2_000;
/// Loops with points, those with most steps.
const MOST_LOOPS: usize = 12;
/// Characters of the name of a step.
const MOST_CHARACTERS: usize = 60;

/// The steps of one loop, in order. A point is one step, or several that follow each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepSeries {
    /// Number of the process in the recording.
    pub process: u32,
    /// Number of the loop in the process.
    pub loop_number: u32,
    pub points: Vec<StepPoint>,
}

/// Steps that follow each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepPoint {
    /// When the first of them began.
    pub begin_ns: i64,
    pub count: u64,
    pub min_ns: i64,
    /// Of an even number of steps, the lower one in the middle.
    pub median_ns: i64,
    pub max_ns: i64,
    /// The slowest of them, and by how much the parts of its time may be off.
    pub slowest: String,
    pub verdict: Option<&'static str>,
    pub error_ns: i64,
}

impl StepSeries {
    /// The loops of a report.
    pub fn of(report: &Report) -> Vec<Self> {
        let mut loops: Vec<_> = report.processes.iter().collect();
        loops.sort_by_key(|it| std::cmp::Reverse(it.count));
        loops.truncate(MOST_LOOPS);
        let most = MOST_POINTS / loops.len().max(1);
        let series = loops.into_iter().map(move |sums| {
            let own = report.steps.iter();
            let own: Vec<&StepStats> = own
                .filter(|it| (it.process, it.loop_number) == (sums.process, sums.loop_number))
                .collect();
            let together = own.len().div_ceil(most).max(1);
            Self {
                process: sums.process,
                loop_number: sums.loop_number,
                points: own.chunks(together).filter_map(StepPoint::of).collect(),
            }
        });
        series.collect()
    }
}

impl StepPoint {
    fn of(steps: &[&StepStats]) -> Option<Self> {
        let mut lengths: Vec<i64> = steps.iter().map(|it| it.length_ns).collect();
        lengths.sort_unstable();
        let slowest = steps.iter().max_by_key(|it| it.length_ns)?;
        Some(Self {
            begin_ns: steps.first()?.begin_ns,
            count: steps.len() as u64,
            min_ns: *lengths.first()?,
            median_ns: *lengths.get((lengths.len() - 1) / 2)?,
            max_ns: slowest.length_ns,
            slowest: shortened(&slowest.name, MOST_CHARACTERS),
            verdict: slowest.verdict.map(Verdict::name),
            error_ns: slowest.error_ns,
        })
    }
}

/// A report with no more rows of steps than `most`: the longest ones, by begin.
pub fn slowest(report: &Report, most: usize) -> Report {
    let mut longest: Vec<&StepStats> = report.steps.iter().collect();
    longest.sort_by_key(|it| (std::cmp::Reverse(it.length_ns), it.begin_ns));
    longest.truncate(most);
    longest.sort_by_key(|it| it.begin_ns);
    Report {
        processes: report.processes.clone(),
        steps: longest.into_iter().cloned().collect(),
        comparisons: report.comparisons.clone(),
    }
}
