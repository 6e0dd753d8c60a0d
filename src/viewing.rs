//! Trace files as the viewer's source.

mod bookmarks;
mod exporting;
mod loader;
mod reader;
mod recorder;
#[cfg(test)]
mod tests;
mod whole;

use std::borrow::Cow;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;

use ascend_trace_model::{Follower, Trace};
use ascend_trace_viewer::{
    Bookmark, ColorMode, Derived, ExportNews, Log, News, Options, Outcome, Overview, Progress,
    Quest, Recording, Source,
};

use crate::cli::trace::Condition;
use crate::log::LogBook;
use crate::output::manner;
use exporting::Export;
use loader::Loader;
use whole::WholeCheck;

/// A lag that was seen so long ago says nothing of now.
const RECENT: Duration = Duration::from_secs(1);
/// Longer files, and recordings with more calls and tasks, are read part by part.
const WHOLE_BYTES: u64 = 2 << 20;
const WHOLE_ROWS: usize = 400_000;
/// A file that has so many may have more than is kept of one of its length.
const DENSE_ROWS: usize = 50_000;

/// A trace file that may still grow, with the program's output if there is any.
pub(crate) struct FileSource {
    reading: Reading,
    log: Option<LogBook>,
    /// Whether the recording is made by this process, which then knows that it is going on.
    ours: bool,
    file: PathBuf,
    lag: Option<Lag>,
    export: Option<Export>,
    /// The name that is proposed for an export.
    export_name: String,
}

/// How late something arrived.
#[derive(Clone, Copy)]
struct Lag {
    arrived: Instant,
    age: Duration,
}

/// Time since a moment of a trace that is recorded on this host.
fn age(moment: i64) -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let now = now.tv_sec * 1_000_000_000 + now.tv_nsec;
    Duration::from_nanos(now.saturating_sub(moment).max(0).unsigned_abs())
}

/// How a file is read.
enum Reading {
    /// All of it is in memory.
    Whole(Box<Follower>),
    /// What is looked at is.
    Parts(Box<Loader>),
}

impl FileSource {
    /// Follows a file that somebody else writes or has written.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let follower =
            Follower::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        let is_long = std::fs::metadata(path).is_ok_and(|it| it.len() > WHOLE_BYTES);
        let reading = match is_long {
            true => Reading::Parts(Box::new(Loader::start(path.to_owned())?)),
            false => Reading::Whole(Box::new(follower)),
        };
        Ok(Self {
            reading,
            log: None,
            ours: false,
            file: path.to_owned(),
            lag: None,
            export: None,
            export_name: path.with_extension("json").display().to_string(),
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

    /// How complete it is, as far as it has been read.
    fn condition(&self) -> Condition {
        match &self.reading {
            Reading::Whole(follower) => Condition::of(follower.trace(), follower.warnings()),
            Reading::Parts(_) => Condition::of_read(self.trace()),
        }
    }

    fn state(&self, complete: bool) -> Recording {
        match self.trace().end() {
            Some((_, status)) if complete => Recording::Ended { status },
            _ if complete || (!self.ours && recorder::is_gone(&self.file)) => Recording::Stopped,
            _ => Recording::Running,
        }
    }

    /// How old the newest thing was when it arrived, if that is not long ago.
    fn lag(&mut self, changed: bool) -> Option<Duration> {
        if !self.ours {
            return None;
        }
        if changed && let Some(newest) = self.newest() {
            self.lag = Some(Lag {
                arrived: Instant::now(),
                age: age(newest),
            });
        }
        let lag = self.lag.filter(|it| it.arrived.elapsed() < RECENT)?;
        Some(lag.age)
    }

    /// The last moment that is known of.
    fn newest(&self) -> Option<i64> {
        let span = match self.overview() {
            Some(overview) => overview.span,
            None => self.trace().span(),
        };
        span.map(|(_, end)| end)
    }

    /// Takes in what is new: whether there was anything, and whether there will be no more.
    fn advance(&mut self) -> Result<(bool, bool), Box<dyn Error + Send + Sync>> {
        match &mut self.reading {
            Reading::Whole(follower) => {
                let progress = follower.poll()?;
                let trace = follower.trace();
                let rows = trace.calls().len() + trace.tasks().len();
                if rows > WHOLE_ROWS || (rows > DENSE_ROWS && !follower.warnings().is_empty()) {
                    self.reading = Reading::Parts(Box::new(Loader::start(self.file.clone())?));
                    return Ok((true, false));
                }
                Ok((progress.rows > 0, progress.complete))
            }
            Reading::Parts(loader) => {
                let changed = loader.poll()?;
                Ok((changed, loader.complete()))
            }
        }
    }
}

impl Source for FileSource {
    fn poll(&mut self) -> Result<Progress, Box<dyn Error + Send + Sync>> {
        let (changed, complete) = self.advance()?;
        Ok(Progress {
            changed,
            recording: self.state(complete),
            lag: self.lag(changed),
        })
    }

    fn trace(&self) -> &Trace {
        match &self.reading {
            Reading::Whole(follower) => follower.trace(),
            Reading::Parts(loader) => loader.trace(),
        }
    }

    fn overview(&self) -> Option<&Overview> {
        match &self.reading {
            Reading::Whole(_) => None,
            Reading::Parts(loader) => Some(loader.overview()),
        }
    }

    fn look_at(&mut self, range: (i64, i64)) {
        if let Reading::Parts(loader) = &mut self.reading {
            loader.look_at(range);
        }
    }

    fn is_loading(&self) -> bool {
        matches!(&self.reading, Reading::Parts(loader) if loader.is_loading())
    }

    fn next_part(&mut self) -> Option<Derived> {
        match &mut self.reading {
            Reading::Whole(_) => None,
            Reading::Parts(loader) => loader.next_part(),
        }
    }

    fn ask(&mut self, quest: Option<Box<Quest>>) {
        if let Reading::Parts(loader) = &mut self.reading {
            loader.ask(quest);
        }
    }

    fn news(&mut self) -> Option<News> {
        match &mut self.reading {
            Reading::Whole(_) => None,
            Reading::Parts(loader) => loader.news(),
        }
    }

    fn export_name(&self) -> Option<&str> {
        Some(&self.export_name)
    }

    fn export(
        &mut self,
        path: &str,
        range: Option<(i64, i64)>,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.export = Some(Export::start(self.file.clone(), path, range)?);
        Ok(())
    }

    fn stop_export(&mut self) {
        if let Some(export) = &self.export {
            export.stop();
        }
    }

    fn export_news(&mut self) -> Option<ExportNews> {
        self.export.as_ref()?.news()
    }

    fn bookmarks(&self) -> Vec<Bookmark> {
        bookmarks::read(&self.file)
    }

    fn keep_bookmarks(&mut self, kept: &[Bookmark]) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(bookmarks::write(&self.file, kept)?)
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

/// Shows a file until the user has seen enough. Answers the signal that ended the view, if any, and how
/// complete the file is: as far as it was read, or with `strict` all of it.
pub(crate) fn view(path: &Path, strict: bool) -> anyhow::Result<(Option<i32>, Condition)> {
    let mut source = FileSource::open(path)?;
    ascend_trace_viewer::check_terminal()?;
    let check = match strict {
        true => Some(WholeCheck::start(path)?),
        false => None,
    };
    let options = Options {
        title: path.display().to_string(),
        ..Options::default()
    };
    let signal = show(&mut source, options)?;
    let condition = match check.filter(|_| signal.is_none()) {
        Some(check) => check.finish()?,
        None => source.condition(),
    };
    Ok((signal, condition))
}

/// The colours that the user asked for; else the view asks the environment.
fn colors(wanted: Option<bool>) -> Option<ColorMode> {
    let variable = |name| std::env::var(name).ok();
    wanted.map(|wanted| match wanted {
        false => ColorMode::None,
        true => match ColorMode::detect(
            None,
            variable("COLORTERM").as_deref(),
            variable("TERM").as_deref(),
        ) {
            ColorMode::None => ColorMode::Ansi,
            mode => mode,
        },
    })
}

/// Shows a source until the user has seen enough.
pub(crate) fn show(source: &mut FileSource, mut options: Options) -> anyhow::Result<Option<i32>> {
    options.colors = colors(manner().color);
    options.ground = manner().ground;
    match ascend_trace_viewer::run(source, options)? {
        Outcome::Quit => Ok(None),
        Outcome::Signal(number) => Ok(Some(number)),
    }
}
