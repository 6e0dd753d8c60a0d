//! Where the host was late: activity of the thread that plans operators, and how the time until the
//! device had the next one divides into the program, the planning, the queue between threads, and the
//! submission.

use std::collections::BTreeMap;

use ascend_trace_format::range::RangeKind;
use ascend_trace_recording::units::duration;
use ascend_trace_recording::{Range, ThreadId, TimeRange, Trace};

use crate::columns::declare::*;
use crate::{Cause, Node, PlannedRanges, Stall};

table_row! {
/// The time that a stream waited for the threads that plan and submit its tasks. The four times add up
/// to the stall.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostLateness {
    pub tid: u32 => column("tid", Id, |it: &Self| it.tid.into(), "the thread that planned the next task, or the one with ranges around this work");
    pub thread: String => column("thread", Text, |it: &Self| (&it.thread).into(), "its name");
    pub is_main: bool => column("is_main", Flag, |it: &Self| it.is_main.into(), "whether it is the first thread of the program");
    pub range: Option<String> => column("range", Text, |it: &Self| it.range.as_ref().into(), "the range of this thread that took most of the time before (the outermost and the innermost, with ` > ` between them), or `null`");
    pub range_ns: i64 => column("range_ns", Duration, |it: &Self| it.range_ns.into(), "the time of this range");
    pub python_ns: i64 => column("python_ns", Duration, |it: &Self| it.python_ns.into(), "until the next task was planned");
    pub planning_ns: i64 => column("planning_ns", Duration, |it: &Self| it.planning_ns.into(), "the planning");
    pub queue_ns: i64 => column("queue_ns", Duration, |it: &Self| it.queue_ns.into(), "until another thread began to submit it");
    pub launch_ns: i64 => column("launch_ns", Duration, |it: &Self| it.launch_ns.into(), "until the device began it");
    /// The word for `python_ns` in texts: [`ascend_trace_recording::Process::host_word`].
    pub host_word: &'static str;
}
}

impl HostLateness {
    /// What held up the threads that plan and submit: `main thread in range dataloader 30.1 ms (python …)`.
    pub(crate) fn words(&self) -> String {
        let thread = match self.is_main {
            true => "main thread".to_owned(),
            false => format!("thread {} {}", self.tid, self.thread),
        };
        let range = self.range.as_ref().map_or_else(String::new, |range| {
            format!(" in range {range} {}", duration(self.range_ns))
        });
        let parts = [
            (self.host_word, self.python_ns),
            ("planning", self.planning_ns),
            ("queue", self.queue_ns),
            ("launch", self.launch_ns),
        ];
        let parts = parts.map(|(word, time)| format!("{word} {}", duration(time)));
        format!("{thread}{range} ({})", parts.join(", "))
    }

    /// Where the thread that submits to a stream was late, for programs with ranges or with operators that one thread
    /// plans and another submits.
    pub fn of(trace: &Trace, places: &PlannedRanges, stall: &Stall) -> Option<Self> {
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
        let reported = trace.thread(thread);
        let (range, range_ns) = range.unzip();
        Some(Self {
            tid: reported.tid,
            thread: reported.name.clone(),
            is_main: reported.tid == process.pid,
            range,
            range_ns: range_ns.unwrap_or(0),
            python_ns: cuts[1] - begin,
            planning_ns: cuts[2] - cuts[1],
            queue_ns: cuts[3] - cuts[2],
            launch_ns: end - cuts[3],
            host_word: process.host_word(),
        })
    }
}

/// In what range a thread spent most of an interval, and how long.
fn most(
    trace: &Trace,
    places: &PlannedRanges,
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
    let is_step = |range: &Range| crate::planned_ranges::is_step(range);
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
