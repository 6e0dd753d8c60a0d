//! The trace file while it is recorded.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;

use ascend_trace_recording::file::{ChunkWriter, Encoder};
use ascend_trace_recording::rows::{CallRow, EndRow, RangeRow, Row, SessionRow, TablesRow};

use super::clock;
use super::gauge::Gauge;
use super::open_calls::OpenCallList;
use super::ring::{Ring, RingOptions, SnapshotRequest, Triggers};
use super::roll::{Roll, RollOptions};
use super::storage::{Storage, StorageResult, TraceOutput};
use super::switchboard::Switchboard;
use super::target::{ADVICE, OpenedTarget, TraceTarget};
use crate::Notify;

/// A reader of a growing file never lags by more than this.
const FLUSH_NS: i64 = 50_000_000;

/// What standard output is called where a file has a name.
const STANDARD: &str = "standard output";

/// A trace file that has been begun.
pub struct TraceFile {
    opened: OpenedTarget,
    writer: ChunkWriter<TraceOutput>,
    session: SessionRow,
    ring: Option<(RingOptions, Arc<Switchboard>)>,
    roll: Option<(RollOptions, Arc<Switchboard>)>,
    say: Notify,
}

impl TraceFile {
    /// Creates the file. It may have a provisional name until [`Self::settle`].
    pub fn create(
        target: &TraceTarget,
        session: &SessionRow,
        tables: &TablesRow,
        say: Notify,
    ) -> anyhow::Result<Self> {
        let opened = target.open()?;
        let begun = opened.file.try_clone().and_then(|file| {
            let output = TraceOutput::new(file, opened.is_own);
            ChunkWriter::create(output, session, tables)
        });
        match begun {
            Ok(writer) => Ok(Self {
                opened,
                writer,
                session: session.clone(),
                ring: None,
                roll: None,
                say,
            }),
            Err(error) => {
                let name = name(opened.path.as_deref());
                opened.discard();
                Err(error).with_context(|| format!("{ADVICE}: {name}"))
            }
        }
    }

    /// Keeps only the last part of the recording in the file. Snapshots of it are noted on the board.
    #[must_use]
    pub fn with_ring(mut self, options: RingOptions, board: Arc<Switchboard>) -> Self {
        self.ring = Some((options, board));
        self
    }

    /// The recording goes on in further files. They are noted on the board.
    #[must_use]
    pub fn with_roll(mut self, options: RollOptions, board: Arc<Switchboard>) -> Self {
        self.roll = Some((options, board));
        self
    }

    /// Gives the file its final name now that the program's pid is known.
    pub fn settle(&mut self, pid: u32) {
        self.opened.settle(pid, self.say);
    }

    /// Removes the file: the program could not be launched.
    pub fn discard(self) {
        self.opened.discard();
    }

    /// None for standard output.
    pub fn path(&self) -> Option<&Path> {
        self.opened.path.as_deref()
    }

    /// Starts the thread that writes.
    pub fn start(self) -> anyhow::Result<Recorder> {
        let path = self.opened.path;
        let (session, say) = (self.session.clone(), self.say);
        let ring = self.ring.zip(path.clone());
        let triggers = ring.as_ref().map(|((options, board), _)| {
            let rules = options.rules;
            Triggers::new(rules, Arc::clone(board))
        });
        let options = ring.as_ref().map(|((options, _), _)| *options);
        let ring =
            ring.map(|((options, board), path)| Ring::new(options, session, path, say, board));
        let roll = self.roll.zip(path.clone());
        let roll = roll.map(|((options, board), path)| {
            Roll::new(
                options,
                self.session.clone(),
                path,
                say,
                board,
                clock::now(),
            )
        });
        let gauge = Arc::<Gauge>::default();
        let observed = (self.say, Arc::clone(&gauge));
        let storage = Storage::start(self.writer, path.clone(), (ring, roll), observed);
        Ok(Recorder {
            path,
            gauge,
            ring: options,
            say: self.say,
            encoder: Encoder::new(),
            storage: storage.context("cannot start the writing thread")?,
            pending: true,
            flushed_ns: 0,
            triggers,
            long_calls: OpenCallList::default(),
        })
    }
}

pub(super) fn name(path: Option<&Path>) -> String {
    path.map_or_else(|| STANDARD.to_owned(), |path| path.display().to_string())
}

/// A trace file that rows are put into.
pub struct Recorder {
    path: Option<PathBuf>,
    /// Counts for observers.
    pub(super) gauge: Arc<Gauge>,
    pub(super) say: Notify,
    encoder: Encoder,
    storage: Storage,
    pending: bool,
    flushed_ns: i64,
    /// Options of a ring; none for a file with everything.
    ring: Option<RingOptions>,
    triggers: Option<Triggers>,
    pub(super) long_calls: OpenCallList,
}

impl Recorder {
    /// None for standard output. Of several files, the first one.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    pub fn push(&mut self, row: &Row) {
        self.pending = true;
        if let (Some(triggers), Row::Range(range)) = (&mut self.triggers, row) {
            triggers.range(range);
        }
        if self.encoder.push(row) {
            self.write(clock::now());
        }
    }

    fn write(&mut self, now: i64) {
        if let Some(open) = self.long_calls.take_news(now) {
            self.encoder.set_open(open);
        }
        self.storage.write(self.encoder.seal());
    }

    /// Takes functions and constants that later rows mention.
    pub fn push_tables(&mut self, tables: TablesRow) {
        self.encoder.push_tables(tables);
    }

    /// Hands new rows to the file when it is time to.
    pub fn flush_when_due(&mut self) {
        let now = clock::now();
        let is_pending = self.pending || self.long_calls.is_due(now);
        if is_pending && now - self.flushed_ns >= FLUSH_NS {
            self.flushed_ns = now;
            self.pending = false;
            self.write(now);
        }
    }

    /// Looks whether a call takes a snapshot. Its function has the number of the tool's tables still.
    pub(crate) fn notice(&self, call: &CallRow) {
        if let Some(triggers) = &self.triggers {
            triggers.call(call);
        }
    }

    /// Options of a ring; none for a file with everything.
    pub(crate) fn ring(&self) -> Option<RingOptions> {
        self.ring
    }

    /// Rows are no events any more: those of the end of the recording.
    pub(crate) fn stop_triggers(&mut self) {
        self.triggers = None;
    }

    /// Keeps data for a snapshot that is due later.
    pub(crate) fn hold(&self, at_ns: i64) {
        self.storage.hold(at_ns);
    }

    /// Takes a snapshot of a ring, with all rows until now. The mark shows the time of its event.
    pub(crate) fn snapshot(&mut self, request: SnapshotRequest, mark: Option<RangeRow>) {
        self.write(clock::now());
        self.storage.snapshot(request, mark);
    }

    /// Ends the file properly, if it can still be written. `None` if the writing thread failed.
    pub fn finish(mut self, end: EndRow) -> Option<StorageResult> {
        self.long_calls.clear();
        self.write(clock::now());
        self.storage.finish(end)
    }
}

#[cfg(test)]
mod tests {
    use ascend_trace_testkit::whole::opened;
    use std::fs;

    use super::*;

    fn create(path: &Path, force: bool) -> anyhow::Result<Recorder> {
        let path = path.to_owned();
        let target = TraceTarget::Named { path, force };
        TraceFile::create(
            &target,
            &SessionRow::default(),
            &TablesRow::default(),
            |_| {},
        )?
        .start()
    }

    fn end() -> EndRow {
        EndRow {
            end_ns: 9,
            exit_status: 3,
            ..EndRow::default()
        }
    }

    #[test]
    fn an_existing_file_is_replaced_only_by_force() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("x.atrace");
        create(&path, false).unwrap().finish(end()).unwrap();
        let message = create(&path, false).err().unwrap().to_string();
        assert!(message.contains("--force"), "{message}");
        let replaced = loop {
            match create(&path, true) {
                // A child that another test is starting has the lock until it runs its program.
                Err(error) if error.to_string().contains("under way") => std::thread::yield_now(),
                other => break other,
            }
        };
        replaced.unwrap().finish(end()).unwrap();
        assert_eq!(opened(&path).unwrap().0.end(), Some((9, 3)));
        assert!(create(root.path(), true).is_err(), "a folder");
    }

    #[test]
    fn rows_reach_the_file_in_order_and_its_length_is_reported() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("x.atrace");
        let mut file = create(&path, false).unwrap();
        for number in 0..100_000 {
            file.push(&Row::Call(CallRow {
                begin_ns: number,
                end_ns: number,
                ..CallRow::default()
            }));
        }
        let stored = file.finish(end()).unwrap();
        assert_eq!((stored.lost_calls, stored.lost_others), (0, 0));
        assert_eq!(stored.bytes, fs::metadata(&path).unwrap().len());
        let (trace, warnings) = opened(&path).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        assert_eq!(trace.calls().len(), 100_000);
    }

    #[test]
    fn a_file_that_cannot_be_begun_is_refused_with_advice() {
        if !Path::new("/dev/full").exists() {
            return;
        }
        let target = TraceTarget::Named {
            path: "/dev/full".into(),
            force: false,
        };
        let message = TraceFile::create(
            &target,
            &SessionRow::default(),
            &TablesRow::default(),
            |_| {},
        );
        let message = format!("{:#}", message.err().unwrap());
        assert!(
            message.contains("/dev/full") && message.contains("--output"),
            "{message}"
        );
    }
}
