//! Trace files as the viewer's source.

use std::borrow::Cow;
use std::error::Error;
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::Context;

use ascend_trace_model::{Follower, Trace};
use ascend_trace_viewer::{Log, Options, Outcome, Progress, Recording, Source};

use crate::log::LogBook;

/// A file without an end that has not grown for so long is taken as stopped short; if it grows
/// after all, it is followed again.
const STALE: Duration = Duration::from_secs(60);

/// A trace file that may still grow, with the program's output if there is any.
pub(crate) struct FileSource {
    follower: Follower,
    log: Option<LogBook>,
    /// Whether the recording is made by this process, which then knows that it is going on.
    ours: bool,
    file: std::path::PathBuf,
}

impl FileSource {
    /// Follows a file that somebody else writes or has written.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let follower =
            Follower::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        Ok(Self {
            follower,
            log: None,
            ours: false,
            file: path.to_owned(),
        })
    }

    /// Follows the file that this process is writing.
    pub(crate) fn recording(path: &Path, log: LogBook) -> anyhow::Result<Self> {
        Ok(Self {
            log: Some(log),
            ours: true,
            ..Self::open(path)?
        })
    }

    fn state(&self, complete: bool) -> Recording {
        match self.follower.trace().end() {
            Some((_, status)) if complete => Recording::Ended { status },
            _ if complete || (!self.ours && self.is_stale()) => Recording::Stopped,
            _ => Recording::Running,
        }
    }

    fn is_stale(&self) -> bool {
        let modified = std::fs::metadata(&self.file).and_then(|metadata| metadata.modified());
        modified.is_ok_and(|time| {
            SystemTime::now()
                .duration_since(time)
                .is_ok_and(|age| age > STALE)
        })
    }
}

impl Source for FileSource {
    fn poll(&mut self) -> Result<Progress, Box<dyn Error + Send + Sync>> {
        let progress = self.follower.poll()?;
        Ok(Progress {
            changed: progress.rows > 0,
            recording: self.state(progress.complete),
            lag: None,
        })
    }

    fn trace(&self) -> &Trace {
        self.follower.trace()
    }

    fn log(&self) -> Option<&dyn Log> {
        self.log.as_ref().map(|log| log as &dyn Log)
    }
}

impl Log for LogBook {
    fn len(&self) -> usize {
        LogBook::len(self)
    }

    fn line(&self, index: usize) -> Option<Cow<'_, str>> {
        LogBook::line(self, index).map(Cow::Owned)
    }
}

/// Shows a file until the user has seen enough. Answers the signal that ended the view, if any.
pub(crate) fn view(path: &Path) -> anyhow::Result<Option<i32>> {
    let mut source = FileSource::open(path)?;
    ascend_trace_viewer::check_size()?;
    let options = Options {
        title: path.display().to_string(),
        ..Options::default()
    };
    show(&mut source, options)
}

/// Shows a source until the user has seen enough.
pub(crate) fn show(source: &mut FileSource, options: Options) -> anyhow::Result<Option<i32>> {
    match ascend_trace_viewer::run(source, options)? {
        Outcome::Quit => Ok(None),
        Outcome::Signal(number) => Ok(Some(number)),
    }
}
