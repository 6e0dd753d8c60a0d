//! What a change comes to, and how far that may be off.
//!
//! A prediction has five errors, which are added:
//!
//! - how far the unchanged graph is off from the recording,
//! - how much the saved time differs if other latencies are assumed: a short or a long one where the recording shows
//!   none, and the usual ones everywhere,
//! - the error bars of the times that are changed. Those of many tasks are as often too long as too short, so they add up
//!   like the sides of a right triangle, and never to more than their sum,
//! - the calls that are changed, or that submit waits which hold nothing: the changed program may not make them, or may
//!   make others in their place,
//! - twice the tracer overhead: it is in the recording, and would be another one in a recording of the changed program,
//!   or none in a run without the tool.

use ascend_trace_recording::TimeRange;
use serde::Serialize;

use super::change::{Change, Changes};
use super::collect::Facts;
use super::model::{Manner, Model};
use crate::Class;

/// The share of time for which a stream works.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Busy {
    /// Number of the process in the recording.
    pub process: u32,
    pub device: u32,
    pub stream_id: i64,
    /// In the recording, and with the change; 0 to 1.
    pub recorded: f64,
    pub predicted: f64,
}

/// What a change comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// The changes, as they are written.
    pub changes: Vec<String>,
    /// Tasks and calls that are changed.
    pub changed: u64,
    /// From the first call or task to the end of the last.
    pub makespan_ns: i64,
    /// By how much that is less than in the recording.
    pub saved_ns: i64,
    /// How far both may be off.
    pub error_ns: i64,
    /// The same as parts of the recording's makespan.
    pub saved: f64,
    pub error: f64,
    pub streams: Vec<Busy>,
}

/// Solves graphs of one recording.
#[derive(Debug)]
pub(super) struct Predictor<'f> {
    facts: &'f Facts,
    pub(super) model: Model<'f>,
    pub(super) recorded: TimeRange,
    /// How long the unchanged graph lasts, by manner.
    own: i64,
    others: Vec<i64>,
    /// Waits that were left out of the unchanged graph.
    pub(super) left_out: u64,
}

impl<'f> Predictor<'f> {
    pub(super) fn of(facts: &'f Facts) -> Self {
        let model = Model::of(facts);
        let unchanged = Changes::of(facts, &[]);
        let (values, left_out) = model.solve(&unchanged, Manner::Own);
        let mut found = Self {
            facts,
            recorded: facts.range(),
            own: 0,
            others: Vec::new(),
            left_out,
            model,
        };
        found.own = found.makespan(&values);
        let others = Manner::OTHERS.map(|it| found.lasts(&unchanged, it));
        found.others = others.to_vec();
        found
    }

    /// How long the unchanged graph lasts.
    pub(super) fn unchanged_ns(&self) -> i64 {
        self.own
    }

    /// How far the unchanged graph is off.
    pub(super) fn own_error_ns(&self) -> i64 {
        (self.own - self.recorded.duration()).abs()
    }

    /// How far it is off where each latency is the usual one.
    pub(super) fn usual_error_ns(&self) -> i64 {
        let usual = self.others.last().copied().unwrap_or(self.own);
        (usual - self.recorded.duration()).abs()
    }

    /// What recording has cost the threads that made calls; never more than all of the time.
    pub(super) fn overhead_ns(&self) -> i64 {
        self.facts.overhead().min(self.recorded.duration())
    }

    /// How much of the makespan a change saves.
    pub(super) fn saved_ns(&self, changes: &[Change]) -> i64 {
        self.own - self.lasts(&Changes::of(self.facts, changes), Manner::Own)
    }

    pub(super) fn predict(&self, changes: &[Change], words: Vec<String>) -> Prediction {
        let changes = Changes::of(self.facts, changes);
        let (values, _) = self.model.solve(&changes, Manner::Own);
        let saved = self.own - self.makespan(&values);
        let others = Manner::OTHERS.iter().zip(&self.others);
        let apart = others.map(|(manner, own)| (own - self.lasts(&changes, *manner) - saved).abs());
        let apart = apart.max().unwrap_or(0);
        let (changed, bars) = self.bars(&changes);
        let recorded = self.recorded.duration();
        let error = self.own_error_ns() + apart + bars + 2 * self.overhead_ns();
        let part = |ns: i64| ns as f64 / recorded.max(1) as f64;
        Prediction {
            changes: words,
            changed,
            makespan_ns: recorded - saved,
            saved_ns: saved,
            error_ns: error,
            saved: part(saved),
            error: part(error),
            streams: self.busy(&values),
        }
    }

    fn lasts(&self, changes: &Changes, manner: Manner) -> i64 {
        self.makespan(&self.model.solve(changes, manner).0)
    }

    fn makespan(&self, values: &[i64]) -> i64 {
        let calls = self.facts.outer_calls().map(|it| Model::call_begin(it.0));
        let tasks = self.facts.all_tasks().map(|it| self.model.task_begin(it.0));
        let nodes = calls.chain(tasks).map(|it| it as usize);
        let range = |it: usize| TimeRange::new(values[it], values[it + 1]);
        let all = TimeRange::around(nodes.map(|it| Some(range(it))));
        all.unwrap_or_default().duration()
    }

    fn busy(&self, values: &[i64]) -> Vec<Busy> {
        let lasts = [self.recorded.duration(), self.makespan(values)];
        let streams = self.facts.streams.iter().filter(|it| !it.1.is_empty());
        let busy = streams.map(|(place, tasks)| {
            let mut sums = [0_i64; 2];
            for number in tasks {
                let Some(task) = self.facts.task(*number) else {
                    continue;
                };
                if task.class == Class::Work {
                    let at = self.model.task_begin(*number) as usize;
                    sums[0] += task.end - task.begin;
                    sums[1] += values[at + 1] - values[at];
                }
            }
            let share = |at: usize| sums[at] as f64 / lasts[at].max(1) as f64;
            Busy {
                process: place.process,
                device: place.device,
                stream_id: place.stream_id,
                recorded: share(0),
                predicted: share(1),
            }
        });
        busy.collect()
    }

    /// How many tasks and calls are changed, and the error bars of what is taken off or added.
    fn bars(&self, changes: &Changes) -> (u64, i64) {
        let (mut count, mut sum, mut squares) = (0, 0.0, 0.0);
        // Calls that the changed program may not make.
        let mut calls_bar = 0;
        for (_, task) in self.facts.all_tasks() {
            let factor = changes.task(&task);
            let bar = (1.0 - factor).abs() * task.local_error as f64;
            sum += bar;
            squares += bar * bar;
            let is_free = changes.holds_nothing(&task);
            count += u64::from(factor != 1.0 || is_free);
            if is_free {
                let call = self.model.index.call(task.call);
                calls_bar += call.end - call.begin;
            }
        }
        for (number, call) in self.facts.outer_calls() {
            if changes.sync(number, &call).is_some() || changes.call(&call) != 1.0 {
                count += 1;
                calls_bar += self.model.call_bar(number, &call, changes);
            }
        }
        // A value that may be anywhere in a bar; three standard deviations.
        let width = (3.0_f64.sqrt() * f64::sqrt(squares)).min(sum);
        // Where hosts and devices wait for each other, the mapping of their clocks counts at both ends.
        let mapping = if count > 0 {
            2 * self.model.typical().error.high
        } else {
            0
        };
        (count, width.round() as i64 + mapping + calls_bar)
    }
}
