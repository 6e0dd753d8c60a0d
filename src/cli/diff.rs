//! `diff`: what changed from one recording to another.

mod condition;
mod text;

pub(super) use condition::{FailCondition as FailIf, parse as condition};

use std::path::Path;

use anyhow::{Context, bail};
use serde::Serialize;

use ascend_trace_analysis::Step;
use ascend_trace_analysis::diff::{ALPHA, Diff};
use ascend_trace_recording::Recording;

use super::args::{DiffArgs, STDIN};
use super::document_head::DocumentHead;
use super::open_trace::{self, Completeness};
use super::step_choice::StepChoice;
use crate::error::DENIED;
use crate::output::{print, print_json, print_message};
use condition::ConditionResult;

pub(crate) fn run(args: &DiffArgs) -> anyhow::Result<u8> {
    if [&args.a, &args.b].map(|it| it.as_path()) == [Path::new(STDIN); 2] {
        bail!("only one of A and B can be standard input");
    }
    let (mut a, mut b) = (
        open_trace::open_any(&args.a)?,
        open_trace::open_any(&args.b)?,
    );
    let by = StepChoice::new(args.by.as_deref(), args.repeated);
    let found = by.with(|it| Diff::of_recordings([&mut a, &mut b], Step::default(), it));
    let found = found
        .with_context(|| format!("cannot read {} or {}", args.a.display(), args.b.display()))?;
    let sides = [(&args.a, &mut a), (&args.b, &mut b)];
    let mut conditions = Vec::new();
    for (file, recording) in sides {
        conditions.push(condition_of(file, recording, args.strict)?);
    }
    by.check(found.by_steps)?;
    let failed = failed(&found, &args.fail_if)?;
    match args.json {
        true => print_json("diff", &DiffDocument::of(&found, &conditions, &failed))?,
        false => print(&text::of(&found, args.all))?,
    }
    for it in &failed {
        print_message(format!(
            "{}: {} changed beyond this limit",
            it.condition, it.name
        ));
    }
    let status = conditions.iter().map(|it| it.status(args.strict));
    Ok(match failed.is_empty() {
        false => DENIED,
        true => status.max().unwrap_or(0),
    })
}

fn condition_of(
    file: &Path,
    recording: &mut Recording,
    strict: bool,
) -> anyhow::Result<Completeness> {
    open_trace::check(recording, strict)?;
    open_trace::say_warnings(file, recording);
    Ok(Completeness::of_recording(recording))
}

/// A condition of `--fail-if` that holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
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
#[derive(Debug, Serialize)]
pub(super) struct DiffDocument<'d> {
    #[serde(flatten)]
    head: DocumentHead,
    failed: &'d [FailedCondition],
    #[serde(flatten)]
    diff: &'d Diff,
}

impl<'d> DiffDocument<'d> {
    pub(super) fn of(
        diff: &'d Diff,
        conditions: &[Completeness],
        failed: &'d [FailedCondition],
    ) -> Self {
        Self {
            head: DocumentHead::of(conditions),
            failed,
            diff,
        }
    }
}
