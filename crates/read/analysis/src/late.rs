//! Where the host was late: activity of the thread that plans operators, and how the time until the
//! device had the next one divides into the program, the planning, the queue between threads, and the
//! submission.

use std::collections::BTreeMap;

use ascend_trace_format::range::RangeKind;
use ascend_trace_recording::{Range, ThreadId, TimeRange, Trace};
use serde::Serialize;

use crate::{Cause, Node, Places, Stall};

/// The time that a stream waited for the threads that plan and submit its tasks. The four times add up
/// to the stall.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Late {
    /// The thread that planned the next task, or submitted it without planning.
    pub tid: u32,
    pub thread: String,
    /// Whether that is the program's first thread.
    pub is_main: bool,
    /// The range in which the program spent most of the time before the planning, the one around it first; `null`
    /// where it was in none.
    pub range: Option<String>,
    /// How long it was in that range.
    pub range_ns: i64,
    /// Before the task was planned: the program, and its interpreter.
    pub python_ns: i64,
    /// While it was planned.
    pub planning_ns: i64,
    /// Between that and the submission, which may be another thread's.
    pub queue_ns: i64,
    /// From the begin of the submission until the device began the task.
    pub launch_ns: i64,
}

impl Late {
    /// Where the thread that submits to a stream was late, for programs with ranges or with operators that one thread
    /// plans and another submits.
    pub fn of(trace: &Trace, places: &Places, stall: &Stall) -> Option<Self> {
        let (Cause::HostLate, Node::Task(task)) = (stall.cause, stall.node) else {
            return None;
        };
        let launch = trace.call(trace.task(task).call);
        let planned = trace.planned(launch).map(|id| trace.call(id));
        let mut thread = planned.map_or(launch.thread, |call| call.thread);
        let (begin, end) = (stall.begin, stall.end);
        let mut cuts = [begin, launch.begin, launch.begin, launch.begin, end];
        if let Some(planned) = planned {
            cuts[1..3].copy_from_slice(&[planned.begin, planned.end]);
        }
        for place in 1..4 {
            cuts[place] = cuts[place].clamp(cuts[place - 1], end);
        }
        let mut range = most(trace, places, thread, TimeRange::new(begin, cuts[1]));
        if range.is_none()
            && let Some(leader) = places.leader(trace.thread(thread).process)
        {
            // Autograd's threads are in no range: their work is a part of the main thread's.
            range = most(trace, places, leader, TimeRange::new(begin, cuts[1]));
            thread = range.as_ref().map_or(thread, |_| leader);
        }
        if range.is_none() && planned.is_none_or(|it| it.thread == launch.thread) {
            return None;
        }
        let process = trace.process(trace.thread(thread).process);
        let told = trace.thread(thread);
        let (range, range_ns) = range.unzip();
        Some(Self {
            tid: told.tid,
            thread: told.name.clone(),
            is_main: told.tid == process.pid,
            range,
            range_ns: range_ns.unwrap_or(0),
            python_ns: cuts[1] - begin,
            planning_ns: cuts[2] - cuts[1],
            queue_ns: cuts[3] - cuts[2],
            launch_ns: end - cuts[3],
        })
    }
}

/// In what range a thread spent most of an interval, and how long.
fn most(
    trace: &Trace,
    places: &Places,
    thread: ThreadId,
    interval: TimeRange,
) -> Option<(String, i64)> {
    let nesting = places.nesting();
    let cuts = nesting.cuts(thread, interval);
    let ends = cuts.iter().skip(1).copied().chain([interval.end]);
    let mut sums: BTreeMap<String, i64> = BTreeMap::new();
    for (from, until) in cuts.iter().zip(ends) {
        let around = nesting.around(trace, thread, *from);
        // That begins just before the first task of a module, independent of the thread's wait.
        let around = around.filter(|range| range.kind() != Some(RangeKind::Backward));
        let mut around: Vec<&Range> = around.collect();
        // Ranges of the hook are nested well, others need not have an end.
        if around.iter().any(|range| range.kind().is_some()) {
            around.retain(|range| range.kind().is_some());
        }
        if let Some(path) = path(&around) {
            *sums.entry(path).or_default() += until - from;
        }
    }
    let most = sums.into_iter().max_by_key(|(_, total)| *total);
    most.filter(|(_, total)| *total > 0)
}

/// The outermost and the innermost of the ranges around a time, which are given from the inside out; a
/// step is left out if it has others inside.
fn path(around: &[&Range]) -> Option<String> {
    let mut names: Vec<&str> = around.iter().rev().map(|it| it.name.as_str()).collect();
    let is_step = |range: &Range| crate::places::is_step(range);
    if names.len() > 1 && around.last().is_some_and(|it| is_step(it)) {
        names.remove(0);
    }
    // The program and the hook can both report the same range.
    names.dedup();
    match names[..] {
        [] => None,
        [only] => Some(only.to_owned()),
        [first, .., last] => Some(format!("{first} > {last}")),
    }
}
