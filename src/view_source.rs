//! Trace files as the viewer's source.

mod bookmarks;
mod comparing;
mod config;
mod control;
mod exporting;
mod inbox;
mod loader;
mod memory_pass;
mod pair;
mod pictures;
mod poll_pace;
mod reader;
#[cfg(test)]
mod tests;
mod whole_check;
pub(crate) mod writer_lock;

use std::borrow::Cow;
use std::error::Error;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ascend_trace_recording::file::recognise;
use ascend_trace_recording::{OpenError, TimeRange, Trace, Warning};
use ascend_trace_viewer::{
    Bookmark, ColorMode, DerivedData, Job, JobNews, Picture, ProgramLog, RecorderCounts,
    RecordingOrder, RecordingOverview, RecordingState, SourceProgress, TraceSource, ViewOptions,
    ViewOutcome,
};

use crate::cli::open_error;
use crate::cli::open_trace::Completeness;
use crate::cli::trace_files::TraceFiles;
use crate::control::ControlledRecording;
use crate::log::LogBook;
use crate::output::{print_message, take_notice, verbosity};
use ascend_trace_collector::gauge::{self as collector, Gauge};
use control::{OrderTarget, SentOrders};
use exporting::RunningExport;
use loader::PartLoader;
pub(crate) use pair::view_two;
pub(crate) use poll_pace::step_back;
use whole_check::WholeCheck;

/// A lag that was measured earlier says nothing about now.
const RECENT: Duration = Duration::from_secs(1);

/// A trace file that may still grow, with the program's output if there is any.
pub(crate) struct FileSource {
    loader: PartLoader,
    log: Option<LogBook>,
    /// Counts of the recorder, where this process makes the recording: then it is known to continue.
    gauge: Option<Arc<Gauge>>,
    files: TraceFiles,
    /// The file, or the last one of several.
    file: PathBuf,
    lag: Option<ArrivalLag>,
    export: Option<RunningExport>,
    /// Why an export could not even begin.
    refused: Option<JobNews>,
    /// The name that is proposed for an export.
    export_name: String,
    orders: SentOrders,
}

/// How late something arrived.
#[derive(Clone, Copy)]
struct ArrivalLag {
    arrived: Instant,
    age: Duration,
}

/// Time since a time of a trace that is recorded on this host.
fn age(moment: i64) -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let now = now.tv_sec * 1_000_000_000 + now.tv_nsec;
    Duration::from_nanos(now.saturating_sub(moment).max(0).unsigned_abs())
}

impl FileSource {
    /// Follows a file of another writer.
    pub(crate) fn open(files: &TraceFiles) -> anyhow::Result<Self> {
        Self::start(files.clone(), None, None)
    }

    /// Follows the file that this process is writing.
    pub(crate) fn recording(path: &Path, log: LogBook, gauge: Arc<Gauge>) -> anyhow::Result<Self> {
        Self::start(TraceFiles::one(path), Some(log), Some(gauge))
    }

    /// The recording is made by this process, and changes by orders of the user.
    pub(crate) fn controlled(self, recording: ControlledRecording) -> Self {
        let orders = SentOrders::new(OrderTarget::Own(Box::new(recording)));
        Self { orders, ..self }
    }

    fn start(
        files: TraceFiles,
        log: Option<LogBook>,
        gauge: Option<Arc<Gauge>>,
    ) -> anyhow::Result<Self> {
        let path = files.last();
        recognise(path).map_err(|error| open_error::explained(path, error))?;
        Ok(Self {
            loader: PartLoader::start(files.clone(), gauge.is_some())?,
            log,
            gauge,
            file: path.to_owned(),
            lag: None,
            export: None,
            refused: None,
            export_name: path.with_extension("json").display().to_string(),
            orders: SentOrders::new(OrderTarget::File(path.to_owned())),
            files,
        })
    }

    /// How complete it is, as far as it has been read.
    fn condition(&self) -> Completeness {
        if self.overview().opening.is_some() {
            // Nothing is known of it.
            return Completeness {
                growing: true,
                ..Completeness::default()
            };
        }
        let ended = self.loader.ended().is_some() || self.trace().end().is_some();
        let growing = !ended && writer_lock::is_writing(&self.file);
        if !ended && !growing {
            // The recorder may have ended it since it was read.
            if let Ok(recording) = self.files.open() {
                return self.with_seen(Completeness::of_recording(&recording));
            }
        }
        let is_open = |it: &&Warning| !(ended || growing) || !it.is_of_end();
        let warnings = self.loader.warnings().iter().filter(is_open);
        let warnings: Vec<Warning> = warnings.cloned().collect();
        let condition = Completeness::of(self.trace(), &warnings);
        self.with_seen(Completeness {
            ended,
            growing,
            ..condition
        })
    }

    /// The same with the damage of the part on screen.
    fn with_seen(&self, mut condition: Completeness) -> Completeness {
        if condition.damaged_inside == 0 && self.trace().is_damaged() {
            let text = "a part that was read is damaged: `ascend-trace info` says where";
            condition.damage.push(text.to_owned());
            condition.damaged_inside = 1;
        }
        condition
    }

    fn state(&self) -> RecordingState {
        match self.loader.ended() {
            Some(Some(status)) => RecordingState::Ended { status },
            Some(None) => RecordingState::Stopped,
            None if self.gauge.is_none() && writer_lock::is_gone(&self.file) => {
                RecordingState::Stopped
            }
            None => RecordingState::Running,
        }
    }

    /// Age of the newest data on screen, if the program has continued since; else its age at its
    /// arrival, if that is recent.
    fn lag(&mut self, changed: bool, counted: Option<RecorderCounts>) -> Option<Duration> {
        let counted = counted?;
        let newest = self.newest()?;
        if counted.calls > self.calls() {
            self.lag = None;
            return Some(age(newest));
        }
        if changed {
            self.lag = Some(ArrivalLag {
                arrived: Instant::now(),
                age: age(newest),
            });
        }
        let lag = self.lag.filter(|it| it.arrived.elapsed() < RECENT)?;
        Some(lag.age)
    }

    /// The last known time.
    fn newest(&self) -> Option<i64> {
        self.overview().span.map(|span| span.end)
    }

    /// Calls that are known of.
    fn calls(&self) -> u64 {
        self.overview().calls
    }

    /// Unread bytes of the file, where only they show how far behind the view is.
    fn unread(&self) -> u64 {
        let length = std::fs::metadata(&self.file).map_or(0, |file| file.len());
        length.saturating_sub(self.loader.position())
    }
}

impl TraceSource for FileSource {
    fn poll(&mut self) -> Result<SourceProgress, Box<dyn Error + Send + Sync>> {
        let changed = self.loader.poll()?;
        let counted = self.gauge.as_ref().map(|gauge| {
            let collector::RecordedCounts { calls, lost } = gauge.now();
            RecorderCounts { calls, lost }
        });
        Ok(SourceProgress {
            changed,
            recording: self.state(),
            lag: self.lag(changed, counted),
            counted,
            unread: self.unread(),
            is_paused: self.orders.is_paused(),
        })
    }

    fn trace(&self) -> &Trace {
        self.loader.trace()
    }

    fn overview(&self) -> &RecordingOverview {
        self.loader.overview()
    }

    fn look_at(&mut self, range: TimeRange) {
        self.loader.look_at(range);
    }

    fn is_loading(&self) -> bool {
        self.loader.is_loading()
    }

    fn next_part(&mut self) -> Option<DerivedData> {
        self.loader.next_part()
    }

    fn take_back(&mut self, old: DerivedData) {
        self.loader.take_back(old);
    }

    fn start(&mut self, job: Job) {
        match job {
            Job::Query(query) => self.loader.request(Some(query)),
            Job::Export(wanted) => {
                let number = wanted.number;
                match RunningExport::start(self.files.clone(), wanted) {
                    Ok(export) => self.export = Some(export),
                    Err(error) => self.refused = Some(JobNews::Failed(number, error.to_string())),
                }
            }
        }
    }

    fn stop(&mut self, number: u64) {
        match &self.export {
            Some(export) if export.number == number => export.stop(),
            _ => self.loader.give_up(number),
        }
    }

    fn news(&mut self) -> Option<JobNews> {
        let of_export = |export: &RunningExport| export.news();
        let refused = self.refused.take();
        let exported = || self.export.as_ref().and_then(of_export);
        refused.or_else(exported).or_else(|| self.loader.news())
    }

    fn notice(&mut self) -> Option<String> {
        self.orders.news().or_else(take_notice)
    }

    fn order(&mut self, order: RecordingOrder) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(self.orders.send(order)?)
    }

    fn export_name(&self) -> Option<&str> {
        Some(&self.export_name)
    }

    fn bookmarks(&self) -> Vec<Bookmark> {
        bookmarks::read(&self.file)
    }

    fn keep_bookmarks(&mut self, kept: &[Bookmark]) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(bookmarks::write(&self.file, kept)?)
    }

    fn keep_layout(&mut self, text: &str) -> Result<String, Box<dyn Error + Send + Sync>> {
        Ok(config::add(text)?)
    }

    fn keep_picture(
        &mut self,
        path: &str,
        picture: &Picture,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        pictures::write(Path::new(path), picture).map_err(|error| format!("{error:#}").into())
    }

    fn log(&self) -> Option<&dyn ProgramLog> {
        self.log.as_ref().map(|log| log as &dyn ProgramLog)
    }
}

impl ProgramLog for LogBook {
    fn len(&self) -> usize {
        LogBook::len(self)
    }

    fn line(&self, index: usize) -> Option<Cow<'_, str>> {
        LogBook::line(self, index).map(Cow::Owned)
    }
}

/// Shows a file until the user has seen enough. Returns the signal that ended the view, if any, and how
/// complete the file is: as far as it was read, or with `strict` all of it.
pub(crate) fn view(
    files: &TraceFiles,
    strict: bool,
) -> anyhow::Result<(Option<i32>, Completeness)> {
    let mut source = FileSource::open(files)?;
    file_first(&[files.last()])?;
    ascend_trace_viewer::check_terminal()?;
    let check = match strict {
        true => Some(WholeCheck::start(files)?),
        false => None,
    };
    let options = ViewOptions {
        title: files.name().display().to_string(),
        ..ViewOptions::default()
    };
    let signal = show(&mut source, options)?;
    let condition = match check.filter(|_| signal.is_none()) {
        Some(check) => check.finish()?,
        None => source.condition(),
    };
    Ok((signal, condition))
}

/// Refuses a file that has no header yet, where there is no terminal to wait for it in.
fn file_first(paths: &[&Path]) -> anyhow::Result<()> {
    if std::io::stdout().is_terminal() {
        return Ok(());
    }
    for path in paths {
        let opened = ascend_trace_recording::Recording::open(path, |_, _| false);
        if let Err(error @ (OpenError::Empty | OpenError::Short(_))) = opened {
            return Err(open_error::explained(path, error));
        }
    }
    Ok(())
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

/// The user's settings for every view, and why some configured ones are missing.
fn view_options() -> (ViewOptions, Option<String>) {
    let (config, wrong) = config::read();
    let options = ViewOptions {
        colors: colors(verbosity().color.or(config.colors)),
        ground: verbosity().ground.or(config.ground),
        ascii: config.ascii,
        config,
        notice: wrong.clone(),
        ..ViewOptions::default()
    };
    (options, wrong)
}

/// Shows a source until the user has seen enough.
pub(crate) fn show(
    source: &mut FileSource,
    mut options: ViewOptions,
) -> anyhow::Result<Option<i32>> {
    let (wanted, wrong) = view_options();
    // On screen it is cut where there is no room.
    wrong.iter().for_each(print_message);
    options = ViewOptions {
        title: options.title,
        live: options.live,
        show_log: options.show_log,
        ..wanted
    };
    match ascend_trace_viewer::run(source, options)? {
        ViewOutcome::Quit => Ok(None),
        ViewOutcome::Signal(number) => Ok(Some(number)),
    }
}
