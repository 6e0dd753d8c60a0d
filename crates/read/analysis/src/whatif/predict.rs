//! The effect of a change, and its error.
//!
//! A prediction has these errors. They have different causes, so they add up like the sides of a right triangle:
//!
//! - how much the saved time differs if other latencies are assumed: a short or a long one where the recording shows
//!   none, and the usual ones everywhere; and if calls that wait for less are not made at all,
//! - the errors of the durations that are changed. The part that tasks of one class have in common is added. The rest is as
//!   often too long as too short. Both are never more than the sum of all,
//! - the mapping of the clocks,
//! - the calls that submit waits which hold nothing, and calls that the changed program makes in addition,
//! - the time between two queries of each loop that waits. Where the recorded loops notice the end after different times,
//!   these differences are at random, and count less in sum,
//! - how much the times differ that threads take to go on after others: another run may have the shorter or the longer ones,
//! - the time that unusual latencies take: another run has others,
//! - how much longer the program takes if the host takes longer, by half of the spread of pauses between the same two calls. Work of a
//!   thread before its first task differs more,
//! - a 128th of the time: runs of one program differ by at least this.
//!
//! Others are added: how far the unchanged simulation is off from the recording; the unknown time of tasks without
//! times and of pauses, or the saved time that threads without recorded calls may take up, or how much the saved time differs where
//! pauses end at fixed times; how much it differs where threads wait for each other in another way than they seem to; and the tracer
//! overhead, as far as the end depends on it: it is in the recording, and a run without the tool has none.

use ascend_trace_recording::TimeRange;
use schemars::JsonSchema;
use serde::Serialize;

use super::change::{Changes, Narrow};
use super::compact_recording::Facts;
use super::links::LanePosition;
use super::records::CallShape;
use super::solve::{Run, Solved, solve};
use super::typical::LatencySource;
use super::wait_index::{CallSums, Index};
use crate::stats::CallSite;

/// Runs of one program differ by at least this part, as a divisor: the host is late now and then.
const RERUNS: i64 = 128;

/// The share of time for which a stream works.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BusyShare {
    /// Number of the process in the recording.
    pub process: u32,
    pub device: u32,
    pub stream_id: i64,
    /// In the recording, and with the change; 0 to 1.
    pub recorded: f64,
    pub predicted: f64,
}

/// The effect of a change.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Prediction {
    /// The changes, as they are written.
    pub changes: Vec<String>,
    /// Tasks and calls that are changed.
    pub changed: u64,
    /// From the first call or task to the end of the last.
    pub makespan_ns: i64,
    /// By how much that is less than in the recording.
    pub saved_ns: i64,
    /// How far both may be off; `null` if that is not known.
    pub error_ns: Option<i64>,
    /// The same as parts of the recording's makespan.
    pub saved: f64,
    pub error: Option<f64>,
    /// What must hold for the change.
    pub holds: Option<String>,
    /// The order of the program's uses of memory and of events is known to be the same with the change.
    pub is_checked: bool,
    /// Where in the program the first of the changed calls was made, if stacks were recorded.
    #[serde(flatten)]
    pub at: Option<CallSite>,
    pub streams: Vec<BusyShare>,
}

/// Judges simulations of one recording.
#[derive(Debug)]
pub(super) struct Predictor<'f> {
    facts: &'f Facts,
    pub(super) index: &'f Index,
    pub(super) recorded: TimeRange,
    /// How long the unchanged simulation lasts, by manner.
    unchanged: Vec<i64>,
    /// Waits that were left out.
    pub(super) left_out: u64,
}

/// A changed program, and its effect, by manner.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChangedProgram<'s> {
    pub(super) changes: &'s Changes,
    /// Calls that are changed, where they are a group.
    pub(super) calls: u64,
    /// For how long they blocked.
    pub(super) blocked: i64,
    pub(super) own: &'s Solved,
    pub(super) others: &'s [Solved],
}

impl<'f> Predictor<'f> {
    /// Simulates the unchanged program in all manners, and these runs with it.
    pub(super) fn with(
        (facts, index): (&'f Facts, &'f Index),
        groups: &[(LanePosition, u32)],
        runs: &[Run<'_>],
    ) -> (Self, Vec<Solved>) {
        let unchanged = Changes::of(facts, &[]);
        let all = index.manners().map(|manner| Run {
            changes: &unchanged,
            manner,
        });
        let all: Vec<Run<'_>> = all.chain(runs.iter().copied()).collect();
        let (mut solved, left_out) = solve((facts, index), groups, &all);
        let rest = solved.split_off(index.manners().count());
        let found = Self {
            facts,
            index,
            recorded: facts.range(),
            unchanged: solved.iter().map(|it| it.lasts).collect(),
            left_out,
        };
        (found, rest)
    }

    /// How long the unchanged simulation lasts.
    pub(super) fn unchanged_ns(&self) -> i64 {
        self.unchanged.first().copied().unwrap_or(0)
    }

    /// How far the unchanged simulation is off.
    pub(super) fn own_error_ns(&self) -> i64 {
        (self.unchanged_ns() - self.recorded.duration()).abs()
    }

    /// How far it is off where each latency is the usual one.
    pub(super) fn usual_error_ns(&self) -> i64 {
        let usual = self.unchanged.get(LatencySource::Usual as usize);
        let usual = usual.copied().unwrap_or(0);
        (usual - self.recorded.duration()).abs()
    }

    /// What recording has cost the thread that it has cost most; never more than all of the time.
    pub(super) fn overhead_ns(&self) -> i64 {
        self.facts.overhead().min(self.recorded.duration())
    }

    /// How much of the makespan a simulation saves.
    pub(super) fn saved_ns(&self, solved: &Solved) -> i64 {
        self.unchanged_ns() - solved.lasts
    }

    pub(super) fn predict(&self, changed: ChangedProgram<'_>, words: Vec<String>) -> Prediction {
        let saved = self.saved_ns(changed.own);
        let is_arrivals = |it| it == LatencySource::Arrivals;
        let apart = self.apart(changed, |it| !it.is_of_waits() && !is_arrivals(it));
        let waits = self.apart(changed, LatencySource::is_of_waits);
        let arrivals = self.apart(changed, is_arrivals);
        let (count, mut parts) = self.bars(changed);
        let unsteady = self.differs(changed, LatencySource::Usual);
        let untraced = self.differs(changed, LatencySource::Untraced);
        let slow = self.differs(changed, LatencySource::SlowHost);
        let traced = untraced.min(self.overhead_ns());
        parts.extend([apart, unsteady, slow, changed.own.lasts / RERUNS]);
        let recorded = self.recorded.duration();
        // These are about the same pauses.
        let open = self.open(changed, saved).max(self.taken_up(saved));
        let open = open.max(arrivals);
        let unsure = self.most_unsure(changed, saved).min(open + waits);
        let error = self.own_error_ns() + together(&parts) + unsure + traced;
        let error = Some(error).filter(|_| !self.facts.is_open);
        let part = |ns: i64| ns as f64 / recorded.max(1) as f64;
        Prediction {
            changes: words,
            changed: count,
            makespan_ns: recorded - saved,
            saved_ns: saved,
            error_ns: error,
            saved: part(saved),
            error: error.map(part),
            holds: None,
            is_checked: false,
            at: None,
            streams: self.busy(changed.own),
        }
    }

    /// How far the prediction may be off by these manners. An error of a manner that the unchanged simulation has as well is
    /// in the saved time or in the makespan, and not in both: the smaller difference counts.
    fn apart(&self, changed: ChangedProgram<'_>, is_own: impl Fn(LatencySource) -> bool) -> i64 {
        let saved = self.saved_ns(changed.own);
        let manners = self.index.manners().zip(&self.unchanged).skip(1);
        let others = manners.zip(changed.others).filter(|it| is_own(it.0.0));
        let apart = others.map(|((manner, own), other)| {
            let of_saved = (own - other.lasts - saved).abs();
            let of_makespan = (other.lasts - changed.own.lasts).abs();
            match manner {
                LatencySource::Usual => of_saved.min(of_makespan),
                LatencySource::Untraced | LatencySource::SlowHost => 0,
                _ => of_saved,
            }
        });
        apart.max().unwrap_or(0)
    }

    /// How much longer or shorter the changed program takes in a manner.
    fn differs(&self, changed: ChangedProgram<'_>, wanted: LatencySource) -> i64 {
        let manners = self.index.manners().skip(1).zip(changed.others);
        let own = manners.filter(|it| it.0 == wanted);
        let off = own.map(|it| (it.1.lasts - changed.own.lasts).abs());
        off.max().unwrap_or(0)
    }

    /// The unknown time of tasks and pauses may hide savings: no more than the time of everything that changes.
    fn open(&self, changed: ChangedProgram<'_>, saved: i64) -> i64 {
        let most = self.most(changed);
        let hidden = self.facts.slack.saturating_add(self.facts.late);
        let rest = most.saturating_sub(saved.abs()).max(0);
        // A wait without a known cause may become shorter or longer.
        let open = rest.max(saved.abs());
        hidden.min(open) + self.index.outside_ns.min(open)
    }

    /// How far the unknown may move a prediction: a change that takes time away makes a program no slower, and no faster than by that.
    fn most_unsure(&self, changed: ChangedProgram<'_>, saved: i64) -> i64 {
        match saved > 0 {
            true => saved.max(self.most(changed) - saved),
            false => i64::MAX,
        }
    }

    /// How much of the saved time threads without recorded calls may take up: if the program waits for them, it takes at least as long
    /// as they work. How long they sleep or read files is not known.
    fn taken_up(&self, saved: i64) -> i64 {
        let left = self.recorded.duration() - saved;
        let most = self.facts.others.most_work(self.recorded);
        match self.index.awaits_others {
            true => saved.max(0),
            false => (most - left).clamp(0, saved.max(0)),
        }
    }

    /// The time of everything that a change takes away or adds.
    fn most(&self, changed: ChangedProgram<'_>) -> i64 {
        let changes = changed.changes;
        let mut most = changed.blocked;
        let part = |factor: f64, time: i64| ((1.0 - factor).abs() * time as f64) as i64;
        let launch = self.index.typical.launch.high;
        for (shape, sums) in self.facts.task_shapes.iter().zip(&self.facts.task_sums) {
            most += part(changes.task(shape), sums.lasted);
            most += part(changes.launch(), launch.saturating_mul(sums.count as i64));
        }
        for (number, stream) in self.facts.streams.iter().enumerate() {
            if changes.has_no_waits(number) {
                most += stream.waited + stream.wait_calls;
            }
        }
        for (shape, own) in self.facts.call_shapes.iter().zip(&self.index.own) {
            most += match changes.sync(shape.function) {
                Some(_) => own.waited + own.own,
                None => part(changes.call(shape), own.own),
            };
        }
        most
    }

    fn busy(&self, solved: &Solved) -> Vec<BusyShare> {
        let share = |worked: i64, lasts: i64| worked as f64 / lasts.max(1) as f64;
        let streams = self.facts.streams.iter().zip(&solved.worked).zip(0..);
        let streams = streams.filter(|it| it.0.0.tasks.count > 0);
        let busy = streams.map(|((stream, worked), number)| {
            let recorded = share(stream.worked, self.recorded.duration());
            BusyShare {
                process: stream.place.process,
                device: stream.place.device,
                stream_id: stream.place.stream_id,
                recorded,
                predicted: match self.index.background_streams.contains(&number) {
                    // It has more or fewer rounds.
                    true => recorded,
                    false => share(*worked, solved.lasts),
                },
            }
        });
        busy.collect()
    }

    /// The number of changed tasks and calls, and the errors of the changed times.
    fn bars(&self, changed: ChangedProgram<'_>) -> (u64, Vec<i64>) {
        let changes = changed.changes;
        let (mut count, mut sum, mut common, mut squares) = (changed.calls, 0.0, 0.0, 0.0);
        // Calls that the changed program makes in addition, or does not make.
        let usual = self.index.typical.call.high;
        let mut calls_bar = match changes.group() {
            Some((_, Narrow::Event)) => usual.saturating_mul(changed.calls as i64),
            _ => 0,
        };
        for (shape, sums) in self.facts.task_shapes.iter().zip(&self.facts.task_sums) {
            let factor = changes.task(shape);
            sum += (1.0 - factor).abs() * sums.error;
            common += (1.0 - factor).abs() * sums.common;
            squares += (1.0 - factor).powi(2) * sums.squares;
            count += if factor == 1.0 { 0 } else { sums.count };
        }
        for (number, stream) in self.facts.streams.iter().enumerate() {
            let is_changed = changes.has_no_waits(number);
            if is_changed {
                count += stream.waits;
                calls_bar += stream.wait_calls;
            }
        }
        let shapes = self.facts.call_shapes.iter();
        let shapes = shapes.zip(&self.facts.call_counts).zip(&self.index.own);
        for ((shape, calls), own) in shapes {
            if changes.sync(shape.function).is_some() || changes.call(shape) != 1.0 {
                count += calls;
                calls_bar += call_bar(usual, changes, shape, (*calls, own));
            }
        }
        // A value that may be anywhere in a bar; three standard deviations.
        let width = (common + 3.0_f64.sqrt() * f64::sqrt(squares)).min(sum);
        // Where hosts and devices wait for each other, the mapping of their clocks counts at both ends.
        let mut parts = vec![width.round() as i64, calls_bar];
        if count > 0 {
            let index = self.index;
            parts.extend([
                2 * index.typical.error.high,
                index.poll_lag,
                index.handover_off,
            ]);
        }
        (count, parts)
    }
}

/// The error that errors of different causes make together.
fn together(parts: &[i64]) -> i64 {
    let squares = parts.iter().map(|it| (*it as f64).powi(2));
    squares.sum::<f64>().sqrt().ceil() as i64
}

/// What calls of a shape take themselves, and by how much a program may differ that makes them wait for less, or has no
/// such calls: it makes one call for each task that they wait for after all, and each may take as long as others.
fn call_bar(
    usual: i64,
    changes: &Changes,
    shape: &CallShape,
    (calls, sums): (u64, &CallSums),
) -> i64 {
    let usual_of = |calls: u64| usual.saturating_mul(calls as i64);
    match changes.sync(shape.function) {
        Some(Narrow::Event) => usual_of(sums.tasks.saturating_sub(calls)),
        // Simulations have it with the call and without it.
        Some(_) => 0,
        // A copy that is faster is still a call.
        None if shape.copies => {
            let gone = (1.0 - changes.call(shape)).abs();
            (usual_of(calls).min(sums.own) as f64 * gone).round() as i64
        }
        None => 0,
    }
}
