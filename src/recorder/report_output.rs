//! Destination of a recorder's reports: standard error, or a file next to the trace while the view has
//! the screen.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::output::{announce, is_held, print_message};

/// The end of the name of a file with reports.
const REPORTS: &str = ".why";

/// Puts out reports, each as it comes.
pub(super) struct ReportOutput {
    /// The trace, unless it has no name.
    trace: Option<PathBuf>,
    /// The file with reports, once there is one.
    beside: Option<(PathBuf, File)>,
}

impl ReportOutput {
    pub(super) fn new(trace: Option<PathBuf>) -> Self {
        let beside = None;
        Self { trace, beside }
    }

    /// Puts a report out. It must not destroy the screen of the view, where a line says where it is.
    pub(super) fn put(&mut self, report: &str) {
        if !is_held() {
            print_message(report);
            return;
        }
        match self.keep(report) {
            Ok(path) => announce(format!(
                "what the program waits for is in {}",
                path.display()
            )),
            // It comes when the view has given the screen back.
            Err(_) => print_message(report),
        }
    }

    fn keep(&mut self, report: &str) -> io::Result<&Path> {
        let (path, file) = match self.beside.take() {
            Some(known) => self.beside.insert(known),
            None => {
                let trace = self.trace.as_deref().ok_or(io::ErrorKind::NotFound)?;
                let path = beside(trace, REPORTS);
                let file = create_private(&path)?;
                self.beside.insert((path, file))
            }
        };
        file.write_all(format!("{report}\n").as_bytes())?;
        Ok(path.as_path())
    }
}

/// The name of a file that belongs to a trace.
pub(super) fn beside(trace: &Path, ending: &str) -> PathBuf {
    let mut name = trace.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Makes a file that is as private as the trace. Existing files are not opened.
pub(super) fn create_private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_a_recording_are_kept_in_one_file() {
        let root = tempfile::tempdir().unwrap();
        let trace = root.path().join("t.atrace");
        let mut outlet = ReportOutput::new(Some(trace.clone()));
        let path = outlet.keep("one").unwrap().to_owned();
        assert_eq!(path, beside(&trace, REPORTS));
        outlet.keep("two").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\n");
        // What another recording has left stays.
        assert!(ReportOutput::new(Some(trace)).keep("three").is_err());
        assert!(ReportOutput::new(None).keep("four").is_err());
    }
}
