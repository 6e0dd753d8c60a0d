//! Tracer overhead of the program: host time of its threads, and events on its streams.
//!
//! Each thread reports its sums from time to time, so a series has sums: the difference was spent
//! between two points.

use std::collections::BTreeMap;

use crate::entities::{ProcessId, Thread, ThreadId};
use crate::rows::CostRow;
use crate::trace::Trace;

/// Sums from the begin of the recording to a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// `CLOCK_MONOTONIC` of the recording host.
    pub at: i64,
    pub calls: u64,
    /// Time that recording these calls took; it is measured for some of them.
    pub recording_ns: u64,
    /// Tasks with events of the tool around them.
    pub tasks: u64,
    /// Events that the tool recorded on streams.
    pub events: u64,
    /// Time that recording these events took.
    pub timing_ns: u64,
    /// Time that reading the times of tasks took.
    pub reading_ns: u64,
}

impl Cost {
    /// All host time together.
    pub fn own_ns(&self) -> u64 {
        self.recording_ns
            .saturating_add(self.timing_ns)
            .saturating_add(self.reading_ns)
    }

    /// This with the sums of another thread; the later time of both.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            at: self.at.max(other.at),
            calls: self.calls.saturating_add(other.calls),
            recording_ns: self.recording_ns.saturating_add(other.recording_ns),
            tasks: self.tasks.saturating_add(other.tasks),
            events: self.events.saturating_add(other.events),
            timing_ns: self.timing_ns.saturating_add(other.timing_ns),
            reading_ns: self.reading_ns.saturating_add(other.reading_ns),
        }
    }

    /// Overhead since an earlier point of the same series.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            at: self.at,
            calls: self.calls.saturating_sub(earlier.calls),
            recording_ns: self.recording_ns.saturating_sub(earlier.recording_ns),
            tasks: self.tasks.saturating_sub(earlier.tasks),
            events: self.events.saturating_sub(earlier.events),
            timing_ns: self.timing_ns.saturating_sub(earlier.timing_ns),
            reading_ns: self.reading_ns.saturating_sub(earlier.reading_ns),
        }
    }
}

impl From<&CostRow> for Cost {
    fn from(row: &CostRow) -> Self {
        Self {
            at: row.at_ns,
            calls: row.calls,
            recording_ns: row.recording_ns,
            tasks: row.tasks,
            events: row.events,
            timing_ns: row.timing_ns,
            reading_ns: row.reading_ns,
        }
    }
}

/// The series of all threads with reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    threads: BTreeMap<ThreadId, Vec<Cost>>,
}

impl Costs {
    /// A row that goes back in time says nothing.
    pub(crate) fn add(&mut self, thread: ThreadId, row: &CostRow) {
        let series = self.threads.entry(thread).or_default();
        let cost = Cost::from(row);
        match series.last_mut() {
            Some(last) if last.at > cost.at => {}
            Some(last) if last.at == cost.at => *last = cost,
            _ => series.push(cost),
        }
    }

    /// One thread's sums, by time.
    pub fn of_thread(&self, thread: ThreadId) -> &[Cost] {
        self.threads.get(&thread).map_or(&[], Vec::as_slice)
    }

    /// Threads with reports, and their series.
    pub fn threads(&self) -> impl Iterator<Item = (ThreadId, &[Cost])> {
        let threads = self.threads.iter();
        threads.map(|(thread, series)| (*thread, series.as_slice()))
    }

    /// A process's sums, by time: a point for each point of one of its threads.
    pub fn of_process(&self, trace: &Trace, process: ProcessId) -> Vec<Cost> {
        let threads = trace.threads();
        let is_own = |thread: ThreadId| {
            let known: Option<&Thread> = threads.get(thread.index());
            known.is_some_and(|thread| thread.process == process)
        };
        let own: Vec<&[Cost]> = self
            .threads()
            .filter(|(thread, _)| is_own(*thread))
            .map(|(_, series)| series)
            .collect();
        merged(&own)
    }

    /// The last sums of all threads together.
    pub fn total(&self) -> Cost {
        let last = self.threads.values().filter_map(|series| series.last());
        last.fold(Cost::default(), |sum, cost| sum.plus(cost))
    }
}

/// Sums over several series.
fn merged(all: &[&[Cost]]) -> Vec<Cost> {
    let steps = all.iter().flat_map(|series| {
        let before = [Cost::default()].into_iter().chain(series.iter().copied());
        before
            .zip(*series)
            .map(|(before, cost)| cost.since(&before))
    });
    let mut steps: Vec<Cost> = steps.collect();
    steps.sort_by_key(|step| step.at);
    let mut sums: Vec<Cost> = Vec::with_capacity(steps.len());
    for step in steps {
        let sum = sums.last().map_or(step, |sum| sum.plus(&step));
        match sums.last_mut() {
            Some(last) if last.at == sum.at => *last = sum,
            _ => sums.push(sum),
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(at: i64, calls: u64, timing_ns: u64) -> Cost {
        Cost {
            at,
            calls,
            recording_ns: calls * 30,
            timing_ns,
            ..Cost::default()
        }
    }

    #[test]
    fn a_process_has_the_sums_of_its_threads_at_every_time() {
        let one = [cost(10, 5, 100), cost(30, 9, 150)];
        let other = [cost(20, 2, 7), cost(30, 4, 7)];
        let sums = merged(&[&one, &other]);
        let expected = [cost(10, 5, 100), cost(20, 7, 107), cost(30, 13, 157)];
        assert_eq!(sums, expected);
        assert_eq!(sums[2].own_ns(), 13 * 30 + 157);
        assert_eq!(merged(&[]), []);
    }

    #[test]
    fn rows_that_go_back_are_left_out_and_the_last_of_equal_times_counts() {
        let mut costs = Costs::default();
        let row = |at_ns, calls| CostRow {
            at_ns,
            calls,
            ..CostRow::default()
        };
        for (at, calls) in [(5, 1), (9, 4), (7, 2), (9, 6)] {
            costs.add(ThreadId(3), &row(at, calls));
        }
        let series: Vec<(i64, u64)> = costs
            .of_thread(ThreadId(3))
            .iter()
            .map(|cost| (cost.at, cost.calls))
            .collect();
        assert_eq!(series, [(5, 1), (9, 6)]);
        assert_eq!(costs.of_thread(ThreadId(0)), []);
        assert_eq!(costs.total().calls, 6);
    }
}
