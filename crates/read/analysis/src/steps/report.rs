//! The steps of a recording: their places, the parts of their time, and the excess of the slowest.

use ascend_trace_recording::{OpenError, Recording, Trace};
use schemars::JsonSchema;
use serde::Serialize;

use super::compare::{Comparison, Detail};
use super::finder::Finder;
use super::named::StepDefinition;
use super::process_steps::{FoundStep, LoopId, LoopSteps, Origin, RecordingSteps, StepClock};
use crate::stats::{StepStats, Steps, process_order};
use crate::{AnalysisNeeds, Fold, Window, WindowSize};

/// The lengths of the steps of one loop.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StepSums {
    /// Number of the process in the recording.
    pub process: u32,
    /// Number of the loop in the process, from 0.
    pub loop_number: u32,
    pub pid: u32,
    pub rank: Option<u64>,
    /// The thread that has the steps.
    pub tid: u32,
    /// The source of the times of its steps.
    pub clock: StepClock,
    /// Further steps, which are left out: no task shows when they began or ended on the device.
    pub left_out: u64,
    /// How it is known where they are.
    pub origin: Origin,
    pub count: u64,
    pub total_ns: i64,
    pub mean_ns: i64,
    /// Of an even number of steps, the lower one in the middle.
    pub median_ns: i64,
    pub min_ns: i64,
    pub max_ns: i64,
    /// The standard deviation.
    pub spread_ns: i64,
}

/// Facts about steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    pub processes: Vec<StepSums>,
    /// By begin.
    #[serde(serialize_with = "crate::columns::rows")]
    pub steps: Vec<StepStats>,
    /// For each loop with three steps or more.
    pub comparisons: Vec<Comparison>,
}

impl Report {
    /// Of a trace in memory.
    pub fn of(window: &Window<'_>, wanted: StepDefinition<'_>) -> Self {
        let plan = Finder::new(wanted).of(window);
        let mut steps = summed(&plan);
        steps.take(window);
        Self::reported(window.trace, &plan, steps)
    }

    /// Of a recording, which is read twice: to find the steps, and to sum up their work.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn of_recording(
        recording: &mut Recording,
        step: WindowSize,
        wanted: StepDefinition<'_>,
    ) -> Result<Self, OpenError> {
        let plan = Finder::new(wanted).of_recording(recording, step, |_| true)?;
        let plan = plan.unwrap_or_default();
        let summing = Summing::planned(&plan);
        let steps = summing.of_recording(recording, step, |_| true)?;
        let steps = steps.unwrap_or_default();
        Ok(Self::reported(recording.entities(), &plan, steps))
    }

    pub(crate) fn reported(entities: &Trace, plan: &RecordingSteps, steps: Steps) -> Self {
        let (rows, details, names) = steps.into_parts();
        let laps = plan.laps.iter();
        let processes = laps
            .clone()
            .filter_map(|(it, lap)| sums(entities, *it, lap));
        let mut processes: Vec<StepSums> = processes.collect();
        processes.sort_by_key(|it| {
            let process = process_order(it.rank, it.pid, it.process);
            (process, it.loop_number)
        });
        let comparisons = laps.filter_map(|(id, lap)| {
            let (slow, median) = pick(lap)?;
            let find = |cut: &FoundStep| {
                let is_it = |it: &&Detail| it.is_of(*id, cut.begin);
                details.iter().find(is_it)
            };
            Some(Comparison::of(find(slow)?, find(median)?, &names))
        });
        Self {
            processes,
            comparisons: comparisons.collect(),
            steps: rows,
        }
    }
}

/// The sums of the steps, for [`Fold::of_recording`].
pub(crate) struct Summing(Steps);

impl Summing {
    pub(crate) fn planned(plan: &RecordingSteps) -> Self {
        Self(summed(plan))
    }
}

impl Fold for Summing {
    type Answer = Steps;

    const NEEDS: AnalysisNeeds = AnalysisNeeds::Calls;
    fn take(&mut self, window: &Window<'_>) {
        self.0.take(window);
    }

    fn finish(self) -> Steps {
        self.0
    }
}

fn summed(plan: &RecordingSteps) -> Steps {
    let picked = plan.laps.iter().flat_map(|(id, lap)| {
        let picked = pick(lap).map(|(slow, median)| [slow, median]);
        let picked = picked.into_iter().flatten();
        picked.map(|cut| (*id, cut.begin))
    });
    let picked = picked.collect();
    Steps::planned(plan.clone(), picked)
}

/// Steps from which on the first is not looked at: it warms up.
const MANY: usize = 5;

/// The slowest step and the median one.
fn pick(lap: &LoopSteps) -> Option<(&FoundStep, &FoundStep)> {
    let from = usize::from(lap.cuts.len() >= MANY);
    let mut cuts: Vec<&FoundStep> = lap.cuts.iter().skip(from).collect();
    if cuts.len() < 3 {
        return None;
    }
    cuts.sort_by_key(|it| (it.end - it.begin, it.begin));
    let median = cuts[(cuts.len() - 1) / 2];
    Some((cuts.pop()?, median))
}

fn sums(entities: &Trace, of: LoopId, lap: &LoopSteps) -> Option<StepSums> {
    let mut lengths: Vec<i64> = lap.cuts.iter().map(|it| it.end - it.begin).collect();
    lengths.sort_unstable();
    let (count, total) = (lengths.len() as i64, lengths.iter().sum::<i64>());
    let (min, max) = (*lengths.first()?, *lengths.last()?);
    let mean = total as f64 / count as f64;
    let squares = lengths.iter().map(|it| (*it as f64 - mean).powi(2));
    let id = entities.process_numbered(of.process)?;
    let about = entities.process(id);
    Some(StepSums {
        process: of.process,
        loop_number: of.number,
        pid: about.pid,
        rank: about.rank_number(),
        tid: entities.thread(lap.thread).tid,
        origin: lap.origin,
        clock: lap.clock,
        left_out: lap.left_out,
        count: count as u64,
        total_ns: total,
        mean_ns: mean.round() as i64,
        median_ns: lengths[(lengths.len() - 1) / 2],
        min_ns: min,
        max_ns: max,
        spread_ns: (squares.sum::<f64>() / count as f64).sqrt().round() as i64,
    })
}
