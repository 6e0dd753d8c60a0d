//! The files of one recording: a trace file, or several of `--roll` that are read as one.

use std::fs::File;
use std::path::{Path, PathBuf};

use ascend_trace_recording::file::recognise;
use ascend_trace_recording::{OpenError, Recording};

use super::open_error;
use super::open_trace;
use crate::stack_symbols;
use crate::view_source::writer_lock;

/// One or more files of a recording.
#[derive(Clone, Debug)]
pub(crate) struct TraceFiles(Vec<PathBuf>);

impl TraceFiles {
    /// As they are on the command line: at least one.
    pub(crate) fn new(files: &[PathBuf]) -> Self {
        Self(files.to_vec())
    }

    pub(crate) fn one(file: &Path) -> Self {
        Self(vec![file.to_owned()])
    }

    /// The last one: a recorder may still write it.
    pub(crate) fn last(&self) -> &Path {
        self.0.last().map_or(Path::new(""), PathBuf::as_path)
    }

    /// The name in messages.
    pub(crate) fn name(&self) -> PathBuf {
        match self.0.as_slice() {
            [first, more @ ..] if !more.is_empty() => {
                let mut name = first.as_os_str().to_owned();
                name.push(format!(" and {} more", more.len()));
                name.into()
            }
            _ => self.last().to_owned(),
        }
    }

    /// Opens the recording for a command, as [`open_trace::open_any`] does for one file.
    pub(crate) fn open(&self) -> anyhow::Result<Recording> {
        if let [file] = self.0.as_slice() {
            return open_trace::open_any(file);
        }
        for file in &self.0 {
            // An error names the file.
            recognise(file).map_err(|error| open_error::explained(file, error))?;
        }
        let mut recording = self.read(|_, _| true)?;
        recording.set_growing(!recording.complete() && writer_lock::is_writing(self.last()));
        recording.close()?;
        recording.set_symbols(stack_symbols::of_this_machine());
        Ok(recording)
    }

    /// Opens the recording as far as it has been written.
    pub(crate) fn read(
        &self,
        progress: impl FnMut(u64, u64) -> bool,
    ) -> Result<Recording, OpenError> {
        match self.0.as_slice() {
            [file] => Recording::open(file, progress),
            files => Recording::open_parts(files, progress),
        }
    }

    /// Bytes of the files.
    pub(crate) fn bytes(&self) -> std::io::Result<u64> {
        let lengths = self.0.iter().map(|file| Ok(file.metadata()?.len()));
        lengths.sum()
    }

    /// Whether each file is a part of a recording that has several.
    pub(crate) fn are_parts(&self) -> bool {
        let is_part = |file: &PathBuf| {
            let opened = File::open(file).map_err(OpenError::from);
            let number = opened.and_then(ascend_trace_recording::file::part_number);
            number.is_ok_and(|it| it.is_some())
        };
        self.0.iter().all(is_part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_named_after_its_first_file() {
        let files = ["a-0001.atrace", "a-0002.atrace", "a-0003.atrace"].map(PathBuf::from);
        let name = |files: &[PathBuf]| TraceFiles::new(files).name().display().to_string();
        assert_eq!(name(&files), "a-0001.atrace and 2 more");
        assert_eq!(name(&files[..1]), "a-0001.atrace");
        assert_eq!(TraceFiles::new(&files).last(), Path::new("a-0003.atrace"));
    }
}
