//! Ends a recording: reads the rest, and writes the rows that sum it up.

use ascend_trace_format::record::Counter;
use ascend_trace_recording::rows::{CounterRow, EndRow, InnerRow, LossRow, Row};
use ascend_trace_ring::Arena;
use ascend_trace_tables as tables;

use crate::{Collector, ProgramEnd, RecordingOutcome, clock};

impl Collector {
    /// Ends the file; without the end of the program, before it. Returns the shared memory as well.
    pub(crate) fn finish(mut self, end: Option<ProgramEnd>) -> (RecordingOutcome, Arena) {
        self.liveness.look_again();
        if let Some(end) = end {
            self.liveness.set_gone(end.pid);
        }
        self.drain_all(None);
        self.mark();
        match self.without_channel() {
            None => self.damage(1),
            Some(0) => {}
            Some(without_channel) => {
                self.without_channel += without_channel;
                self.lose(LossRow {
                    thread: None,
                    calls: without_channel,
                    others: 0,
                    times: 0,
                });
            }
        }
        // Some may have ended since.
        self.liveness.look_again();
        self.drain_all(Some(clock::now()));
        self.file.stop_triggers();
        let channels = self.arena.channels().into_iter().map(|(_, info)| info);
        let running: std::collections::HashSet<_> = channels
            .filter(|_| end.is_some())
            .filter(|info| self.id_tables.knows(*info) && self.liveness.is_alive(*info))
            .map(|info| (info.pid, info.namespace))
            .collect();
        self.mend();
        self.tell_damage();
        let end_ns = clock::now();
        let found = &self.decoder.found;
        let coverage = self.coverage.rows(tables::FUNCTIONS, found, &self.engine);
        for row in coverage.into_iter().map(Row::Coverage) {
            self.file.push(&row);
        }
        let nested = self.arena.nested();
        for it in &nested {
            let row = InnerRow::new(it.pid, it.trace.as_deref());
            self.file.push(&Row::Inner(row));
        }
        for (process, counts) in &self.counts.endings {
            let kinds = [Counter::OpenCalls, Counter::LeftCalls];
            for (what, value) in kinds.into_iter().zip(*counts).filter(|(_, it)| *it > 0) {
                self.file.push(&Row::Counter(CounterRow {
                    process: *process,
                    what: what as u16,
                    value,
                }));
            }
        }
        for row in self.filtered.close() {
            self.file.push(&Row::Counter(row));
        }
        let ended = |process| self.ended.get(&process).copied();
        let ranges = self.ranges.close((end_ns, self.stopped_ns), ended);
        for row in self.marks.close(end_ns).into_iter().chain(ranges) {
            self.file.push(&row);
        }
        for (process, count, ns) in self.ranges.pauses() {
            let ns = u64::try_from(ns).unwrap_or(0);
            for (what, value) in [(Counter::Pauses, count), (Counter::PausedNs, ns)] {
                self.file.push(&Row::Counter(CounterRow {
                    process,
                    what: what as u16,
                    value,
                }));
            }
        }
        for row in self.costs.close(end_ns, &self.clock) {
            self.file.push(&Row::Cost(row));
        }
        for row in self.other_threads.close() {
            self.file.push(&Row::OtherThread(row));
        }
        let status = end.map_or(0, |it| it.status);
        self.snapshots
            .finish(&self.board, &mut self.file, self.first, status);
        let first = self.file.path().map(ToOwned::to_owned);
        let stored = self.file.finish(EndRow {
            end_ns,
            exit_status: status,
            reason: end.map_or(self.stop_reason, |it| it.reason).to_owned(),
        });
        // Times of tasks that were lost are no tasks'.
        let stored_whole = stored.filter(|stored| stored.kept_since_ns.is_none());
        if let Some(timed) = stored_whole.and_then(|stored| stored.timed) {
            self.counts.timed = timed;
        }
        let files: Vec<_> = self.board.parts().into();
        let outcome = RecordingOutcome {
            path: files.first().cloned().or(first),
            files,
            attached: self.arena.attached(),
            nested,
            processes: self.id_tables.processes(),
            still_running: running.len(),
            has_begun: self.window.has_begun(&self.board, self.arena.begun()),
            stopped_ns: end.is_none().then_some(end_ns),
            stored,
            counts: self.counts,
            engine: self.engine.summary(),
            log: self.hardware.summary(),
        };
        (outcome, self.arena)
    }
}
