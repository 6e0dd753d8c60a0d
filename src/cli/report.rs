//! Commands that read recordings and report on them, as text or as a JSON document.

use schemars::JsonSchema;
use serde::Serialize;

use ascend_trace_recording::{OpenError, Recording};

use super::args::{FileReportArgs, ReportArgs};
use super::document_head::DocumentHead;
use super::open_trace::{self, Completeness};
use super::trace_files::TraceFiles;
use crate::output::{print, print_json};
use crate::stack_symbols;

/// The words that all reports have in common.
pub(super) struct ReportOptions<const FILES: usize> {
    pub(super) files: [TraceFiles; FILES],
    pub(super) json: bool,
    pub(super) strict: bool,
}

impl From<&ReportArgs> for ReportOptions<1> {
    fn from(args: &ReportArgs) -> Self {
        Self {
            files: [TraceFiles::new(&args.files)],
            json: args.json,
            strict: args.strict,
        }
    }
}

impl From<&FileReportArgs> for ReportOptions<1> {
    fn from(args: &FileReportArgs) -> Self {
        Self {
            files: [TraceFiles::one(&args.file)],
            json: args.json,
            strict: args.strict,
        }
    }
}

/// Recordings that were read.
pub(super) struct ReadRecordings<const FILES: usize> {
    pub(super) recordings: [Recording; FILES],
    pub(super) conditions: [Completeness; FILES],
}

impl<const FILES: usize> ReadRecordings<FILES> {
    /// From where timestamps of the first one are counted.
    pub(super) fn begin(&self) -> i64 {
        self.recordings.first().map_or(0, open_trace::begin)
    }

    pub(super) fn head(&self) -> DocumentHead {
        DocumentHead::of(&self.conditions)
    }
}

/// A report on one recording, or on several.
pub(super) trait Report<const FILES: usize = 1> {
    /// Kind of the JSON document.
    const DOCUMENT: &'static str;
    /// Whether the report shows call sites.
    const HAS_CALL_SITES: bool = false;
    /// Whether all of a file is checked for damage, also without `--strict`.
    const CHECKS_ALL: bool = false;
    /// The result of the analysis.
    type Outcome;
    /// The document of `--json`.
    type Document<'d>: Serialize + JsonSchema;

    fn options(&self) -> ReportOptions<FILES>;

    /// Analyses the recordings.
    fn find(&self, recordings: &mut [Recording; FILES]) -> anyhow::Result<Self::Outcome>;

    /// The document, which begins with the head.
    fn document<'d>(
        &self,
        found: &'d Self::Outcome,
        read: &ReadRecordings<FILES>,
    ) -> Self::Document<'d>;

    fn text(&self, found: &Self::Outcome, read: &ReadRecordings<FILES>) -> String;

    /// An exit status that comes before that of an incomplete recording.
    fn denied(&self, _: &Self::Outcome) -> Option<u8> {
        None
    }
}

/// Makes a report, prints it, and returns the exit status.
pub(super) fn run<const FILES: usize, R: Report<FILES>>(report: &R) -> anyhow::Result<u8> {
    let ReportOptions {
        files,
        json,
        strict,
    } = report.options();
    let opened: Vec<Recording> = files
        .iter()
        .map(TraceFiles::open)
        .collect::<anyhow::Result<_>>()?;
    let Ok(mut recordings) = <[Recording; FILES]>::try_from(opened) else {
        anyhow::bail!("a recording is missing");
    };
    let found = report
        .find(&mut recordings)
        .map_err(|error| named(error, &files))?;
    for (file, recording) in files.iter().zip(&mut recordings) {
        open_trace::check(recording, strict || R::CHECKS_ALL)?;
        open_trace::say_warnings(&file.name(), recording);
        if R::HAS_CALL_SITES {
            stack_symbols::say_missing(recording);
        }
    }
    let conditions = recordings.each_ref().map(Completeness::of_recording);
    let read = ReadRecordings {
        recordings,
        conditions,
    };
    match json {
        true => print_json(R::DOCUMENT, &report.document(&found, &read))?,
        false => print(&report.text(&found, &read))?,
    }
    let statuses = read.conditions.iter().map(|it| it.status(strict));
    let status = statuses.max().unwrap_or(0);
    Ok(report.denied(&found).unwrap_or(status))
}

/// The error, with the names of the files if they could not be read.
fn named(error: anyhow::Error, files: &[TraceFiles]) -> anyhow::Error {
    if !error.is::<OpenError>() {
        return error;
    }
    let names: Vec<String> = files
        .iter()
        .map(|it| it.name().display().to_string())
        .collect();
    error.context(format!("cannot read {}", names.join(" or ")))
}
