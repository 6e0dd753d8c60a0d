//! The trace file while it is written. Whatever goes wrong with it, the traced program runs on:
//! rows that cannot be stored any more are counted.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use ascend_trace_model::file::Writer;
use ascend_trace_model::rows::{EndRow, Row, SessionRow, TablesRow};

use super::clock;
use crate::output::say;

/// A reader of a growing file never lags by more than this.
const FLUSH_NS: i64 = 50_000_000;

/// Where the recording goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A file that the user named; an existing one is replaced only with `force`.
    Named { path: PathBuf, force: bool },
    /// `NAME-PID.atrace` in the working directory, with a number when that exists.
    Default { name: String },
}

/// An open trace file.
pub(crate) struct TraceFile {
    path: PathBuf,
    writer: Option<Writer<File>>,
    unstored_calls: u64,
    unstored_others: u64,
    pending: bool,
    flushed_ns: i64,
}

impl TraceFile {
    /// Creates the file. One with a default name has a provisional name until [`Self::settle`].
    pub(crate) fn create(
        target: &Target,
        session: &SessionRow,
        tables: &TablesRow,
    ) -> anyhow::Result<Self> {
        let path = match target {
            Target::Named { path, force } => {
                check_replaceable(path, *force)?;
                path.clone()
            }
            Target::Default { name } => {
                PathBuf::from(format!("./.{name}-{}.atrace.new", std::process::id()))
            }
        };
        let advice = "cannot write the trace; name another file with --output";
        let file = File::create(&path).with_context(|| format!("{advice}: {}", path.display()))?;
        let writer = Writer::create(file, session, tables);
        if writer.is_err() && matches!(target, Target::Default { .. }) {
            // Nobody would know what the hidden file is.
            let _ = fs::remove_file(&path);
        }
        let writer = writer.with_context(|| format!("{advice}: {}", path.display()))?;
        Ok(Self {
            path,
            writer: Some(writer),
            unstored_calls: 0,
            unstored_others: 0,
            pending: true,
            flushed_ns: 0,
        })
    }

    /// Gives the file its final name now that the program's pid is known.
    pub(crate) fn settle(&mut self, target: &Target, pid: u32) {
        let Target::Default { name } = target else {
            return;
        };
        let names = std::iter::once(format!("./{name}-{pid}.atrace"))
            .chain((2..10_000).map(|number| format!("./{name}-{pid}-{number}.atrace")));
        for candidate in names.map(PathBuf::from) {
            match rename_without_replacing(&self.path, &candidate) {
                Ok(()) => {
                    self.path = candidate;
                    return;
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                // The recording is not worth losing over its name.
                Err(_) => return,
            }
        }
    }

    /// Removes the file: the program could not be launched.
    pub(crate) fn discard(self) {
        // A device such as /dev/null is not ours to remove.
        if fs::metadata(&self.path).is_ok_and(|metadata| metadata.is_file()) {
            let _ = fs::remove_file(&self.path);
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Calls and other rows that could not be written.
    pub(crate) fn unstored(&self) -> (u64, u64) {
        (self.unstored_calls, self.unstored_others)
    }

    pub(crate) fn push(&mut self, row: &Row) {
        self.pending = true;
        match self.writer.as_mut().map(|writer| writer.push(row)) {
            Some(Ok(())) => {}
            Some(Err(error)) => {
                self.give_up(&error);
                self.count_unstored(row);
            }
            None => self.count_unstored(row),
        }
    }

    /// Hands new rows to the file when it is time to.
    pub(crate) fn flush_when_due(&mut self) {
        let now = clock::now();
        if self.pending && now - self.flushed_ns >= FLUSH_NS {
            self.flushed_ns = now;
            self.pending = false;
            if let Some(Err(error)) = self.writer.as_mut().map(Writer::flush) {
                self.give_up(&error);
            }
        }
    }

    /// Ends the file properly, if it can still be written.
    pub(crate) fn finish(&mut self, end: EndRow) {
        if let Some(Err(error)) = self.writer.take().map(|writer| writer.finish(end)) {
            self.give_up(&error);
        }
    }

    fn count_unstored(&mut self, row: &Row) {
        match row {
            Row::Call(_) => self.unstored_calls += 1,
            _ => self.unstored_others += 1,
        }
    }

    fn give_up(&mut self, error: &io::Error) {
        self.writer = None;
        let path = self.path.display();
        say(format!(
            "cannot write to {path} any more: {error}; the program runs on, unrecorded from here"
        ));
    }
}

fn check_replaceable(path: &Path, force: bool) -> anyhow::Result<()> {
    let shown = path.display();
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            bail!("{shown} is a folder: name a file for the trace")
        }
        Ok(metadata) if metadata.is_file() && !force => {
            bail!("{shown} exists: --force replaces it")
        }
        _ => Ok(()),
    }
}

fn rename_without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(rustix::io::Errno::EXIST) => Err(io::ErrorKind::AlreadyExists.into()),
        // Some network file systems know no such rename.
        Err(_) if to.exists() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
        Ok(()) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ascend_trace_model::Trace;
    use ascend_trace_model::rows::CallRow;

    fn create(path: &Path, force: bool) -> anyhow::Result<TraceFile> {
        let path = path.to_owned();
        let target = Target::Named { path, force };
        TraceFile::create(&target, &SessionRow::default(), &TablesRow::default())
    }

    fn end() -> EndRow {
        EndRow {
            end_ns: 9,
            exit_status: 3,
        }
    }

    #[test]
    fn an_existing_file_is_replaced_only_by_force() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("x.atrace");
        create(&path, false).unwrap().finish(end());
        let message = create(&path, false).err().unwrap().to_string();
        assert!(message.contains("--force"), "{message}");
        create(&path, true).unwrap().finish(end());
        assert_eq!(Trace::open(&path).unwrap().0.end(), Some((9, 3)));
        assert!(create(root.path(), true).is_err(), "a folder");
    }

    #[test]
    fn a_full_disk_is_counted_and_survived() {
        if !Path::new("/dev/full").exists() {
            return;
        }
        let target = Target::Named {
            path: "/dev/full".into(),
            force: false,
        };
        let message = TraceFile::create(&target, &SessionRow::default(), &TablesRow::default());
        let message = format!("{:#}", message.err().unwrap());
        assert!(
            message.contains("/dev/full") && message.contains("--output"),
            "{message}"
        );
    }

    #[test]
    fn rows_after_the_end_of_writing_are_counted_by_kind() {
        let root = tempfile::tempdir().unwrap();
        let mut file = create(&root.path().join("x.atrace"), false).unwrap();
        file.give_up(&io::Error::from_raw_os_error(28));
        file.push(&Row::Call(CallRow::default()));
        file.push(&Row::Call(CallRow::default()));
        file.push(&Row::End(end()));
        assert_eq!(file.unstored(), (2, 1));
    }

    #[test]
    fn a_name_that_is_taken_is_not_replaced() {
        let root = tempfile::tempdir().unwrap();
        let (from, to) = (root.path().join("a"), root.path().join("b"));
        fs::write(&from, "new").unwrap();
        fs::write(&to, "old").unwrap();
        let error = rename_without_replacing(&from, &to).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&to).unwrap(), "old");
        fs::remove_file(&to).unwrap();
        rename_without_replacing(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(&to).unwrap(), "new");
    }
}
