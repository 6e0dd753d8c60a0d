//! Packs collected rows and writes them, on a separate thread: neither a slow disk nor the cost of
//! packing holds up the thread that empties the channels, until the queue between them is full.
//!
//! Whatever goes wrong with the file, the traced program runs on: rows that cannot be stored any more
//! are counted.

mod output;

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use ascend_trace_recording::file::{ChunkWriter, Encoder, RowBatch};
use ascend_trace_recording::rows::{EndRow, LossRow, RangeRow, Row};

use super::clock;
use super::file::name;
use super::gauge::Gauge;
use super::repack::{RepackInput, repack};
use super::ring::{Ring, SnapshotRequest};
use super::roll::Roll;
use crate::Notify;

pub(super) use output::TraceOutput;

/// Batches that may wait for the disk, a few hundred kilobytes each. When there are as many, the
/// collector waits, the channels fill up, and what then finds no room is counted as lost there.
const QUEUE: usize = 16;

/// Bytes that wait in memory while the disk is full.
const MOST_WAITING: usize = 64 << 20;
/// Time between two attempts to write them.
const RETRY_NS: i64 = 500_000_000;

/// A batch in the file: the last one is removed again where the end has no room.
#[derive(Debug)]
struct LastBatch {
    /// Bytes of the file before it.
    before: u64,
    calls: u64,
    others: u64,
    lost: LossRow,
}

/// What became of the rows that were handed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorageResult {
    /// Bytes in the file.
    pub bytes: u64,
    /// Calls and other rows that could not be written.
    pub lost_calls: u64,
    pub lost_others: u64,
    /// Of a ring: from when on the file has everything; none if from the begin on.
    pub kept_since_ns: Option<i64>,
    /// Tasks in the file that have a time; none where the output has failed.
    pub timed: Option<u64>,
}

enum StorageMessage {
    Rows(RowBatch),
    /// A snapshot of an event at this time is due later.
    Hold(i64),
    Snapshot(SnapshotRequest, Option<RangeRow>),
    End(EndRow),
}

/// The writing thread.
pub(super) struct Storage {
    queue: SyncSender<StorageMessage>,
    thread: JoinHandle<StorageResult>,
}

impl Storage {
    /// `path` is where the file is; none for standard output.
    pub(super) fn start(
        writer: ChunkWriter<TraceOutput>,
        path: Option<PathBuf>,
        (ring, roll): (Option<Ring>, Option<Roll>),
        (say, gauge): (Notify, Arc<Gauge>),
    ) -> io::Result<Self> {
        let (queue, messages) = sync_channel(QUEUE);
        let store = BatchWriter {
            writer,
            path,
            ring,
            roll,
            say,
            gauge,
            written: RepackInput::default(),
            failure: None,
            stored: StorageResult::default(),
            unsaid: LossRow::default(),
            last: None,
            waiting: VecDeque::new(),
            retry_ns: 0,
        };
        let thread = std::thread::Builder::new()
            .name("writer".into())
            .spawn(move || store.run(&messages))?;
        Ok(Self { queue, thread })
    }

    pub(super) fn write(&self, batch: RowBatch) {
        if !batch.is_empty() {
            // The thread lives as long as its queue.
            let _ = self.queue.send(StorageMessage::Rows(batch));
        }
    }

    /// Keeps data for a snapshot that is due later.
    pub(super) fn hold(&self, at_ns: i64) {
        let _ = self.queue.send(StorageMessage::Hold(at_ns));
    }

    /// Takes a snapshot of a ring. The mark shows the time of its event.
    pub(super) fn snapshot(&self, request: SnapshotRequest, mark: Option<RangeRow>) {
        let _ = self.queue.send(StorageMessage::Snapshot(request, mark));
    }

    /// Ends the file properly if it can still be written, and returns the result.
    pub(super) fn finish(self, end: EndRow) -> Option<StorageResult> {
        let _ = self.queue.send(StorageMessage::End(end));
        drop(self.queue);
        self.thread.join().ok()
    }
}

struct BatchWriter {
    writer: ChunkWriter<TraceOutput>,
    path: Option<PathBuf>,
    ring: Option<Ring>,
    roll: Option<Roll>,
    say: Notify,
    /// Observers learn here that the file cannot be written.
    gauge: Arc<Gauge>,
    written: RepackInput,
    /// Why the file cannot be written any more.
    failure: Option<String>,
    stored: StorageResult,
    /// Losses that the file does not contain.
    unsaid: LossRow,
    /// The last batch in the file.
    last: Option<LastBatch>,
    /// Batches that the file does not take now.
    waiting: VecDeque<LastBatch>,
    /// When to try to write them again.
    retry_ns: i64,
}

impl BatchWriter {
    fn run(mut self, messages: &Receiver<StorageMessage>) -> StorageResult {
        for message in messages {
            match message {
                StorageMessage::Rows(batch) => self.rows(&batch),
                StorageMessage::Hold(at_ns) => {
                    self.ring.iter_mut().for_each(|ring| ring.hold(at_ns));
                }
                StorageMessage::Snapshot(request, mark) => self.snapshot(request, mark),
                StorageMessage::End(end) => self.end(&end),
            }
        }
        if let Some(ring) = &mut self.ring {
            ring.join_snapshots();
            self.stored.kept_since_ns = ring.since_ns();
        }
        // Of several files, this is the last one.
        self.stored.timed = self.writer.timed().filter(|_| self.roll.is_none());
        let output = self.writer.into_inner();
        self.stored.bytes = output.sound;
        self.written.bytes = output.sound;
        // A file of several has a mark between its rows, which stays where it is.
        let is_alone = self.roll.is_none();
        if let Some(path) = self
            .path
            .filter(|_| output.truncates && self.failure.is_none() && is_alone)
            && let Some(bytes) = repack(&path, &output.file, self.written)
        {
            self.stored.bytes = bytes;
        }
        self.stored
    }

    fn rows(&mut self, batch: &RowBatch) {
        if self.failure.is_none() {
            self.try_again(false);
            let before = self.writer.length();
            self.writer.output_mut().most_waiting = MOST_WAITING;
            match self.writer.write(batch) {
                Ok(()) => {
                    let last = LastBatch {
                        before,
                        calls: batch.calls(),
                        others: batch.others(),
                        lost: batch.lost(),
                    };
                    self.written.rows += batch.calls() + batch.others();
                    self.written.batches += 1;
                    if self.writer.output().waits() {
                        return self.wait(last);
                    }
                    self.last = Some(last);
                    self.turn_ring(before);
                    self.turn_roll();
                    return;
                }
                Err(error) => self.give_up(&error),
            }
        }
        // What these rows say was lost before is lost from the file as well.
        self.unsaid.add(&batch.lost());
        self.stored.lost_calls += batch.calls();
        self.stored.lost_others += batch.others();
        let error = self.failure.as_deref().unwrap_or_default();
        self.gauge
            .tell_unwritten(error, (batch.calls(), batch.others()));
    }

    /// A batch waits for room in the file.
    fn wait(&mut self, batch: LastBatch) {
        let output = self.writer.output();
        let (error, bytes) = (output.refusal(), output.waiting.len() as u64);
        if self.waiting.is_empty() {
            let name = name(self.path.as_deref());
            (self.say)(&format!(
                "cannot write to {name} now: {error}; up to {} MiB of records wait in memory until that is possible",
                MOST_WAITING >> 20
            ));
            self.retry_ns = clock::now().saturating_add(RETRY_NS);
        }
        self.gauge.tell_waiting(Some((&error.to_string(), bytes)));
        if let Some(ring) = &mut self.ring {
            ring.wrote(batch.before, clock::now());
        }
        self.waiting.push_back(batch);
    }

    /// Writes what waits for room, if it is time for that.
    fn try_again(&mut self, is_forced: bool) {
        let now = clock::now();
        let is_due = is_forced || now >= self.retry_ns;
        if self.waiting.is_empty() || !is_due {
            return;
        }
        self.retry_ns = now.saturating_add(RETRY_NS);
        self.ring.iter_mut().for_each(Ring::make_room);
        if self.writer.output_mut().try_again().is_err() {
            return;
        }
        self.last = self.waiting.pop_back().filter(|_| self.ring.is_none());
        self.waiting.clear();
        self.gauge.tell_waiting(None);
        if self.failure.is_none() {
            let name = name(self.path.as_deref());
            (self.say)(&format!("{name} is written again, and nothing was lost"));
        }
    }

    /// What waits for room is lost.
    fn drop_waiting(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        if self.failure.is_none() {
            let error = self.writer.output().refusal();
            self.give_up(&error);
        }
        for batch in self.waiting.drain(..) {
            self.unsaid.add(&batch.lost);
            self.stored.lost_calls += batch.calls;
            self.stored.lost_others += batch.others;
        }
        self.writer.shorten(|output| output.waiting.clear());
    }

    /// A batch was written at `place`: the file may be long enough to be shortened.
    fn turn_ring(&mut self, place: u64) {
        let Some(ring) = &mut self.ring else { return };
        let now = clock::now();
        ring.wrote(place, now);
        ring.turn(&mut self.writer, now);
        // After a change of the file, the place of the batch is another one.
        self.last = None;
    }

    /// A batch was written: the recording may go on in the next file.
    fn turn_roll(&mut self) {
        let Some(roll) = &mut self.roll else { return };
        if let Some(path) = roll.turn(&mut self.writer, clock::now()) {
            self.path = Some(path);
            // It is in the file before.
            self.last = None;
        }
    }

    fn snapshot(&mut self, request: SnapshotRequest, mark: Option<RangeRow>) {
        self.try_again(true);
        if let Some(ring) = &mut self.ring {
            ring.snapshot(&self.writer, request, mark, clock::now());
        }
    }

    /// After a failure the end of the file says which rows are missing. If it has no room for that, the
    /// last batch is removed.
    fn end(&mut self, end: &EndRow) {
        self.try_again(true);
        // From now on, a failure is one.
        self.writer.output_mut().most_waiting = 0;
        if let Some(ring) = &mut self.ring {
            match self.writer.output().waits() {
                true => ring.abandon(),
                false => ring.finish(&mut self.writer),
            }
        }
        self.drop_waiting();
        let written = self.writer.write(&self.last_rows(end));
        let Err(error) = written else { return };
        if self.failure.is_none() {
            self.give_up(&error);
        }
        if self.give_back() {
            // A failure cannot be reported any more.
            let _ = self.writer.write(&self.last_rows(end));
        }
    }

    fn last_rows(&self, end: &EndRow) -> RowBatch {
        let mut last = Encoder::new();
        if self.failure.is_some() {
            let mut lost = LossRow {
                thread: None,
                calls: self.stored.lost_calls,
                others: self.stored.lost_others,
                times: 0,
            };
            lost.add(&self.unsaid);
            last.push(&Row::Loss(lost));
        }
        last.push(&Row::End(end.clone()));
        last.seal()
    }

    /// Takes the last batch out of the file: its rows are lost.
    fn give_back(&mut self) -> bool {
        let output = self.writer.output();
        let Some(last) = self.last.take().filter(|_| output.truncates) else {
            return false;
        };
        if self
            .writer
            .shorten(|output| output.shorten(last.before))
            .is_err()
        {
            return false;
        }
        self.unsaid.add(&last.lost);
        self.stored.lost_calls += last.calls;
        self.stored.lost_others += last.others;
        true
    }

    fn give_up(&mut self, error: &io::Error) {
        self.failure = Some(error.to_string());
        let name = name(self.path.as_deref());
        (self.say)(&format!(
            "cannot write to {name} any more: {error}; the program runs on, unrecorded from here"
        ));
    }
}

#[cfg(test)]
mod tests {
    use ascend_trace_testkit::whole::opened;
    use std::path::Path;

    use super::*;
    use ascend_trace_recording::rows::{CallRow, SessionRow, TablesRow};
    use std::fs::File;
    use std::io::{Seek, SeekFrom};

    fn calls(count: u64) -> RowBatch {
        let mut encoder = Encoder::new();
        for _ in 0..count {
            encoder.push(&Row::Call(CallRow::default()));
        }
        encoder.seal()
    }

    fn end() -> EndRow {
        EndRow {
            end_ns: 9,
            exit_status: 3,
            ..EndRow::default()
        }
    }

    fn writer(path: &Path) -> ChunkWriter<TraceOutput> {
        let output = TraceOutput::new(File::create(path).unwrap(), true);
        ChunkWriter::create(output, &SessionRow::default(), &TablesRow::default()).unwrap()
    }

    fn store(path: &Path) -> BatchWriter {
        BatchWriter {
            writer: writer(path),
            path: None,
            ring: None,
            roll: None,
            say: |_| {},
            gauge: Arc::default(),
            written: RepackInput::default(),
            failure: None,
            stored: StorageResult::default(),
            unsaid: LossRow::default(),
            last: None,
            waiting: VecDeque::new(),
            retry_ns: 0,
        }
    }

    /// It has ten calls, and says that twelve are missing.
    #[track_caller]
    fn is_whole(path: &Path) {
        let (trace, warnings) = opened(path).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        assert_eq!(trace.calls().len(), 10);
        assert_eq!(trace.losses().calls, 12);
        assert_eq!(trace.end(), Some((9, 3)));
    }

    #[test]
    fn where_the_end_has_no_room_it_takes_that_of_the_last_batch() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.atrace");
        let mut store = store(&path);
        store.rows(&calls(10));
        store.rows(&calls(7));
        assert_eq!(store.gauge.unwritten(), None);
        store.failure = Some("no room".to_owned());
        store.rows(&calls(5));
        assert!(store.give_back());
        assert!(!store.give_back(), "once is enough");
        store.end(&end());
        assert_eq!(store.stored.lost_calls, 7 + 5);
        is_whole(&path);
    }

    #[test]
    fn lost_rows_are_counted_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.atrace");
        let mut store = store(&path);
        store.rows(&calls(10));
        store.failure = Some("no room".to_owned());
        store.rows(&calls(7));
        let mut encoder = Encoder::new();
        encoder.push(&Row::Loss(LossRow {
            thread: Some(1),
            calls: 5,
            others: 3,
            times: 2,
        }));
        store.rows(&encoder.seal());
        let seen = store.gauge.unwritten().unwrap();
        assert_eq!((seen.error.as_str(), seen.calls), ("no room", 7));
        store.end(&end());
        assert_eq!(store.stored.lost_calls, 7);
        is_whole(&path);
    }

    /// A file that can be read only has the effect of a full disk.
    fn fill_the_disk(store: &mut BatchWriter, path: &Path, is_full: bool) {
        let mut options = File::options();
        let mut file = options.read(true).write(!is_full).open(path).unwrap();
        let output = store.writer.output_mut();
        file.seek(SeekFrom::Start(output.sound)).unwrap();
        output.file = file;
        store.retry_ns = 0;
    }

    #[test]
    fn records_wait_while_the_disk_is_full_and_are_written_then() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.atrace");
        let mut store = store(&path);
        store.rows(&calls(10));
        fill_the_disk(&mut store, &path, true);
        store.rows(&calls(7));
        fill_the_disk(&mut store, &path, true);
        store.rows(&calls(5));
        assert!(store.failure.is_none() && store.waiting.len() == 2);
        assert!(store.gauge.waiting().unwrap().bytes > 0);
        fill_the_disk(&mut store, &path, false);
        store.rows(&calls(3));
        assert_eq!(store.gauge.waiting(), None);
        store.end(&end());
        let (trace, warnings) = opened(&path).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        assert_eq!(trace.calls().len(), 10 + 7 + 5 + 3);
        assert_eq!(trace.losses().calls, 0);
    }

    #[test]
    fn records_that_wait_at_the_end_are_counted_as_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.atrace");
        let mut store = store(&path);
        store.rows(&calls(10));
        fill_the_disk(&mut store, &path, true);
        store.rows(&calls(12));
        store.try_again(true);
        store.drop_waiting();
        assert_eq!(store.stored.lost_calls, 12);
        // There is room for the end again.
        fill_the_disk(&mut store, &path, false);
        store.end(&end());
        is_whole(&path);
    }
}
