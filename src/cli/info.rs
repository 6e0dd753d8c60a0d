//! `info`: content and completeness of a trace.

mod coverage;
mod document;
mod refused_operators;
mod text;

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context;

use ascend_trace_analysis::{Fold, Step};

use super::args::ReportArgs;
use super::open_trace::{self, Completeness};
use crate::output::{print, print_json};
use coverage::LibraryCoverage;
use document::{InfoDocument, RecordingFacts};
use refused_operators::RefusedOperators;

pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<u8> {
    let mut recording = open_trace::open_any(&args.file)?;
    let facts = RecordingFacts::of(&mut recording)?;
    // The completeness of the file is the purpose of this command.
    open_trace::check(&mut recording, true)?;
    open_trace::say_warnings(&args.file, &recording);
    let condition = Completeness::of_recording(&recording);
    let status = condition.status(args.strict);
    let document = InfoDocument::of(recording.things(), facts, &condition);
    match args.json {
        true => print_json("info", &document)?,
        false => print(&text::text(&document))?,
    }
    Ok(status)
}

/// The operators that a program asked for and no library has, each once: functions that it fetched, and operators that
/// it called by name.
pub(super) fn missing_operators(file: &Path) -> anyhow::Result<BTreeSet<String>> {
    let mut recording = open_trace::open_any(file)?;
    let refused = RefusedOperators::default()
        .of_recording(&mut recording, Step::default(), |_| true)
        .with_context(|| format!("cannot read {}", file.display()))?;
    let coverage = coverage::of(recording.things());
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
#[cfg(test)]
pub(super) fn document(trace: &ascend_trace_recording::Trace) -> InfoDocument {
    InfoDocument::of(
        trace,
        RecordingFacts::of_trace(trace),
        &Completeness::of(trace, &[]),
    )
}

#[cfg(test)]
mod tests {
    use super::operators;

    #[test]
    fn an_operator_is_missed_once_for_both_of_its_phases() {
        let asked = [
            "aclnnErfGetWorkspaceSize",
            "aclnnErf",
            "aclrtNew",
            "aclnnCross",
            "aclStftGetWorkspaceSize",
        ];
        let missed: Vec<String> = operators(asked.into_iter()).into_iter().collect();
        assert_eq!(missed, ["aclStft", "aclnnCross", "aclnnErf"]);
    }
}
