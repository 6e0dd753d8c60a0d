//! Steps of training loops, summed up window by window.
//!
//! Their places are known before the first window: from ranges, which are all known
//! ([`ascend_trace_recording::recording::Replay`]), or from a plan that was made before. So a task
//! finds its step for any cut of a recording.

use std::collections::BTreeMap;

use ascend_trace_format::api::{TaskKind, WaitTarget};
use ascend_trace_format::range::RangeKind;
use ascend_trace_recording::{Call, ProcessId, Range, StreamId, TaskId, TimeRange, Trace};
use rustc_hash::FxHashMap;

use super::followed::FollowedStreams;
use super::lane::{Lane, Use, UseInterval};
use super::step::StepStats;
use crate::dependencies::runs;
use crate::duplicate_ranges::is_loader;
use crate::estimate::Learner;
use crate::steps::{Detail, LoopId, RecordingSteps, StepDefinition, named};
use crate::{AnalysisNeeds, Fold, Intervals, PlannedRanges, TaskRole, Window};

/// The steps of a recording, by process. Without a plan, steps are ranges of the hook inside Python, or ranges that the
/// program itself calls like one.
///
/// A trace without steps costs nothing.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    plan: Option<RecordingSteps>,
    /// The steps of which details are wanted: their loop, and when they begin.
    watched: Vec<(LoopId, i64)>,
    /// Of how many ranges it was made.
    known: Option<usize>,
    lanes: BTreeMap<(ProcessId, u32), Lane>,
    rows: Vec<StepStats>,
    names: Names,
    learner: Learner,
    followed: FollowedStreams,
}

/// Names of the work in steps with wanted details.
#[derive(Clone, Debug, Default)]
struct Names {
    numbers: FxHashMap<String, u32>,
    all: Vec<String>,
}

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.all.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        self.all.push(name.to_owned());
        number
    }
}

impl Steps {
    /// The steps of a plan. For the watched ones, by loop and begin, their work is kept.
    pub fn planned(plan: RecordingSteps, watched: Vec<(LoopId, i64)>) -> Self {
        Self {
            plan: Some(plan),
            watched,
            ..Self::default()
        }
    }

    /// The rows, the work of the watched ones, and its names.
    pub(crate) fn into_parts(self) -> (Vec<StepStats>, Vec<Detail>, Vec<String>) {
        let details = self.lanes.into_values().flat_map(Lane::into_details);
        (self.rows, details.collect(), self.names.all)
    }

    /// Those that have been summed up, by begin once the last window was taken in.
    pub fn rows(&self) -> &[StepStats] {
        &self.rows
    }

    /// The facts about a range that is a step.
    pub fn of_range(&self, trace: &Trace, range: &Range) -> Option<&StepStats> {
        let thread = trace.thread(range.thread);
        let process = trace.process(thread.process).serial;
        let from = self.rows.partition_point(|row| row.begin_ns < range.begin);
        let same = self.rows[from..].iter();
        let mut same = same.take_while(|row| row.begin_ns == range.begin);
        same.find(|row| {
            let is_there = row.process == process && row.tid == thread.tid;
            is_there && row.length_ns == range.end - range.begin && row.name == range.name
        })
    }

    /// Takes in where the steps of a trace are.
    fn plan(&mut self, trace: &Trace, places: &PlannedRanges) {
        self.lanes.clear();
        self.rows.clear();
        let plan = self.plan.clone();
        let plan = plan.unwrap_or_else(|| named(trace, places, StepDefinition::Any));
        for (of, lap) in plan.laps {
            let Some(process) = trace.process_numbered(of.process) else {
                continue;
            };
            let own = trace.ranges().iter().filter(|it| it.thread == lap.thread);
            let tid = trace.thread(lap.thread).tid;
            let mut lane = Lane::of(of, tid, lap.cuts, loading(trace, own));
            let watched = self.watched.iter().filter(|it| it.0 == of);
            watched.for_each(|it| lane.watch(it.1));
            self.lanes.insert((process, of.number), lane);
        }
    }

    /// Takes in a task, of which each comes once.
    fn task(&mut self, window: &Window<'_>, id: TaskId) {
        let trace = window.trace;
        let task = trace.task(id);
        let process = trace.stream(task.stream).process;
        let lanes = (process, 0)..=(process, u32::MAX);
        if self.lanes.range(lanes.clone()).next().is_none() {
            return;
        }
        if !runs(trace, id) {
            return;
        }
        let launched = window.keys.task(id);
        let probable = self.followed.take((trace, id), launched, &mut self.learner);
        if TaskRole::of(trace, task) != TaskRole::Work {
            return;
        }
        let launch = trace.call(task.call);
        let placed = self.learner.place(trace, task);
        let placed = placed.map(|it| (it.time, it.error)).or(probable);
        let planned = trace.planned(launch).map(|id| trace.call(id));
        let planned = planned.map_or((launch.begin, launch.begin), |it| (it.begin, it.end));
        for (_, lane) in self.lanes.range_mut(lanes) {
            if task.time.is_none() {
                // Its begin may be in a step that was summed up before its part arrived.
                lane.untimed(launched);
            }
            let Some((time, error)) = placed else {
                continue;
            };
            let name = match lane.is_watching() {
                true => self.names.number(trace.task_name(task)),
                false => 0,
            };
            lane.add(UseInterval {
                name,
                begin: time.begin,
                end: time.end,
                error,
                used: match task.kind {
                    TaskKind::Collective => Use::Communication,
                    TaskKind::Memcpy | TaskKind::Memset => Use::Copy,
                    _ => Use::Compute,
                },
                host: [planned.0, planned.1, launch.begin],
            });
        }
    }

    /// Takes in a call: the host may copy as well.
    fn call(&mut self, trace: &Trace, call: &Call) {
        let function = trace.function(call.function);
        if function.role.meaning().waits != WaitTarget::Transfer || !call.ending.is_return() {
            return;
        }
        let process = trace.thread(call.thread).process;
        for (_, lane) in self.lanes.range_mut((process, 0)..=(process, u32::MAX)) {
            let name = match lane.is_watching() {
                true => self.names.number(&function.name),
                false => 0,
            };
            lane.add(UseInterval {
                name,
                begin: call.begin,
                end: call.end,
                error: 0,
                used: Use::Copy,
                host: [call.begin; 3],
            });
        }
    }

    /// Sums up the steps that end before a time: nothing that begins before it will be added.
    fn settle(&mut self, trace: &Trace, until: i64) {
        for ((process, _), lane) in &mut self.lanes {
            lane.settle(trace, *process, until, &mut |row| self.rows.push(row));
        }
    }
}

impl Fold for Steps {
    type Answer = Vec<StepStats>;

    const NEEDS: AnalysisNeeds = AnalysisNeeds::Calls;
    fn take(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        // Ranges of a recording that still grows come later than its calls.
        let ranges = Some(trace.ranges().len());
        let is_new = self.known.is_none() || self.plan.is_none() && self.known != ranges;
        if is_new {
            self.known = ranges;
            self.plan(trace, window.places());
        }
        if self.lanes.is_empty() {
            return;
        }
        for stream in (0..trace.streams().len() as u32).map(StreamId) {
            for id in window.stream_tasks(stream) {
                self.task(window, id);
            }
        }
        for id in window.calls() {
            self.call(trace, trace.call(id));
        }
        if window.part.is_last {
            self.settle(trace, i64::MAX);
            self.rows
                .sort_by_key(|row| (row.begin_ns, row.process, row.loop_number));
        } else {
            self.settle(trace, window.part.until);
        }
    }

    fn finish(self) -> Vec<StepStats> {
        self.rows
    }
}

/// When the program waited for data, from the hook's ranges, or else torch_npu's. torch_npu leaves the
/// range of an empty loader open, so the begin of one ends the one before, and one that ends with the
/// recording says nothing.
fn loading<'r>(trace: &Trace, ranges: impl Iterator<Item = &'r Range> + Clone) -> Intervals {
    let reported = ranges
        .clone()
        .filter(|it| it.kind() == Some(RangeKind::Loader));
    let reported = Intervals::union_of(reported.map(Range::time));
    if !reported.is_empty() {
        return reported;
    }
    let named = ranges.filter(|it| is_loader(it));
    let mut named: Vec<_> = named.map(Range::time).collect();
    named.sort_unstable();
    let next = named.iter().skip(1).map(|it| it.begin).chain([i64::MAX]);
    let recorded = trace.end().map(|it| it.0);
    let ended = named.iter().zip(next);
    let ended =
        ended.map(|(reported, next)| TimeRange::new(reported.begin, reported.end.min(next)));
    Intervals::union_of(ended.filter(|it| Some(it.end) != recorded))
}
