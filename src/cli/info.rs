//! `info`: content and completeness of a trace.

mod coverage;
mod document;
mod refused_operators;
mod text;

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context;
use serde::Serialize;

use ascend_trace_analysis::{Fold, WindowSize};
use ascend_trace_recording::Recording;

use super::args::ReportArgs;
use super::open_trace;
use super::report::{self, ReadRecordings, ReportOptions};
use coverage::LibraryCoverage;
use document::{InfoDocument, RecordingFacts};
use refused_operators::RefusedOperators;

pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<u8> {
    report::run(&InfoReport(args))
}

pub(super) struct InfoReport<'a>(&'a ReportArgs);

impl report::Report for InfoReport<'_> {
    const DOCUMENT: &'static str = "info";
    /// The completeness of the file is the purpose of this command.
    const CHECKS_ALL: bool = true;
    type Outcome = RecordingFacts;
    type Document<'d> = InfoDocument;

    fn options(&self) -> ReportOptions<1> {
        self.0.into()
    }

    fn find(&self, [recording]: &mut [Recording; 1]) -> anyhow::Result<RecordingFacts> {
        Ok(RecordingFacts::of(recording)?)
    }

    fn document(&self, found: &RecordingFacts, read: &ReadRecordings<1>) -> InfoDocument {
        document(found, read)
    }

    fn text(&self, found: &RecordingFacts, read: &ReadRecordings<1>) -> String {
        text::text(&document(found, read))
    }
}

fn document(found: &RecordingFacts, read: &ReadRecordings<1>) -> InfoDocument {
    let [recording] = &read.recordings;
    InfoDocument::of(recording.entities(), found, read.head())
}

/// The operators that a program asked for and no library has, each once: functions that it fetched, and operators that
/// it called by name.
pub(super) fn missing_operators(file: &Path) -> anyhow::Result<BTreeSet<String>> {
    let mut recording = open_trace::open_any(file)?;
    let refused = RefusedOperators::default()
        .of_recording(&mut recording, WindowSize::default(), |_| true)
        .with_context(|| format!("cannot read {}", file.display()))?;
    let coverage = coverage::of(recording.entities());
    let absent = coverage.iter().flat_map(LibraryCoverage::absent);
    let mut missing = operators(absent);
    missing.extend(refused.unwrap_or_default());
    Ok(missing)
}

/// The operators of some functions, which have two phases each.
fn operators<'a>(functions: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    const FIRST_PHASE: &str = "GetWorkspaceSize";
    // A few have a name without the usual beginning, such as `aclStft`.
    let is_one = |name: &&str| name.starts_with("aclnn") || name.ends_with(FIRST_PHASE);
    let operators = functions.filter(is_one);
    operators
        .map(|name| name.strip_suffix(FIRST_PHASE).unwrap_or(name).to_owned())
        .collect()
}

/// The content of `info --json`.
pub(super) fn of_recording(recording: &mut Recording) -> anyhow::Result<impl Serialize + use<>> {
    let found = RecordingFacts::of(recording)?;
    open_trace::check(recording, true)?;
    let condition = open_trace::Completeness::of_recording(recording);
    let head = super::document_head::DocumentHead::of([&condition]);
    Ok(InfoDocument::of(recording.entities(), &found, head))
}

/// The content of `info --json`.
#[cfg(test)]
pub(super) fn document_of(trace: &ascend_trace_recording::Trace) -> InfoDocument {
    let head = super::document_head::DocumentHead::of([&open_trace::Completeness::of(trace, &[])]);
    InfoDocument::of(trace, &RecordingFacts::of_trace(trace), head)
}

#[cfg(test)]
mod tests {
    use super::operators;

    #[test]
    fn an_operator_is_missed_once_for_both_of_its_phases() {
        let recorded = [
            "aclnnErfGetWorkspaceSize",
            "aclnnErf",
            "aclrtNew",
            "aclnnCross",
            "aclStftGetWorkspaceSize",
        ];
        let missed: Vec<String> = operators(recorded.into_iter()).into_iter().collect();
        assert_eq!(missed, ["aclStft", "aclnnCross", "aclnnErf"]);
    }
}
