//! Steps of training loops, summed up window by window.
//!
//! It is worked out from ranges of which all are known before the first window
//! ([`ascend_trace_recording::archive::Replay`]), so a task finds its step wherever a recording is cut.

use std::collections::BTreeMap;

use ascend_trace_format::api::{TaskKind, Waits};
use ascend_trace_format::range::RangeKind;
use ascend_trace_recording::{Call, ProcessId, Range, StreamId, TaskId, Trace};

use super::lane::{Lane, Piece, Use};
use super::step::StepStats;
use crate::dependencies::runs;
use crate::places::is_named_step;
use crate::repeated::is_loader;
use crate::{Class, Fold, Intervals, Places, Window};

/// The steps of a recording, by process. Steps are ranges of the hook inside Python, or ranges that the program
/// itself calls like one.
///
/// A trace without steps costs nothing.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// Of how many ranges it was made.
    known: usize,
    lanes: BTreeMap<ProcessId, Lane>,
    rows: Vec<StepStats>,
}

impl Steps {
    /// Those that have been summed up, by begin once the last window was taken in.
    pub fn rows(&self) -> &[StepStats] {
        &self.rows
    }

    /// What is known of a range that is a step.
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

    /// Takes in the ranges of a trace, all of which are known.
    fn plan(&mut self, trace: &Trace, places: &Places) {
        self.lanes.clear();
        self.rows.clear();
        for (process, _) in (0..).map(ProcessId).zip(trace.processes()) {
            let Some(leader) = places.leader(process) else {
                continue;
            };
            let own = || trace.ranges().iter().filter(move |it| it.thread == leader);
            let mut steps: Vec<_> = own().filter(|it| is_step(it)).collect();
            if steps.is_empty() {
                steps = own().filter(|it| is_named_step(it)).collect();
            }
            let lane = Lane::of(trace.thread(leader).tid, steps, loading(trace, own()));
            self.lanes.extend(lane.map(|lane| (process, lane)));
        }
    }

    /// Takes in a task, of which each comes once.
    fn task(&mut self, window: &Window<'_>, id: TaskId) {
        let trace = window.trace;
        let task = trace.task(id);
        let process = trace.stream(task.stream).process;
        let Some(lane) = self.lanes.get_mut(&process) else {
            return;
        };
        if Class::of(trace, task) != Class::Work || !runs(trace, id) {
            return;
        }
        let launch = trace.call(task.call);
        let Some(time) = task.time else {
            // Its own begin may lie in a step that was summed up before its part came.
            return lane.untimed(window.keys.task(id));
        };
        let planned = trace.planned(launch).map(|id| trace.call(id));
        let planned = planned.map_or((launch.begin, launch.begin), |it| (it.begin, it.end));
        lane.add(Piece {
            begin: time.begin,
            end: time.end,
            used: match task.kind {
                TaskKind::Collective => Use::Communication,
                TaskKind::Memcpy | TaskKind::Memset => Use::Copy,
                _ => Use::Compute,
            },
            host: [planned.0, planned.1, launch.begin],
        });
    }

    /// Takes in a call: the host may copy as well.
    fn call(&mut self, trace: &Trace, call: &Call) {
        let role = trace.function(call.function).role;
        if role.meaning().waits != Waits::Transfer || !call.ending.is_return() {
            return;
        }
        let process = trace.thread(call.thread).process;
        if let Some(lane) = self.lanes.get_mut(&process) {
            lane.add(Piece {
                begin: call.begin,
                end: call.end,
                used: Use::Copy,
                host: [call.begin; 3],
            });
        }
    }

    /// Sums up the steps that end before a moment: nothing that begins before it will be taken in.
    fn settle(&mut self, trace: &Trace, until: i64) {
        for (process, lane) in &mut self.lanes {
            while let Some(row) = lane.settle(trace, *process, until) {
                self.rows.push(row);
            }
        }
    }
}

impl Fold for Steps {
    type Answer = Vec<StepStats>;

    fn take(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        if self.known != trace.ranges().len() {
            self.known = trace.ranges().len();
            self.plan(trace, &window.places);
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
            self.rows.sort_by_key(|row| (row.begin_ns, row.process));
        } else {
            self.settle(trace, window.part.until);
        }
    }

    fn finish(self) -> Vec<StepStats> {
        self.rows
    }
}

fn is_step(range: &Range) -> bool {
    range.kind() == Some(RangeKind::Step)
}

/// When the program waited for data, by what the hook told of it, or else torch_npu: that leaves the range of a
/// loader that has no more open, so one that begins ends the one before, and what ends with the recording tells nothing.
fn loading<'r>(trace: &Trace, ranges: impl Iterator<Item = &'r Range> + Clone) -> Intervals {
    let told = ranges
        .clone()
        .filter(|it| it.kind() == Some(RangeKind::Loader));
    let told = Intervals::union_of(told.map(|it| (it.begin, it.end)));
    if !told.is_empty() {
        return told;
    }
    let named = ranges.filter(|it| is_loader(it));
    let mut named: Vec<_> = named.map(|it| (it.begin, it.end)).collect();
    named.sort_unstable();
    let next = named.iter().skip(1).map(|it| it.0).chain([i64::MAX]);
    let recorded = trace.end().map(|it| it.0);
    let ended = named.iter().zip(next);
    let ended = ended.map(|((begin, end), next)| (*begin, (*end).min(next)));
    Intervals::union_of(ended.filter(|it| Some(it.1) != recorded))
}
