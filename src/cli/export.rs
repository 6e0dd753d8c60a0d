//! `export`: write a trace in another format.

mod destination;
mod picture;
pub(crate) mod progress;

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};

use ascend_trace_analysis::critical::{Critical, Segments};
use ascend_trace_analysis::range_window::Streams;
use ascend_trace_analysis::stats::StepStats;
use ascend_trace_analysis::steps::Report;
use ascend_trace_analysis::{EstimateMaker, Fold, PlacedTasks, UntimedPlacer};
use ascend_trace_export::{
    ArgDetail, ExportError, ExportSink, ExportSource, Exporter, Kineto, OnlyConditions,
    OutputLayout, SingleFile, StreamError, WantedPart, WindowSize, format, stream,
};
use destination::{STDOUT, check_folder, default_output, refuse_input, to_file, to_folder};
use progress::ProgressLine;

use ascend_trace_format::api::Untimed;
use ascend_trace_recording::{Recording, TimeRange, Trace};

use super::args::{ArgDetailArg, ExportArgs, FormatArg, STDIN};
use super::open_trace::{self, Completeness};
use super::output_file;
use super::step_choice::StepChoice;
use super::trace_files::TraceFiles;
use crate::output::print_message;
use crate::text_table::count;

/// Writes an export that is one file to a file that is open. Returns the status to end with.
pub(super) fn into_unnamed(args: &ExportArgs, file: &mut File) -> anyhow::Result<u8> {
    let exporter = exporter(args.format, args.cuda_names)?;
    let only = only(&args.only)?;
    let amount = amount(args.args, exporter)?;
    let mut job = ExportRun::open(args, exporter, (only, amount))?;
    job.run(&mut SingleFile::new(file))?;
    job.say_what_is_missing(args);
    Ok(Completeness::of_recording(&job.recording).status(args.strict))
}

/// A timeline that lacks more than one of this number of tasks says so.
const NOTABLE: u64 = 100;

pub(crate) fn run(args: &ExportArgs) -> anyhow::Result<u8> {
    if let Some(format) = args.format.picture() {
        return picture::run(args, format);
    }
    let exporter = exporter(args.format, args.cuda_names)?;
    let only = only(&args.only)?;
    let amount = amount(args.args, exporter)?;
    let files = TraceFiles::new(&args.files);
    let first = files.first();
    let output = match &args.output {
        Some(path) => path.clone(),
        None if first == Path::new(STDIN) => {
            bail!("a trace from standard input has no name to call the export by: use --output")
        }
        None => default_output(first, exporter),
    };
    // Before the work, not after it.
    for file in files.as_slice() {
        refuse_input(file, &output, exporter)?;
    }
    match exporter.layout() {
        OutputLayout::File { .. } if output == Path::new(STDOUT) => {}
        OutputLayout::File { .. } => output_file::check(&output, args.force)?,
        layout => check_folder(&output, layout, args.force)?,
    }
    let mut job = ExportRun::open(args, exporter, (only, amount))?;
    match exporter.layout() {
        OutputLayout::File { .. } if output == Path::new(STDOUT) => {
            let mut stdout = io::stdout().lock();
            match job.run(&mut SingleFile::new(&mut stdout)) {
                // A reader that has seen enough, such as `head`, is no error.
                Err(error) if is_broken_pipe(&error) => {}
                written => written?,
            }
        }
        OutputLayout::File { .. } => to_file(&output, |sink| job.run(sink))?,
        layout => to_folder(&output, layout, |sink| job.run(sink))?,
    }
    open_trace::check(&mut job.recording, args.strict)?;
    job.say_what_is_missing(args);
    Ok(Completeness::of_recording(&job.recording).status(args.strict))
}

/// An export of a file.
struct ExportRun {
    recording: Recording,
    exporter: &'static dyn Exporter,
    wanted: WantedPart,
    /// Whether anything was left to be written.
    has_any: bool,
}

impl ExportRun {
    fn open(
        args: &ExportArgs,
        exporter: &'static dyn Exporter,
        (only, amount): (OnlyConditions, ArgDetail),
    ) -> anyhow::Result<Self> {
        check_added(args, exporter)?;
        let mut recording = TraceFiles::new(&args.files).open()?;
        let range = match args.range {
            Some(range) => range.of(&mut recording)?,
            None => None,
        };
        let critical = match (args.critical, range.or(recording.span())) {
            (true, Some(range)) => critical(&mut recording, range)?,
            _ => Arc::default(),
        };
        let steps = steps(&mut recording, args, exporter)?;
        let places = places(&mut recording, exporter)?;
        Ok(Self {
            recording,
            exporter,
            wanted: WantedPart {
                range,
                only,
                args: amount,
                critical,
                steps,
                places,
            },
            has_any: true,
        })
    }

    fn run<'w>(&mut self, sink: &mut dyn ExportSink<'w>) -> anyhow::Result<()> {
        let range = self.wanted.range;
        // Places are by the streams of the whole recording.
        let part = match self.wanted.places.is_empty() {
            true => open_trace::small_part(&mut self.recording, range, Streams::Active)?,
            false => None,
        };
        let exported = match part {
            Some(trace) => self.of_part(&trace, sink),
            None => {
                let mut progress = ProgressLine::new("exporting", "M calls and tasks");
                let on_progress = &mut |done, all| progress.show(done, all);
                let what = (self.exporter, &self.wanted);
                stream(
                    &mut self.recording,
                    what,
                    WindowSize::default(),
                    sink,
                    on_progress,
                )
            }
        };
        self.has_any =
            exported.with_context(|| format!("the {} export failed", self.exporter.name()))?;
        Ok(())
    }

    /// Writes the wanted rows of a part that is in memory, and returns whether it had any.
    fn of_part<'w>(
        &self,
        part: &Trace,
        sink: &mut dyn ExportSink<'w>,
    ) -> Result<bool, StreamError> {
        let source = ExportSource::of(part, &self.wanted);
        self.exporter.export(&source, sink)?;
        Ok(source.has_any())
    }

    /// Reports everything that makes the output incomplete: damage, a recording that continues or was
    /// cut off, losses during the recording, and a selection without a match.
    fn say_what_is_missing(&mut self, args: &ExportArgs) {
        let name = TraceFiles::new(&args.files).name();
        open_trace::say_warnings(&name, &self.recording);
        self.say_what_has_no_time();
        if !self.has_any && !args.only.is_empty() {
            print_message(format!(
                "nothing matches: --only {}",
                args.only.join(" --only ")
            ));
        } else if !self.has_any {
            print_message("there is nothing in this range");
        }
    }

    /// A timeline without most of its tasks looks like idle streams.
    fn say_what_has_no_time(&mut self) {
        let counts = self.recording.counts();
        let left_out: u64 = counts
            .untimed
            .iter()
            .filter(|it| has_place(*it.0))
            .map(|it| it.1)
            .sum();
        let placed = u64::try_from(self.wanted.places.len()).unwrap_or(u64::MAX);
        let left_out = left_out.saturating_sub(placed);
        if self.exporter.has_slices() && left_out.saturating_mul(NOTABLE) > counts.tasks {
            print_message(format!(
                "{} of {} tasks have no slice, because they had no events: record with --timing events to time all tasks",
                count(left_out),
                count(counts.tasks)
            ));
        }
        // Readers of these formats add up tasks.
        if placed > 0 && ["kineto", "ascend"].contains(&self.exporter.name()) {
            print_message(format!(
                "{} of {} tasks had no events: their slices are where they probably ran, and sums that readers make are without them",
                count(placed),
                count(counts.tasks)
            ));
        }
    }
}

/// Refuses additions that a format cannot represent.
fn check_added(args: &ExportArgs, exporter: &dyn Exporter) -> anyhow::Result<()> {
    let is_one_of = |formats: &[&str]| formats.contains(&exporter.name());
    if args.critical && !is_one_of(&["chrome", "perfetto", "csv", "parquet", "sqlite"]) {
        bail!("--critical is for --format chrome, perfetto, csv, parquet and sqlite: leave it out");
    }
    let steps = match args.steps_by {
        Some(_) => "--steps-by",
        None => "--steps",
    };
    if wants_steps(args) && !is_one_of(&["csv", "parquet", "sqlite", "ascend"]) {
        bail!("{steps} is for --format csv, parquet, sqlite and ascend: leave it out");
    }
    for (option, is_given) in [
        ("--lanes", args.lanes.is_some()),
        ("--size", args.size.is_some()),
    ] {
        if is_given {
            bail!("{option} is for --format svg and png: leave it out");
        }
    }
    Ok(())
}

fn wants_steps(args: &ExportArgs) -> bool {
    args.steps || args.steps_by.is_some()
}

/// The steps of all of the recording, as the command of this name finds them.
fn steps(
    recording: &mut Recording,
    args: &ExportArgs,
    exporter: &dyn Exporter,
) -> anyhow::Result<Option<Arc<[StepStats]>>> {
    // One of its files is about nothing else.
    let has_always = exporter.name() == "ascend";
    if !wants_steps(args) && !has_always {
        return Ok(None);
    }
    let by = StepChoice::new(args.steps_by.as_deref(), false);
    let report =
        by.with(|wanted| Report::of_recording(recording, WindowSize::default(), wanted))?;
    if wants_steps(args) {
        by.check(!report.steps.is_empty())?;
    }
    Ok(Some(report.steps.into()))
}

/// Whether timelines show where tasks with this reason for having no time probably ran.
fn has_place(reason: Untimed) -> bool {
    matches!(reason, Untimed::NotSampled | Untimed::InRun)
}

/// Where tasks without events probably ran, for timelines with tracks of them.
fn places(recording: &mut Recording, exporter: &dyn Exporter) -> anyhow::Result<Arc<PlacedTasks>> {
    let counts = recording.counts();
    if !counts.untimed.keys().copied().any(has_place)
        || !["chrome", "perfetto", "kineto", "ascend"].contains(&exporter.name())
    {
        return Ok(Arc::default());
    }
    let all = |_| true;
    let estimates = EstimateMaker::default();
    let estimates = estimates.of_recording(recording, WindowSize::default(), all)?;
    let placer = UntimedPlacer::new(estimates.unwrap_or_default().into());
    let places = placer.of_recording(recording, WindowSize::default(), all)?;
    Ok(places.unwrap_or_default().into())
}

/// The critical path of a range.
fn critical(recording: &mut Recording, range: TimeRange) -> anyhow::Result<Arc<Segments>> {
    let path = Critical::of_recording(recording, WindowSize::default(), range)?;
    Ok(path.segments.into())
}

/// The conditions of all `--only`.
fn only(conditions: &[String]) -> anyhow::Result<OnlyConditions> {
    let mut only = OnlyConditions::default();
    for condition in conditions {
        only.add(condition)
            .with_context(|| format!("--only {condition}"))?;
    }
    Ok(only)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let Some(StreamError::Export(error)) = error.downcast_ref() else {
        return false;
    };
    let (ExportError::Write(cause) | ExportError::Open { error: cause, .. }) = error;
    cause.kind() == io::ErrorKind::BrokenPipe
}

/// Detail of slices. Tables have all of it.
fn amount(word: ArgDetailArg, exporter: &dyn Exporter) -> anyhow::Result<ArgDetail> {
    match word {
        ArgDetailArg::Full => Ok(ArgDetail::Full),
        _ if !exporter.has_slices() => bail!(
            "--args is about slices, and {} has none: leave it out",
            exporter.name()
        ),
        ArgDetailArg::Minimal => Ok(ArgDetail::Minimal),
        ArgDetailArg::None if matches!(exporter.layout(), OutputLayout::Ranks { .. }) => bail!(
            "--args none is too little for readers of {}: use at least minimal",
            exporter.name()
        ),
        ArgDetailArg::None => Ok(ArgDetail::None),
    }
}

fn exporter(word: FormatArg, cuda_names: bool) -> anyhow::Result<&'static dyn Exporter> {
    if cuda_names {
        return match word {
            FormatArg::Kineto => Ok(&Kineto::CUDA),
            _ => bail!("--cuda-names is for --format kineto: leave it out"),
        };
    }
    let name = match word {
        FormatArg::Chrome => "chrome",
        FormatArg::Csv => "csv",
        FormatArg::Perfetto => "perfetto",
        FormatArg::Kineto => "kineto",
        FormatArg::Ascend => "ascend",
        FormatArg::Parquet => "parquet",
        FormatArg::Sqlite => "sqlite",
        FormatArg::NsysSqlite => "nsys-sqlite",
        FormatArg::Svg => "svg",
        FormatArg::Png => "png",
    };
    let found = database_format(name).or_else(|| format(name));
    found.with_context(|| format!("--format {name} is not in this build"))
}

/// The format of databases with this name.
#[cfg(feature = "sqlite")]
fn database_format(name: &str) -> Option<&'static dyn Exporter> {
    let formats: [&'static dyn Exporter; 3] = [
        &ascend_trace_sqlite::SQLITE,
        &ascend_trace_sqlite::NSYS,
        &ascend_trace_sqlite::ASCEND,
    ];
    formats.into_iter().find(|format| format.name() == name)
}

#[cfg(not(feature = "sqlite"))]
fn database_format(_: &str) -> Option<&'static dyn Exporter> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_kineto_has_other_names() {
        assert!(exporter(FormatArg::Kineto, true).is_ok());
        let refused = exporter(FormatArg::Chrome, true).err().unwrap();
        assert!(refused.to_string().contains("--format kineto"), "{refused}");
    }

    #[test]
    fn a_condition_that_means_nothing_is_refused() {
        let refused = |condition: &str| format!("{:#}", only(&[condition.to_owned()]).unwrap_err());
        assert!(refused("strm=1").contains("device, stream, kind"));
        assert!(refused("stream=one").contains("`one` is not a number"));
        assert!(refused("kind=kernal").contains("kernel, "));
        assert!(only(&["stream=1,2".to_owned(), "name=*MatMul*".to_owned()]).is_ok());
    }

    #[test]
    fn only_slices_say_as_much_as_is_wanted() {
        let amount = |word, format| amount(word, exporter(format, false).unwrap());
        let minimal = amount(ArgDetailArg::Minimal, FormatArg::Perfetto);
        assert_eq!(minimal.unwrap(), ArgDetail::Minimal);
        assert_eq!(
            amount(ArgDetailArg::Full, FormatArg::Csv).unwrap(),
            ArgDetail::Full
        );
        let refused = amount(ArgDetailArg::None, FormatArg::Csv).unwrap_err();
        assert!(refused.to_string().contains("csv has none"), "{refused}");
        assert!(amount(ArgDetailArg::None, FormatArg::Kineto).is_err());
        assert!(amount(ArgDetailArg::Minimal, FormatArg::Kineto).is_ok());
    }
}
