//! A recording that goes on in further files (`--roll`).
//!
//! Each file can be opened alone: it begins with the rows of the files before that later ones depend on. A thread collects them from
//! the file while that is written, a piece at a time, so that little is left to read when the next file begins. The writing thread
//! reads this rest, begins the next file, and ends the old one.

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, bail};

use ascend_trace_recording::file::{ChunkWriter, Continuation, Encoder};
use ascend_trace_recording::rows::{EndRow, KeptRow, PartRow, Row, SessionRow};

use crate::Notify;
use crate::storage::TraceOutput;
use crate::switchboard::Switchboard;
use crate::target;

/// Bytes that a thread reads at a time.
const PIECE: u64 = 16 << 20;
/// Bytes that the writing thread reads itself before it begins the next file.
const REST: u64 = 1 << 20;
/// Why a file ends before its program.
const GOES_ON: &str = "the recording goes on in the next file";

/// When the next file begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RollAt {
    /// This long after the file.
    Time(Duration),
    /// When the file has this length.
    Bytes(u64),
}

/// Options of a recording with several files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RollOptions {
    pub at: RollAt,
    /// Files that stay; a further one replaces the oldest. None: all of them.
    pub keep: Option<usize>,
    /// A file of the same name is replaced.
    pub force: bool,
}

/// Rows for the next file, as far as the file has been read.
enum Collected {
    Here(Box<Continuation>),
    /// A thread reads on.
    There(JoinHandle<anyhow::Result<Box<Continuation>>>),
    /// It could not be read: tried again from its begin when the next file is due.
    Nowhere,
}

/// The files of a recording.
pub(crate) struct Roll {
    options: RollOptions,
    session: SessionRow,
    /// The first file.
    first: PathBuf,
    number: u32,
    begun_ns: i64,
    collected: Collected,
    /// After a failure, the file grows to this length before the next attempt.
    retry_bytes: u64,
    board: Arc<Switchboard>,
    say: Notify,
}

impl Roll {
    pub(crate) fn new(
        options: RollOptions,
        session: SessionRow,
        first: PathBuf,
        say: Notify,
        board: Arc<Switchboard>,
        now: i64,
    ) -> Self {
        board.note_part(first.clone(), None);
        Self {
            options,
            session,
            first,
            number: 1,
            begun_ns: now,
            collected: Collected::Nowhere,
            retry_bytes: 0,
            board,
            say,
        }
    }

    /// A batch has been written: begins the next file if it is due, and returns its name.
    pub(crate) fn turn(
        &mut self,
        writer: &mut ChunkWriter<TraceOutput>,
        now: i64,
    ) -> Option<PathBuf> {
        let length = writer.length();
        if length < self.retry_bytes {
            return None;
        }
        let is_due = match self.options.at {
            RollAt::Time(time) => now.saturating_sub(self.begun_ns) >= nanoseconds(time),
            RollAt::Bytes(most) => length >= most,
        };
        let turned = self
            .collect(writer, is_due)
            .and_then(|is_ready| match is_ready && is_due {
                true => self.next(writer, now).map(Some),
                false => Ok(None),
            });
        turned.unwrap_or_else(|error| {
            self.failed(&error, length);
            None
        })
    }

    /// Collects rows for the next file. Returns whether nearly all have been collected.
    fn collect(&mut self, writer: &ChunkWriter<TraceOutput>, is_due: bool) -> anyhow::Result<bool> {
        let length = writer.length();
        let known = match std::mem::replace(&mut self.collected, Collected::Nowhere) {
            Collected::There(thread) if !thread.is_finished() => {
                self.collected = Collected::There(thread);
                return Ok(false);
            }
            Collected::There(thread) => {
                let read = thread.join();
                read.unwrap_or_else(|_| bail!("the thread that reads it has failed"))?
            }
            Collected::Here(known) => known,
            Collected::Nowhere => Box::new(Continuation::new(writer.output().reader()?)?),
        };
        let left = length.saturating_sub(known.position());
        if left < PIECE && (!is_due || left < REST) {
            self.collected = Collected::Here(known);
            return Ok(left < REST);
        }
        let mut known = known;
        let thread = std::thread::Builder::new()
            .name("roll".into())
            .spawn(move || {
                known.read_to(length)?;
                Ok(known)
            });
        self.collected = Collected::There(thread?);
        Ok(false)
    }

    /// Begins the next file, and ends the one before.
    fn next(&mut self, writer: &mut ChunkWriter<TraceOutput>, now: i64) -> anyhow::Result<PathBuf> {
        let known = std::mem::replace(&mut self.collected, Collected::Nowhere);
        let Collected::Here(mut known) = known else {
            bail!("its rows are not known");
        };
        known.read_to(writer.length())?;
        let number = self.number.saturating_add(1);
        let session = SessionRow {
            kept: Some(KeptRow {
                since_ns: now,
                snapshot: None,
            }),
            part: Some(PartRow { number }),
            ..self.session.clone()
        };
        let (new, path) = self.create(*known, &session, &writer.output().reader()?)?;
        let mut old = std::mem::replace(writer, new);
        let mut end = Encoder::new();
        end.push(&Row::End(EndRow {
            end_ns: now,
            exit_status: 0,
            reason: GOES_ON.to_owned(),
        }));
        if let Err(error) = old.write(&end.seal()) {
            let before = self
                .board
                .parts()
                .back()
                .map_or_else(String::new, |it| it.display().to_string());
            (self.say)(&format!("{before} has no end: {error}"));
        }
        self.number = number;
        self.begun_ns = now;
        self.retry_bytes = 0;
        for old in self.board.note_part(path.clone(), self.options.keep) {
            if let Err(error) = fs::remove_file(&old) {
                let old = old.display();
                (self.say)(&format!("cannot remove {old}: {error}"));
            }
        }
        Ok(path)
    }

    /// Makes the next file, with its name.
    fn create(
        &self,
        known: Continuation,
        session: &SessionRow,
        like: &File,
    ) -> anyhow::Result<(ChunkWriter<TraceOutput>, PathBuf)> {
        let wanted = target::numbered_part(&self.first, self.number.saturating_add(1));
        let (output, new) = target::provisional(&wanted)?;
        let made = (|| {
            target::copy_rights(like, &output)?;
            // No other recorder may take the name.
            anyhow::ensure!(target::lock(&output), "another recorder has the new file");
            let writer = known.begin(session, TraceOutput::new(output, true))?;
            let path = match self.options.force {
                true => fs::rename(&new, &wanted).map(|()| wanted),
                false => target::take_free_name(&new, &wanted),
            };
            Ok((writer, path.context("cannot give it its name")?))
        })();
        if made.is_err() {
            let _ = fs::remove_file(&new);
        }
        made
    }

    /// The next file could not be begun.
    fn failed(&mut self, error: &anyhow::Error, length: u64) {
        if self.retry_bytes == 0 {
            let next = target::numbered_part(&self.first, self.number.saturating_add(1));
            let next = next.display();
            (self.say)(&format!(
                "cannot begin {next}: {error:#}; the file before it grows until that is possible"
            ));
        }
        self.retry_bytes = length.saturating_add(length / 4).max(1);
    }
}

fn nanoseconds(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
