//! `diff`: what changed from one recording to another.

mod condition;
mod text;

pub(super) use condition::{FailCondition as FailIf, parse as condition};

use std::path::Path;

use anyhow::bail;
use schemars::JsonSchema;
use serde::Serialize;

use ascend_trace_analysis::WindowSize;
use ascend_trace_analysis::diff::{ALPHA, Diff};
use ascend_trace_recording::Recording;

use super::args::{DiffArgs, STDIN};
use super::document_head::DocumentHead;
use super::report::{self, ReadRecordings, ReportOptions};
use super::step_choice::StepChoice;
use super::trace_files::TraceFiles;
use crate::error::DENIED;
use crate::output::print_message;
use condition::ConditionResult;

pub(crate) fn run(args: &DiffArgs) -> anyhow::Result<u8> {
    if [&args.a, &args.b].map(|it| it.as_path()) == [Path::new(STDIN); 2] {
        bail!("only one of A and B can be standard input");
    }
    report::run(args)
}

/// The differences, and the conditions of `--fail-if` that they break.
pub(crate) struct JudgedDiff {
    diff: Diff,
    failed: Vec<FailedCondition>,
}

impl report::Report<2> for DiffArgs {
    const DOCUMENT: &'static str = "diff";
    type Outcome = JudgedDiff;
    type Document<'d> = DiffDocument<'d>;

    fn options(&self) -> ReportOptions<2> {
        ReportOptions {
            files: [&self.a, &self.b].map(|it| TraceFiles::one(it)),
            json: self.json,
            strict: self.strict,
        }
    }

    fn find(&self, recordings: &mut [Recording; 2]) -> anyhow::Result<JudgedDiff> {
        let by = StepChoice::new(self.by.as_deref(), self.repeated);
        let sides = recordings.each_mut();
        let diff = by.with(|it| Diff::of_recordings(sides, WindowSize::default(), it))?;
        by.check(diff.by_steps)?;
        let failed = failed(&diff, &self.fail_if)?;
        Ok(JudgedDiff { diff, failed })
    }

    fn document<'d>(&self, found: &'d JudgedDiff, read: &ReadRecordings<2>) -> DiffDocument<'d> {
        DiffDocument::of(&found.diff, read.head(), &found.failed)
    }

    fn text(&self, found: &JudgedDiff, _: &ReadRecordings<2>) -> String {
        text::of(&found.diff, self.all)
    }

    fn denied(&self, found: &JudgedDiff) -> Option<u8> {
        for FailedCondition {
            condition, name, ..
        } in &found.failed
        {
            print_message(format!("{condition}: {name} changed beyond this limit"));
        }
        (!found.failed.is_empty()).then_some(DENIED)
    }
}

/// A condition of `--fail-if` that holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct FailedCondition {
    condition: String,
    /// `step`, or the operation.
    name: String,
}

/// The conditions that hold. One that cannot be judged is an error: else a build would pass because too little was
/// recorded.
fn failed(found: &Diff, conditions: &[FailIf]) -> anyhow::Result<Vec<FailedCondition>> {
    let mut failed = Vec::new();
    for condition in conditions {
        match condition.judge(found, ALPHA) {
            ConditionResult::Holds(name) => failed.push(FailedCondition {
                condition: condition.to_string(),
                name,
            }),
            ConditionResult::Not => {}
            ConditionResult::Unknown if condition.of_step() => {
                bail!("--fail-if {condition}: the recordings do not both have steps")
            }
            ConditionResult::Unknown => {
                bail!("--fail-if {condition}: no operation has this name: stats lists the names")
            }
            ConditionResult::TooFew => bail!(
                "--fail-if {condition}: too little was timed to judge it; record {} steps or more",
                Diff::steps_needed()
            ),
        }
    }
    Ok(failed)
}

/// The content of `diff --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DiffDocument<'d> {
    #[serde(flatten)]
    head: DocumentHead,
    failed: &'d [FailedCondition],
    #[serde(flatten)]
    diff: &'d Diff,
}

impl<'d> DiffDocument<'d> {
    pub(super) fn of(diff: &'d Diff, head: DocumentHead, failed: &'d [FailedCondition]) -> Self {
        Self { head, failed, diff }
    }
}
