//! Tracer overhead of the program's threads: sums derived from samples.

use std::collections::HashMap;

use ascend_trace_format::record::kinds;
use ascend_trace_recording::rows::CostRow;

use super::clock::TickClock;

/// A thread by its process and its number in the trace.
pub(crate) type ThreadKey = (u32, u32);

/// One thread.
#[derive(Clone, Copy, Default)]
struct ThreadCost {
    /// Calls that have been recorded.
    calls: u64,
    last: CostRow,
    /// The last report of the thread.
    reported: Option<kinds::Cost>,
}

/// All threads of the recording.
#[derive(Default)]
pub(crate) struct ThreadCosts {
    /// By number of the thread.
    threads: Vec<ThreadCost>,
    /// Which thread of a process has this id.
    ids: HashMap<(u32, u32), u32>,
    /// Reports about threads without a report, by process.
    unknown: Vec<(u32, kinds::Cost)>,
    /// Calls that were measured in any thread, and for how long in nanoseconds.
    measured: (u64, u64),
}

impl ThreadCosts {
    /// A thread is about to be heard.
    pub(crate) fn introduce(&mut self, process: u32, thread: u32, tid: u32) {
        let place = thread as usize;
        if place < self.threads.len() {
            return;
        }
        self.threads.resize(place + 1, ThreadCost::default());
        self.threads[place].last.thread = thread;
        self.ids.insert((process, tid), thread);
    }

    /// More calls of a thread have been recorded.
    pub(crate) fn count(&mut self, thread: u32, calls: u64) {
        if let Some(thread) = self.threads.get_mut(thread as usize) {
            thread.calls += calls;
        }
    }

    /// Takes a report of a thread, or about another thread of its process. Returns `None` for a thread
    /// without a report, which happens when a process ends. `calls` is the number of calls of the
    /// writing thread since the last count.
    pub(crate) fn take(
        &mut self,
        reported: &kinds::Cost,
        (process, writer): ThreadKey,
        calls: u64,
        clock: &TickClock,
    ) -> Option<CostRow> {
        let Some(number) = self.ids.get(&(process, reported.tid)).copied() else {
            self.unknown.push((process, *reported));
            return None;
        };
        let since = if number == writer { calls } else { 0 };
        self.add_report(number, reported, since, clock)
    }

    fn add_report(
        &mut self,
        number: u32,
        reported: &kinds::Cost,
        calls: u64,
        clock: &TickClock,
    ) -> Option<CostRow> {
        let thread = self.threads.get_mut(number as usize)?;
        let (samples, sampled_ns) = thread.add_report(reported, thread.calls + calls, clock);
        self.measured.0 += samples;
        self.measured.1 += sampled_ns;
        Some(thread.last)
    }

    /// At the end of the recording: sums of all threads that recorded more since their last report. The
    /// last report of a thread may be lost.
    pub(crate) fn close(&mut self, end_ns: i64, clock: &TickClock) -> Vec<CostRow> {
        let mut rows = Vec::new();
        for (process, reported) in std::mem::take(&mut self.unknown) {
            let number = self.ids.get(&(process, reported.tid)).copied();
            rows.extend(number.and_then(|number| self.add_report(number, &reported, 0, clock)));
        }
        let (samples, sampled_ns) = self.measured;
        let usual = |calls: u64| scaled(sampled_ns, calls, samples);
        let threads = self.threads.iter_mut();
        let silent = threads.filter(|thread| thread.calls > thread.last.calls);
        rows.extend(silent.map(|thread| {
            let more = thread.calls - thread.last.calls;
            thread.last.recording_ns += usual(more);
            thread.last.calls = thread.calls;
            thread.last.at_ns = thread.last.at_ns.max(end_ns);
            thread.last
        }));
        rows
    }
}

impl ThreadCost {
    /// Takes a report of the thread after `calls` calls; returns its new measurements.
    fn add_report(&mut self, reported: &kinds::Cost, calls: u64, clock: &TickClock) -> (u64, u64) {
        // Two threads may speak for one, and be heard in another order.
        if self.reported.is_some_and(|last| reported.at < last.at) {
            return (0, 0);
        }
        let ns = |ticks: u64| clock.length(ticks);
        let last = self.reported.as_ref();
        let since = |of: fn(&kinds::Cost) -> u64| of(reported).saturating_sub(last.map_or(0, of));
        let samples = since(|it| it.samples);
        let sampled_ns = ns(since(|it| it.sampled));
        let besides_ns = ns(since(|it| it.besides));
        let more = calls.saturating_sub(self.last.calls);
        // Without a new measurement the earlier ones have to do.
        let recording_ns = match samples {
            0 => scaled(ns(reported.sampled), more, reported.samples),
            samples => scaled(sampled_ns, more, samples),
        };
        let timing_ns = ns(since(|it| it.timing));
        let reading_ns = ns(since(|it| it.reading));
        self.last = CostRow {
            at_ns: clock.ns(reported.at),
            calls: calls.max(self.last.calls),
            recording_ns: self.last.recording_ns + recording_ns + besides_ns,
            tasks: reported.tasks,
            events: reported.events,
            timing_ns: self.last.timing_ns + timing_ns,
            reading_ns: self.last.reading_ns + reading_ns,
            ..self.last
        };
        self.reported = Some(*reported);
        (samples, sampled_ns)
    }
}

/// What `count` cost if `samples` cost `sum`.
fn scaled(sum: u64, count: u64, samples: u64) -> u64 {
    let product = u128::from(sum) * u128::from(count);
    u64::try_from(product / u128::from(samples.max(1))).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A report of the thread `tid`: time, samples, their duration, other time, timing.
    fn reported(tid: u32, [at, samples, sampled, besides, timing]: [u64; 5]) -> kinds::Cost {
        kinds::Cost {
            tid,
            at,
            samples,
            sampled,
            besides,
            tasks: 5,
            events: 10,
            timing,
            reading: 0,
        }
    }

    fn costs() -> (ThreadCosts, TickClock) {
        let mut costs = ThreadCosts::default();
        costs.introduce(1, 0, 70);
        costs.introduce(1, 1, 71);
        (costs, TickClock::monotonic())
    }

    #[test]
    fn measured_calls_are_scaled_to_all_calls() {
        let (mut costs, clock) = costs();
        costs.count(0, 900);
        let row = costs.take(
            &reported(70, [5000, 10, 400, 1000, 77]),
            (1, 0),
            100,
            &clock,
        );
        let row = row.unwrap();
        assert_eq!((row.calls, row.recording_ns), (1000, 1000 * 40 + 1000));
        assert_eq!((row.tasks, row.events, row.timing_ns), (5, 10, 77));
        costs.count(0, 300);
        // Calls have become quicker: that holds for the new ones.
        let row = costs.take(&reported(70, [9000, 20, 600, 1000, 77]), (1, 0), 0, &clock);
        assert_eq!(row.unwrap().recording_ns, 41_000 + 200 * 20);
    }

    #[test]
    fn a_thread_can_speak_for_another_one_of_its_process() {
        let (mut costs, clock) = costs();
        costs.count(1, 50);
        let row = costs.take(&reported(71, [100, 1, 30, 0, 0]), (1, 0), 7, &clock);
        let row = row.unwrap();
        assert_eq!((row.thread, row.calls, row.recording_ns), (1, 50, 1500));
        // This one is known only later.
        let row = costs.take(&reported(72, [100, 1, 30, 0, 0]), (1, 0), 0, &clock);
        assert_eq!(row, None);
        costs.introduce(1, 2, 72);
        costs.count(2, 4);
        let rows = costs.close(900, &clock);
        assert_eq!((rows[0].thread, rows[0].recording_ns), (2, 120));
    }

    #[test]
    fn a_late_report_changes_nothing() {
        let (mut costs, clock) = costs();
        let now = costs.take(&reported(70, [200, 4, 80, 0, 9]), (1, 1), 0, &clock);
        let late = costs.take(&reported(70, [100, 2, 40, 0, 5]), (1, 0), 0, &clock);
        assert_eq!(late, now);
    }

    #[test]
    fn threads_that_said_nothing_are_taken_for_the_same() {
        let (mut costs, clock) = costs();
        costs.count(0, 10);
        costs.take(&reported(70, [100, 2, 80, 0, 0]), (1, 0), 0, &clock);
        costs.count(1, 5);
        let rows = costs.close(900, &clock);
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].thread, rows[0].calls), (1, 5));
        assert_eq!((rows[0].recording_ns, rows[0].at_ns), (200, 900));
        assert!(costs.close(900, &clock).is_empty());
    }
}
