//! Copies of the ring that stay, each with its reason.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ascend_trace_recording::file::{ChunkWriter, Encoder, TrimRange};
use ascend_trace_recording::rows::{EndRow, KeptRow, RangeRow, Row, SessionRow, SnapshotRow};
use ascend_trace_recording::text::plain;

use super::rewrite::write_part;
use super::{Ring, input_of};
use crate::Notify;
use crate::storage::TraceOutput;
use crate::switchboard::Switchboard;
use crate::target;

/// An event, and its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotRequest {
    pub at_ns: i64,
    pub reason: String,
    pub origin: SnapshotOrigin,
}

/// Source of a request for a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotOrigin {
    /// A rule for rows. Events that follow each other share a snapshot.
    Rule,
    /// A standstill of the recording, or its end.
    Recording,
    /// The program, with a mark in the recording.
    Program,
    /// A person, or another recording.
    Request,
}

impl SnapshotOrigin {
    /// Whether it is taken also shortly after another one.
    pub(crate) fn is_always_taken(self) -> bool {
        self != Self::Rule
    }

    /// Whether other recordings may not know of it yet.
    pub(crate) fn is_local(self) -> bool {
        self != Self::Request
    }

    /// The origin of one snapshot for two requests.
    pub(crate) fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Rule, Self::Request) | (Self::Request, Self::Rule) => Self::Recording,
            (Self::Rule | Self::Request, other) => other,
            _ => self,
        }
    }
}

/// Everything that the thread of a snapshot needs.
struct SnapshotJob {
    input: fs::File,
    range: TrimRange,
    session: SessionRow,
    path: PathBuf,
    /// Marks the event, on the thread that was recorded first.
    mark: Option<RangeRow>,
    /// Its number in the recording, from 1.
    number: u32,
    end_ns: i64,
    keep: usize,
    board: Arc<Switchboard>,
    say: Notify,
}

impl Ring {
    /// Begins to write a snapshot of the file as it is now.
    pub(crate) fn snapshot(
        &mut self,
        writer: &ChunkWriter<TraceOutput>,
        request: SnapshotRequest,
        mark: Option<RangeRow>,
        now: i64,
    ) {
        self.held_ns = None;
        self.taken = self.taken.saturating_add(1);
        self.snapshots.retain(|it| !it.is_finished());
        let begin = self.begin_ns(request.at_ns);
        let mut first = self.batches.partition_point(|it| it.at_ns < begin);
        // On a full disk, later batches are in memory. A snapshot then has the last part of the file.
        let end = writer.output().sound();
        let in_file = self.batches.partition_point(|it| it.place < end);
        if let Some(last) = in_file.checked_sub(1).and_then(|it| self.batches.get(it))
            && first >= in_file
        {
            let begin = self.begin_ns(last.at_ns);
            first = self.batches.partition_point(|it| it.at_ns < begin);
        }
        let (range, since_ns) = self.part(first, end);
        let begun = self.session.start_ns;
        let kept = KeptRow {
            since_ns: since_ns.unwrap_or(begun),
            snapshot: Some(SnapshotRow {
                at_ns: request.at_ns,
                reason: request.reason,
            }),
        };
        let thread = input_of(writer).and_then(|input| {
            let job = SnapshotJob {
                input,
                range,
                session: SessionRow {
                    kept: Some(kept),
                    ..self.session.clone()
                },
                path: self.path.clone(),
                mark,
                number: self.taken,
                end_ns: now,
                keep: self.options.keep,
                board: Arc::clone(&self.board),
                say: self.say,
            };
            std::thread::Builder::new()
                .name("snapshot".into())
                .spawn(move || job.run())
        });
        match thread {
            Ok(thread) => self.snapshots.push(thread),
            Err(error) => {
                self.board.note_snapshot(None);
                (self.say)(&format!("cannot take a snapshot: {error}"));
            }
        }
    }
}

impl SnapshotJob {
    fn run(self) {
        let (board, say, keep) = (Arc::clone(&self.board), self.say, self.keep);
        let shown = self.path.display().to_string();
        let kept = self.session.kept.as_ref();
        let reason = kept.and_then(|it| it.snapshot.as_ref());
        // A program or a client has written it.
        let reason = reason.map_or_else(String::new, |it| plain(&it.reason).into_owned());
        match self.write() {
            Ok(path) => {
                say(&format!("snapshot: {} ({reason})", path.display()));
                for old in board.note_snapshot(Some((path, keep))) {
                    let _ = fs::remove_file(old);
                }
            }
            Err(error) => {
                board.note_snapshot(None);
                say(&format!("cannot take a snapshot of {shown}: {error:#}"));
            }
        }
    }

    /// Writes the file, and returns its name.
    fn write(self) -> anyhow::Result<PathBuf> {
        let mut new = write_part(
            self.input,
            self.range,
            Vec::new(),
            &self.session,
            &self.path,
        )?;
        let mut encoder = Encoder::new();
        if let Some(mark) = self.mark {
            encoder.push(&Row::Range(mark));
        }
        encoder.push(&Row::End(EndRow {
            end_ns: self.end_ns,
            exit_status: 0,
            ..EndRow::default()
        }));
        let named = new.writer.write(&encoder.seal());
        let named = named.and_then(|()| {
            target::take_free_number(&new.path, &named_after(&self.path), self.number)
        });
        if named.is_err() {
            let _ = fs::remove_file(&new.path);
        }
        Ok(named?)
    }
}

/// The name of the first snapshot of a recording.
fn named_after(path: &Path) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push("-snapshot");
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}
