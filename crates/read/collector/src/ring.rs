//! A recording of which the file has only the last part (`--ring`).
//!
//! Batches are appended as in any recording. When the file has twice as much as is wanted, a thread writes its last part to
//! a new file, while further batches go to the old one. They are copied as well, and then the new file takes the name. So
//! there is always a complete file under that name, and nothing waits for the copy.

mod rewrite;
mod snapshot;
mod triggers;

use std::collections::VecDeque;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use ascend_trace_recording::file::{ChunkWriter, TrimRange};
use ascend_trace_recording::rows::{KeptRow, SessionRow};

use crate::Notify;
use crate::storage::TraceOutput;
use crate::switchboard::Switchboard;
use rewrite::Rewriting;

pub use snapshot::{SnapshotOrigin, SnapshotRequest};
pub use triggers::TriggerRules;
pub(crate) use triggers::Triggers;

/// How much of a recording its file keeps at least, if there is as much. It has up to twice as much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retention {
    Time(Duration),
    /// Half of this; the file is no longer than this.
    Bytes(u64),
}

/// Options of a ring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RingOptions {
    pub retention: Retention,
    /// Snapshots that stay; a further one replaces the oldest.
    pub keep: usize,
    /// From an event to its snapshot.
    pub after: Duration,
    /// Events of which snapshots are taken.
    pub rules: TriggerRules,
}

impl RingOptions {
    /// The shortest time between the snapshots of two events.
    pub(crate) fn pause_ns(&self) -> i64 {
        match self.retention {
            Retention::Time(time) => nanoseconds(time),
            Retention::Bytes(_) => 10_000_000_000,
        }
    }
}

/// From a failure to the next attempt, at first and at last.
const FIRST_RETRY_NS: i64 = 1_000_000_000;
const LAST_RETRY_NS: i64 = 300_000_000_000;

/// A shorter file is not shortened for want of room.
const SHORTEST: u64 = 32 << 10;

/// A batch in the file: where it begins, and when it was written. It has the calls that ended before that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BatchPlace {
    place: u64,
    at_ns: i64,
}

/// The file with the last part of a recording.
pub(crate) struct Ring {
    options: RingOptions,
    session: SessionRow,
    path: PathBuf,
    say: Notify,
    board: Arc<Switchboard>,
    /// Batches that are in the file whole.
    batches: VecDeque<BatchPlace>,
    /// From when on the file has everything; none if from the begin on.
    since_ns: Option<i64>,
    /// From when on batches are needed for a snapshot that is not due yet.
    held_ns: Option<i64>,
    rewriting: Option<Rewriting>,
    /// After a failure, the time of the next attempt, and the time until then.
    retry_ns: i64,
    retry_after_ns: i64,
    /// A message has said that the file keeps less than is wanted.
    is_short: bool,
    snapshots: Vec<JoinHandle<()>>,
    /// Number of the last snapshot, which is in its name.
    taken: u32,
}

impl Ring {
    pub(crate) fn new(
        options: RingOptions,
        session: SessionRow,
        path: PathBuf,
        say: Notify,
        board: Arc<Switchboard>,
    ) -> Self {
        Self {
            options,
            session,
            path,
            say,
            board,
            batches: VecDeque::new(),
            since_ns: None,
            held_ns: None,
            rewriting: None,
            retry_ns: i64::MIN,
            retry_after_ns: 0,
            is_short: false,
            snapshots: Vec::new(),
            taken: 0,
        }
    }

    /// From when on the file has everything; none if from the begin on.
    pub(crate) fn since_ns(&self) -> Option<i64> {
        self.since_ns
    }

    /// A batch has been written at `place`.
    pub(crate) fn wrote(&mut self, place: u64, now: i64) {
        self.batches.push_back(BatchPlace { place, at_ns: now });
    }

    /// Keeps everything for a snapshot that is due later.
    pub(crate) fn hold(&mut self, at_ns: i64) {
        let from = self.begin_ns(at_ns);
        self.held_ns.get_or_insert(from);
    }

    /// From when on calls are wanted at a time.
    fn begin_ns(&self, at_ns: i64) -> i64 {
        match self.options.retention {
            Retention::Time(time) => at_ns.saturating_sub(nanoseconds(time)),
            Retention::Bytes(_) => i64::MIN,
        }
    }

    /// Shortens the file if that is due, or goes on with that.
    pub(crate) fn turn(&mut self, writer: &mut ChunkWriter<TraceOutput>, now: i64) {
        if self.rewriting.as_ref().is_some_and(Rewriting::is_done) {
            self.adopt(writer, now);
        }
        if self.rewriting.is_none()
            && let Some(first) = self.cut(writer.length(), writer.output().room(), now)
        {
            self.rewrite(writer, first, now);
        }
    }

    /// The recording ends: waits for a new file that is being written.
    pub(crate) fn finish(&mut self, writer: &mut ChunkWriter<TraceOutput>) {
        if self.rewriting.is_some() {
            self.adopt(writer, i64::MAX);
        }
    }

    /// The file cannot be written: a new one that is complete gives its room back.
    pub(crate) fn make_room(&mut self) {
        if self.rewriting.as_ref().is_some_and(Rewriting::is_done) {
            self.abandon();
        }
    }

    /// A new file is given up.
    pub(crate) fn abandon(&mut self) {
        if let Some(rewriting) = self.rewriting.take() {
            rewriting.remove();
        }
    }

    /// Waits for the snapshots.
    pub(crate) fn join_snapshots(&mut self) {
        for thread in self.snapshots.drain(..) {
            // If it has failed, that was said.
            let _ = thread.join();
        }
    }

    /// The number of batches to drop, if the file is too long. `room` is that of the file system, as far as it is known.
    fn cut(&mut self, length: u64, room: Option<u64>, now: i64) -> Option<usize> {
        if now < self.retry_ns {
            return None;
        }
        let first = self.batches.front()?;
        let dropped = match self.options.retention {
            Retention::Time(time) => {
                let time = nanoseconds(time);
                let is_due = first.at_ns < now.saturating_sub(time.saturating_mul(2));
                let begin = self.held_ns.unwrap_or(i64::MAX).min(now - time);
                is_due.then(|| self.batches.partition_point(|it| it.at_ns < begin))
            }
            // For a snapshot that is not due yet, the file may grow to twice its length.
            Retention::Bytes(most) if self.held_ns.is_some() && length < most.saturating_mul(2) => {
                None
            }
            Retention::Bytes(most) => (length >= most).then(|| {
                let begin = length.saturating_sub(most / 2);
                self.batches.partition_point(|it| it.place < begin)
            }),
        };
        // The last batch stays.
        let last = self.batches.len() - 1;
        let dropped = dropped.map(|it| it.min(last));
        let dropped = match room {
            Some(room) => self.fitting(dropped, length, room),
            None => dropped,
        };
        dropped.map(|it| it.min(last)).filter(|it| *it > 0)
    }

    /// The number of batches to drop so that a copy of the others fits on the disk, and the disk does not become full.
    fn fitting(&mut self, dropped: Option<usize>, length: u64, room: u64) -> Option<usize> {
        // The file grows while a part of it is copied.
        let most = room / 4 * 3;
        let place = dropped
            .and_then(|it| self.batches.get(it))
            .map(|it| it.place);
        let is_fitting = place.is_some_and(|it| length.saturating_sub(it) <= most);
        let is_tight = length >= SHORTEST && room < length;
        if is_fitting || (dropped.is_none() && !is_tight) {
            return dropped;
        }
        // Where a copy of an eighth of the file does not fit, records wait in memory. Data for a snapshot stays.
        let part = most.min(length / 2);
        if part < length / 8 || self.held_ns.is_some() {
            return None;
        }
        if !self.is_short {
            self.is_short = true;
            let path = self.path.display();
            (self.say)(&format!(
                "{path} keeps less than --ring says: its disk has little room"
            ));
        }
        Some(self.batches.partition_point(|it| it.place < length - part))
    }

    /// The part of the file from a batch on, and from when on it has everything.
    fn part(&self, first: usize, end: u64) -> (TrimRange, Option<i64>) {
        let begin = self.batches.get(first).map_or(end, |it| it.place);
        let before = first.checked_sub(1).and_then(|it| self.batches.get(it));
        let since = before.map(|it| it.at_ns).or(self.since_ns);
        (TrimRange { begin, end }, since)
    }

    /// The session of a file with everything from `since_ns` on.
    fn session_since(&self, since_ns: Option<i64>) -> SessionRow {
        SessionRow {
            kept: since_ns.map(|since_ns| KeptRow {
                since_ns,
                snapshot: None,
            }),
            ..self.session.clone()
        }
    }

    /// The file could not be shortened.
    fn failed(&mut self, error: &anyhow::Error, now: i64) {
        let path = self.path.display();
        if self.retry_after_ns == 0 {
            (self.say)(&format!(
                "cannot shorten {path}: {error:#}; it grows until that is possible"
            ));
        }
        self.retry_after_ns = (self.retry_after_ns * 2).clamp(FIRST_RETRY_NS, LAST_RETRY_NS);
        self.retry_ns = now.saturating_add(self.retry_after_ns);
    }
}

fn nanoseconds(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

/// The file of a writer, for reading at any place.
fn input_of(writer: &ChunkWriter<TraceOutput>) -> std::io::Result<File> {
    writer.output().reader()
}

#[cfg(test)]
mod tests;
