//! Sums of host threads.

use std::collections::BTreeMap;

use ascend_trace_recording::{Call, StreamId, ThreadId, TimeRange, Trace};

use super::lane_rows::{ThreadStats, process_order};
use super::stalls_by_cause::Sums;
use super::tables::Range;
use crate::pause_work::{PauseWork, Work};
use crate::{Cause, Lane, Node, Window};

/// Whether a stream stalls because a thread had not submitted its next task.
const fn is_late(cause: Cause) -> bool {
    cause.is_of_host() || matches!(cause, Cause::GraphLaunch)
}

#[derive(Clone, Debug, Default)]
struct Thread {
    calls: u64,
    begin: Option<i64>,
    end: Option<i64>,
    in_calls: i64,
    pauses: PauseWork,
    /// Pauses outside AscendCL with a known processor time: how long they were, and the least and the most of that time.
    known: i64,
    work: Work,
    blocked: Sums,
    late: Sums,
}

/// All threads until now.
#[derive(Clone, Debug, Default)]
pub(super) struct Threads {
    threads: BTreeMap<ThreadId, Thread>,
}

impl Threads {
    pub(super) fn take(&mut self, window: &Window<'_>, range: Range) {
        let (trace, Some(range)) = (window.trace, range) else {
            return;
        };
        for id in (0..trace.threads().len() as u32).map(ThreadId) {
            let thread = self.threads.entry(id).or_default();
            for call in window.thread_calls(id).map(|id| trace.call(id)) {
                if call.depth == 0 && range.overlaps(call.range()) {
                    thread.call(call.range().intersection(range));
                    thread.pause(call, range);
                }
            }
            let blocked = window.lane_stalls(Lane::Thread(id));
            blocked.for_each(|stall| thread.blocked.add(stall, range));
        }
        for stream in (0..trace.streams().len() as u32).map(StreamId) {
            for stall in window.lane_stalls(Lane::Stream(stream)) {
                if let (true, Node::Task(task)) = (is_late(stall.cause), stall.node) {
                    let id = trace.call(trace.task(task).call).thread;
                    let thread = self.threads.entry(id).or_default();
                    thread.late.add(stall, range);
                }
            }
        }
    }

    pub(super) fn rows(&self, trace: &Trace) -> Vec<ThreadStats> {
        let threads = self.threads.iter();
        let rows = threads.filter_map(|(id, sums)| sums.row(trace, *id));
        let mut rows: Vec<ThreadStats> = rows.collect();
        rows.sort_by_key(|row| {
            let process = process_order(row.rank, row.pid, row.process);
            (process, row.begin_ns, row.tid)
        });
        rows
    }
}

impl Thread {
    /// Counts a call of the program's own. Those of one thread follow each other.
    fn call(&mut self, TimeRange { begin, end }: TimeRange) {
        self.calls += 1;
        self.begin = Some(self.begin.map_or(begin, |first| first.min(begin)));
        let from = self.end.map_or(begin, |last| last.max(begin));
        self.in_calls += (end - from).max(0);
        self.end = Some(self.end.map_or(end, |last| last.max(end)));
    }

    /// Counts the pause that a reading of the processor time is about.
    fn pause(&mut self, call: &Call, range: TimeRange) {
        let known = self.pauses.take(call.begin, call.end, call.cpu);
        if let Some(pause) = known.filter(|it| it.begin >= range.begin) {
            self.known += pause.end - pause.begin;
            self.work.least += pause.work.least;
            self.work.most += pause.work.most;
        }
    }

    fn row(&self, trace: &Trace, id: ThreadId) -> Option<ThreadStats> {
        let thread = trace.thread(id);
        Some(ThreadStats {
            process: trace.process(thread.process).serial,
            pid: trace.process(thread.process).pid,
            rank: trace.process(thread.process).rank_number(),
            tid: thread.tid,
            name: thread.name.clone(),
            calls: self.calls,
            begin_ns: self.begin?,
            end_ns: self.end?,
            in_calls_ns: self.in_calls,
            outside_ns: self.end? - self.begin? - self.in_calls,
            outside_known_ns: self.known,
            outside_work_ns: (self.work.least + self.work.most) / 2,
            outside_work_error_ns: (self.work.most - self.work.least + 1) / 2,
            blocked_ns: self.blocked.total(|_| true),
            causes: self.blocked.rows(),
            streams_late: self.late.rows(),
        })
    }
}
