//! Writes the last part of the file to a new one, which then takes its name.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use anyhow::{Context, bail};

use ascend_trace_recording::file::{self, ChunkWriter, TrimRange};
use ascend_trace_recording::rows::SessionRow;

use super::{Ring, input_of};
use crate::storage::TraceOutput;
use crate::target;

/// A new file that is being written.
pub(super) struct Rewriting {
    thread: JoinHandle<anyhow::Result<NewFile>>,
    /// Batches that it leaves out.
    dropped: usize,
    /// The end of the last batch that it has.
    end: u64,
    since_ns: Option<i64>,
}

/// A new file, and the places of its batches.
pub(super) struct NewFile {
    pub(super) writer: ChunkWriter<TraceOutput>,
    pub(super) path: PathBuf,
    places: Vec<u64>,
}

impl Rewriting {
    /// Gives the new file up.
    pub(super) fn remove(self) {
        if let Ok(Ok(new)) = self.thread.join() {
            let _ = fs::remove_file(new.path);
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.thread.is_finished()
    }
}

/// Writes the part of a file to a new one next to `path`. It has no final name yet.
pub(super) fn write_part(
    input: fs::File,
    range: TrimRange,
    mut places: Vec<u64>,
    session: &SessionRow,
    path: &Path,
) -> anyhow::Result<NewFile> {
    let (output, new) = target::provisional(path)?;
    let written = (|| {
        target::copy_rights(&input, &output)?;
        let output = TraceOutput::new(output, true);
        Ok(file::trim(input, range, &mut places, session, output)?)
    })();
    match written {
        Ok(writer) => Ok(NewFile {
            writer,
            path: new,
            places,
        }),
        Err(error) => {
            let _ = fs::remove_file(&new);
            Err(error)
        }
    }
}

impl Ring {
    /// Begins to write a file without the first `dropped` batches.
    pub(super) fn rewrite(&mut self, writer: &ChunkWriter<TraceOutput>, dropped: usize, now: i64) {
        let end = writer.length();
        let (range, since_ns) = self.part(dropped, end);
        let session = self.session_since(since_ns);
        let places = self.batches.iter().skip(dropped).map(|it| it.place);
        let (places, path) = (places.collect(), self.path.clone());
        let thread = input_of(writer).and_then(|input| {
            std::thread::Builder::new()
                .name("ring".into())
                .spawn(move || write_part(input, range, places, &session, &path))
        });
        match thread {
            Ok(thread) => {
                self.rewriting = Some(Rewriting {
                    thread,
                    dropped,
                    end,
                    since_ns,
                });
            }
            Err(error) => self.failed(&error.into(), now),
        }
    }

    /// Goes on with the new file.
    pub(super) fn adopt(&mut self, writer: &mut ChunkWriter<TraceOutput>, now: i64) {
        let Some(rewriting) = self.rewriting.take() else {
            return;
        };
        let (dropped, end, since_ns) = (rewriting.dropped, rewriting.end, rewriting.since_ns);
        let new = rewriting.thread.join();
        let new = new.unwrap_or_else(|_| bail!("the thread that does it has failed"));
        let taken = new.and_then(|new| self.take_over(new, writer, dropped, end));
        match taken {
            Ok(()) => {
                self.since_ns = since_ns;
                self.retry_after_ns = 0;
                self.retry_ns = i64::MIN;
            }
            Err(error) => self.failed(&error, now),
        }
    }

    /// Copies the batches that came meanwhile, and gives the new file the name of the old one.
    fn take_over(
        &mut self,
        mut new: NewFile,
        writer: &mut ChunkWriter<TraceOutput>,
        dropped: usize,
        end: u64,
    ) -> anyhow::Result<()> {
        let known = dropped + new.places.len();
        let later = self.batches.iter().skip(known).map(|it| it.place);
        let mut later: Vec<u64> = later.collect();
        let range = TrimRange {
            begin: end,
            end: writer.length(),
        };
        let replaced = (|| {
            file::append(input_of(writer)?, range, &mut later, &mut new.writer)?;
            if !target::is_named(&input_of(writer)?, &self.path) {
                bail!("it was moved or removed");
            }
            // Before the name is that of the new file: no other recorder may take it.
            let is_locked = target::lock(&input_of(&new.writer)?);
            anyhow::ensure!(is_locked, "another recorder has the new file");
            fs::rename(&new.path, &self.path).context("cannot replace it")
        })();
        if let Err(error) = replaced {
            let _ = fs::remove_file(&new.path);
            return Err(error);
        }
        *writer = new.writer;
        let places = new.places.into_iter().chain(later);
        self.batches.drain(..dropped);
        for (batch, place) in self.batches.iter_mut().zip(places) {
            batch.place = place;
        }
        Ok(())
    }
}
