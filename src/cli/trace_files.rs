//! The files of one recording: a trace file, or several of `--roll` that are read as one.

use std::fs::File;
use std::path::{Path, PathBuf};

use ascend_trace_recording::file::{self, PlaceInSet, recognise};
use ascend_trace_recording::rows::SessionRow;
use ascend_trace_recording::{OpenError, Recording};

use super::open_error;
use super::open_trace;
use crate::stack_symbols;
use crate::view_source::writer_lock;

/// One or more files of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TraceFiles(Vec<PathBuf>);

impl TraceFiles {
    /// The files of several words of the command line: at least one.
    pub(crate) fn new(words: &[PathBuf]) -> Self {
        Self(words.iter().flat_map(|it| named(it)).collect())
    }

    /// The files of one word: a file, or a pattern such as `run-*.atrace`.
    pub(crate) fn one(word: &Path) -> Self {
        Self(named(word))
    }

    /// The recordings of several words, in the order of their first files. Files of `--roll` with the same session are one
    /// recording.
    pub(crate) fn recordings(words: &[PathBuf]) -> Vec<Self> {
        let mut sessions: Vec<Option<SessionRow>> = Vec::new();
        let mut found: Vec<Self> = Vec::new();
        for file in words.iter().flat_map(|it| named(it)) {
            let session = place_in_set(&file).map(|it| it.session);
            let before = session.as_ref().and_then(|it| {
                let mut places = sessions.iter();
                places.position(|other| other.as_ref() == Some(it))
            });
            match before.and_then(|at| found.get_mut(at)) {
                Some(set) => set.0.push(file),
                None => {
                    sessions.push(session);
                    found.push(Self(vec![file]));
                }
            }
        }
        found
    }

    pub(crate) fn as_slice(&self) -> &[PathBuf] {
        &self.0
    }

    /// The first one, for the names of outputs.
    pub(crate) fn first(&self) -> &Path {
        self.0.first().map_or(Path::new(""), PathBuf::as_path)
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
        self.0.iter().all(|file| place_in_set(file).is_some())
    }
}

/// The files that a word of the command line names. A word that is no file and has a wildcard is a pattern.
fn named(word: &Path) -> Vec<PathBuf> {
    let pattern = word.to_str().filter(|it| it.contains(['*', '?', '[']));
    let Some(pattern) = pattern.filter(|_| !word.exists()) else {
        return vec![word.to_owned()];
    };
    let found = glob::glob(pattern).into_iter().flatten().flatten();
    let files: Vec<PathBuf> = found.filter(|it| it.is_file()).collect();
    match files.is_empty() {
        // Opening it prints the error.
        true => vec![word.to_owned()],
        false => files,
    }
}

/// The place of a file of `--roll`; `None` for other files.
pub(crate) fn place_in_set(file: &Path) -> Option<PlaceInSet> {
    // Only files: a pipe can be read once.
    let opened = file.is_file().then(|| File::open(file))?.ok()?;
    file::place_in_set(opened).ok().flatten()
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

    #[test]
    fn a_pattern_names_files_unless_a_file_has_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let files = |word: &str| TraceFiles::one(&path(word)).0;
        for name in ["a-0002.atrace", "a-0001.atrace", "b.atrace"] {
            std::fs::write(path(name), "").unwrap();
        }
        std::fs::create_dir(path("a-3.atrace")).unwrap();
        let both = [path("a-0001.atrace"), path("a-0002.atrace")];
        assert_eq!(files("a-*.atrace"), both);
        assert_eq!(files("a-000?.atrace"), both);
        assert_eq!(files("c-*.atrace"), [path("c-*.atrace")]);
        std::fs::write(path("a-*.atrace"), "").unwrap();
        assert_eq!(files("a-*.atrace"), [path("a-*.atrace")]);
    }
}
