//! Sums of the processor time of each thread since it was first seen, and when they are written.

use std::collections::HashMap;
use std::sync::mpsc::Sender;

use ascend_trace_recording::rows::OtherThreadRow;

use super::kernel::{self, ProcessorTimes};

/// A row follows another after this part of the time since the first look, as a divisor, and after this time in nanoseconds.
const PART: i64 = 16;
const LEAST_NS: i64 = 20_000_000;

/// Threads that are written. A program that starts new ones all the time would fill the file with them.
const MOST_WRITTEN: usize = 4_096;

/// The name of the tool's own threads in the program, and the begin of the names of the software runtime's: they are its device.
const TOOL: &str = "ascend-trace";
const DEVICE: &str = "softacl-";

/// Process, pid and tid.
type Key = (u32, u32, u32);

/// A thread without recorded calls.
struct ThreadSums {
    first: ProcessorTimes,
    first_ns: i64,
    /// The last look, and the last row.
    last: ProcessorTimes,
    last_ns: i64,
    written: ProcessorTimes,
    written_ns: i64,
    name: String,
    look: u64,
}

impl ThreadSums {
    fn new(times: ProcessorTimes, now: i64) -> Self {
        Self {
            first: times,
            first_ns: now,
            last: times,
            last_ns: now,
            written: times,
            written_ns: now,
            name: String::new(),
            look: 0,
        }
    }

    /// Whether its next row is due. A thread that did not run has none.
    fn is_due(&self) -> bool {
        let passed = self.last_ns - self.written_ns;
        let since = self.written_ns - self.first_ns;
        self.last.runs > self.written.runs && passed >= (since / PART).max(LEAST_NS)
    }

    /// The row up to the last look; nothing for the tool's own threads.
    fn row(&mut self, (process, pid, tid): Key) -> Option<OtherThreadRow> {
        // A thread gets its name after its start. One that has ended has none.
        self.name = kernel::name(pid, tid).unwrap_or(std::mem::take(&mut self.name));
        self.written = self.last;
        self.written_ns = self.last_ns;
        let is_own = self.name == TOOL || self.name.starts_with(DEVICE);
        (!is_own).then(|| OtherThreadRow {
            process,
            pid,
            tid,
            name: self.name.clone(),
            first_ns: self.first_ns,
            at_ns: self.last_ns,
            cpu_ns: self.last.cpu_ns - self.first.cpu_ns,
            runs: self.last.runs - self.first.runs,
        })
    }
}

/// All of them.
#[derive(Default)]
pub(super) struct Sums {
    threads: HashMap<Key, ThreadSums>,
    look: u64,
    written: usize,
}

impl Sums {
    pub(super) fn begin_look(&mut self) {
        self.look += 1;
    }

    pub(super) fn add(
        &mut self,
        key: Key,
        times: ProcessorTimes,
        now: i64,
        rows: &Sender<OtherThreadRow>,
    ) {
        let look = self.look;
        if !self.threads.contains_key(&key) {
            if self.written == MOST_WRITTEN {
                return;
            }
            self.written += 1;
        }
        let seen = self.threads.entry(key);
        let seen = seen.or_insert_with(|| ThreadSums::new(times, now));
        if times.cpu_ns < seen.last.cpu_ns || times.runs < seen.last.runs {
            // Another thread has got the number.
            *seen = ThreadSums::new(times, now);
        }
        seen.look = look;
        (seen.last, seen.last_ns) = (times, now);
        if seen.is_due() {
            send(seen.row(key), rows);
        }
    }

    /// Threads that this look did not find have ended.
    pub(super) fn end_look(&mut self, rows: &Sender<OtherThreadRow>) {
        let look = self.look;
        self.end(|_, seen| seen.look < look, rows);
    }

    pub(super) fn end_process(&mut self, process: u32, rows: &Sender<OtherThreadRow>) {
        self.end(|key, _| key.0 == process, rows);
    }

    pub(super) fn close(&mut self, rows: &Sender<OtherThreadRow>) {
        self.end(|_, _| true, rows);
    }

    /// A thread is recorded from now on.
    pub(super) fn forget(&mut self, pid: u32, tid: u32) {
        self.threads.retain(|key, _| (key.1, key.2) != (pid, tid));
    }

    fn end(
        &mut self,
        has_ended: impl Fn(&Key, &ThreadSums) -> bool,
        rows: &Sender<OtherThreadRow>,
    ) {
        self.threads.retain(|key, seen| {
            let ends = has_ended(key, seen);
            if ends && seen.last.runs > seen.written.runs {
                send(seen.row(*key), rows);
            }
            !ends
        });
    }
}

fn send(row: Option<OtherThreadRow>, rows: &Sender<OtherThreadRow>) {
    if let Some(row) = row {
        // Without a receiver the recording has ended.
        let _ = rows.send(row);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use super::*;

    const MS: i64 = 1_000_000;
    /// No thread has this number.
    const KEY: Key = (3, u32::MAX, u32::MAX);

    fn times(ms: u64) -> ProcessorTimes {
        ProcessorTimes {
            cpu_ns: 7_000_000 + ms * 500_000,
            runs: 40 + ms,
        }
    }

    fn sums() -> (Sums, Sender<OtherThreadRow>, Receiver<OtherThreadRow>) {
        let (sender, receiver) = channel();
        (Sums::default(), sender, receiver)
    }

    fn looks(sums: &mut Sums, rows: &Sender<OtherThreadRow>, ms: std::ops::Range<u64>) {
        for at in ms.step_by(20) {
            sums.begin_look();
            sums.add(KEY, times(at), at as i64 * MS, rows);
            sums.end_look(rows);
        }
    }

    #[test]
    fn rows_become_rarer_and_have_sums_since_the_first_look() {
        let (mut sums, sender, receiver) = sums();
        looks(&mut sums, &sender, 100..60_000);
        sums.close(&sender);
        let rows: Vec<OtherThreadRow> = receiver.try_iter().collect();
        assert!((60..140).contains(&rows.len()), "{}", rows.len());
        assert_eq!((rows[0].first_ns, rows[0].at_ns), (100 * MS, 120 * MS));
        assert_eq!((rows[0].cpu_ns, rows[0].runs), (10_000_000, 20));
        let last = rows.last().unwrap();
        assert_eq!((last.first_ns, last.at_ns), (100 * MS, 59_980 * MS));
        assert_eq!(last.cpu_ns, 59_880 * 500_000);
    }

    #[test]
    fn a_thread_that_does_not_run_has_no_rows() {
        let (mut sums, sender, receiver) = sums();
        for at in 0..100 {
            sums.begin_look();
            sums.add(KEY, times(5), at * 20 * MS, &sender);
            sums.end_look(&sender);
        }
        sums.close(&sender);
        assert_eq!(receiver.try_iter().count(), 0);
    }

    #[test]
    fn a_thread_that_has_ended_has_a_last_row() {
        let (mut sums, sender, receiver) = sums();
        looks(&mut sums, &sender, 0..20);
        sums.begin_look();
        sums.add(KEY, times(3), 3 * MS, &sender);
        assert_eq!(receiver.try_iter().count(), 0);
        sums.begin_look();
        sums.end_look(&sender);
        let rows: Vec<OtherThreadRow> = receiver.try_iter().collect();
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].at_ns, rows[0].runs), (3 * MS, 3));
        // Its number means another thread now.
        looks(&mut sums, &sender, 1_000..1_040);
        let rows: Vec<OtherThreadRow> = receiver.try_iter().collect();
        assert_eq!(rows[0].first_ns, 1_000 * MS);
    }

    #[test]
    fn threads_that_are_recorded_from_now_on_and_later_ones_have_no_rows() {
        let (mut sums, sender, receiver) = sums();
        looks(&mut sums, &sender, 0..20);
        sums.add(KEY, times(3), 3 * MS, &sender);
        sums.forget(KEY.1, KEY.2);
        sums.close(&sender);
        assert_eq!(receiver.try_iter().count(), 0);
        sums.written = MOST_WRITTEN;
        looks(&mut sums, &sender, 0..400);
        sums.close(&sender);
        assert_eq!(receiver.try_iter().count(), 0);
    }
}
