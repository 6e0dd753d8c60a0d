//! The comparison of two recordings.

use ascend_trace_recording::{OpenError, Recording, Trace};
use schemars::JsonSchema;
use serde::Serialize;

use super::ALPHA;
use super::collect::{Collect, Group, first};
use super::pair::Pair;
use super::rank_test::{correct, least};
use super::row::{DiffRow, Verdict};
use super::series::SubjectKind;
use crate::steps::{Finder, FoundStep, LoopId, Origin, RecordingSteps, StepDefinition};
use crate::{Fold, Window, WindowSize};

/// Facts about the steps of one process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Summary {
    /// Number of the process in its recording.
    pub process: u32,
    pub pid: u32,
    pub rank: Option<u64>,
    pub origin: Origin,
    /// All steps, also those that warm up.
    pub steps: u64,
    /// Whether the other recording has a process to compare it with.
    pub compared: bool,
}

/// What changed from recording A to recording B.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Diff {
    /// Both have steps, which were compared. Else single operations, calls and stalls were.
    pub by_steps: bool,
    /// The processes that have steps.
    pub a: Vec<Summary>,
    pub b: Vec<Summary>,
    /// Tests that were made, for which chances are corrected.
    pub tests: u64,
    /// Whether anything changed, for certain or by a test.
    pub changed: bool,
    pub pairs: Vec<Pair>,
}

impl Diff {
    /// Of two traces in memory.
    pub fn of(a: &Window<'_>, b: &Window<'_>, wanted: StepDefinition<'_>) -> Self {
        let mut plans = [a, b].map(|it| Finder::new(wanted).of(it));
        let summaries = summaries([a.trace, b.trace], &mut plans);
        let groups = [Collect::of(&plans[0]).of(a), Collect::of(&plans[1]).of(b)];
        Self::reported(summaries, &groups)
    }

    /// Compares two recordings. Each is read twice: to find the steps, and to sum up their work.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn of_recordings(
        recordings: [&mut Recording; 2],
        step: WindowSize,
        wanted: StepDefinition<'_>,
    ) -> Result<Self, OpenError> {
        let [a, b] = recordings;
        let plan = |recording: &mut Recording| {
            let plan = Finder::new(wanted).of_recording(recording, step, |_| true)?;
            Ok::<_, OpenError>(plan.unwrap_or_default())
        };
        let plans = [plan(a)?, plan(b)?];
        Self::of_plans([a, b], step, plans)
    }

    /// The same with known steps: each recording is read once.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn of_plans(
        recordings: [&mut Recording; 2],
        step: WindowSize,
        mut plans: [RecordingSteps; 2],
    ) -> Result<Self, OpenError> {
        let [a, b] = recordings;
        let summaries = summaries([a.entities(), b.entities()], &mut plans);
        let groups = |recording: &mut Recording, plan: &RecordingSteps| {
            let groups = Collect::of(plan).of_recording(recording, step, |_| true)?;
            Ok::<_, OpenError>(groups.unwrap_or_default())
        };
        let groups = [groups(a, &plans[0])?, groups(b, &plans[1])?];
        Ok(Self::reported(summaries, &groups))
    }

    fn reported([mut a, mut b]: [Vec<Summary>; 2], [ours, theirs]: &[Vec<Group>; 2]) -> Self {
        let mut pairs = Vec::new();
        for (one, other) in matched(&a, &b) {
            if let (Some(it), Some(its)) = (ours.get(one), theirs.get(other)) {
                pairs.push(Pair::of(it, its));
            }
            let summaries = [a.get_mut(one), b.get_mut(other)];
            summaries
                .into_iter()
                .flatten()
                .for_each(|it| it.compared = true);
        }
        let tests = corrected(&mut pairs);
        pairs.iter_mut().for_each(Pair::settle);
        let changed = pairs.iter().any(|pair| {
            let edits = pair.edits.iter().any(|it| it.certain);
            edits || pair.rows.iter().any(|it| it.verdict != Verdict::Same)
        });
        Self {
            by_steps: !a.is_empty(),
            a,
            b,
            tests,
            changed,
            pairs,
        }
    }

    /// The rows of steps, or those of operations with matching names, each with the smallest chance
    /// that the test of its times can give.
    pub fn rows_of(
        &self,
        kind: SubjectKind,
        is_wanted: impl Fn(&str) -> bool,
    ) -> impl Iterator<Item = (&DiffRow, f64)> {
        let rows = self.pairs.iter().flat_map(|pair| &pair.rows);
        let rows = rows.filter(move |it| it.kind == kind && is_wanted(&it.name));
        rows.map(|it| (it, least(it.a.steps as usize, it.b.steps as usize)))
    }

    /// Least number of steps on each side for one test to separate a change from chance.
    pub fn steps_needed() -> usize {
        let enough = |it: &usize| least(*it, *it) <= ALPHA;
        (1..).find(enough).unwrap_or(0) + first(usize::MAX) as usize
    }
}

/// The steps of both recordings. Unless both have some, none are compared. Of several loops of a process, only the first is.
fn summaries(entities: [&Trace; 2], plans: &mut [RecordingSteps; 2]) -> [Vec<Summary>; 2] {
    plans
        .iter_mut()
        .for_each(|plan| plan.laps.retain(|it, _| it.number == 0));
    if plans.iter().any(RecordingSteps::is_empty) {
        plans.iter_mut().for_each(|it| it.laps.clear());
    }
    let of = |trace: &Trace, plan: &RecordingSteps| -> Vec<Summary> {
        let laps = plan.laps.iter().map(|(of, lap)| {
            let about = trace.process_numbered(of.process);
            let about = about.map(|it| trace.process(it));
            Summary {
                process: of.process,
                pid: about.map_or(0, |it| it.pid),
                rank: about.and_then(|it| it.rank_number()),
                origin: lap.origin,
                steps: lap.cuts.len() as u64,
                compared: false,
            }
        });
        laps.collect()
    };
    [of(entities[0], &plans[0]), of(entities[1], &plans[1])]
}

/// The steps of the first two processes that are compared, if both recordings have steps.
pub fn paired(entities: [&Trace; 2], plans: &[RecordingSteps; 2]) -> Option<[Vec<FoundStep>; 2]> {
    let mut plans = plans.clone();
    let [a, b] = summaries(entities, &mut plans);
    let (one, other) = *matched(&a, &b).first()?;
    let cuts = |plan: &RecordingSteps, summary: Option<&Summary>| {
        let lap = plan.laps.get(&LoopId::first(summary?.process))?;
        Some(lap.cuts.clone())
    };
    Some([cuts(&plans[0], a.get(one))?, cuts(&plans[1], b.get(other))?])
}

/// Which processes are compared: those of the same rank, where each has one; else in their order.
fn matched(a: &[Summary], b: &[Summary]) -> Vec<(usize, usize)> {
    if a.is_empty() {
        return vec![(0, 0)];
    }
    if a.iter().chain(b).any(|it| it.rank.is_none()) {
        return (0..a.len().min(b.len())).map(|it| (it, it)).collect();
    }
    let of_rank = |one: &Summary| b.iter().position(|it| it.rank == one.rank);
    let pairs = a.iter().enumerate();
    pairs
        .filter_map(|(at, one)| Some((at, of_rank(one)?)))
        .collect()
}

/// Corrects all chances of a comparison for their number, and returns it.
fn corrected(pairs: &mut [Pair]) -> u64 {
    let rows = || pairs.iter().flat_map(|pair| &pair.rows);
    let mut chances: Vec<f64> = rows()
        .flat_map(|row| [row.p, row.p_count])
        .flatten()
        .collect();
    let tests = chances.len() as u64;
    correct(&mut chances);
    let mut chances = chances.into_iter();
    for row in pairs.iter_mut().flat_map(|pair| &mut pair.rows) {
        row.p_corrected = row.p.and_then(|_| chances.next());
        row.p_count_corrected = row.p_count.and_then(|_| chances.next());
    }
    tests
}
