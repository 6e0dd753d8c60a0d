//! The thread that compares two recordings while they are shown.

use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};

use anyhow::Context;

use ascend_trace_analysis::diff::{Diff, paired};
use ascend_trace_analysis::steps::{Finder, RecordingSteps};
use ascend_trace_analysis::{AnalysisNeeds, Fold, WindowSize, Windows};
use ascend_trace_recording::Recording;
use ascend_trace_viewer::{ComparisonResult, TraceComparer};

use super::poll_pace::step_back;
use crate::cli::step_choice::StepChoice;
use crate::cli::trace_files::TraceFiles;

/// A comparison under way. It ends with the process if the user leaves before.
pub(super) struct RunningComparison {
    found: Receiver<ComparisonResult>,
    is_over: bool,
}

impl RunningComparison {
    pub(super) fn start(files: &[TraceFiles; 2], by: Option<String>) -> anyhow::Result<Self> {
        let (sender, found) = channel();
        let files = files.clone();
        std::thread::Builder::new()
            .name("compare".into())
            .spawn(move || {
                step_back();
                if let Err(error) = compare(&files, by.as_deref(), &sender) {
                    // The view may have ended.
                    let _ = sender.send(ComparisonResult::Failed(format!("{error:#}")));
                }
            })
            .context("cannot compare the files in the background")?;
        Ok(Self {
            found,
            is_over: false,
        })
    }
}

impl TraceComparer for RunningComparison {
    fn news(&mut self) -> Option<ComparisonResult> {
        match self.found.try_recv() {
            Ok(compared) => {
                let is_last = matches!(
                    compared,
                    ComparisonResult::Changes(_) | ComparisonResult::Failed(_)
                );
                self.is_over |= is_last;
                Some(compared)
            }
            Err(TryRecvError::Empty) => None,
            // It panicked.
            Err(TryRecvError::Disconnected) if !self.is_over => {
                self.is_over = true;
                Some(ComparisonResult::Failed(
                    "the comparison broke off".to_owned(),
                ))
            }
            Err(TryRecvError::Disconnected) => None,
        }
    }
}

fn compare(
    files: &[TraceFiles; 2],
    by: Option<&str>,
    sender: &Sender<ComparisonResult>,
) -> anyhow::Result<()> {
    let open = |files: &TraceFiles| {
        let opened = files.read(|_, _| true);
        opened.with_context(|| format!("cannot read {}", files.name().display()))
    };
    let (mut a, mut b) = (open(&files[0])?, open(&files[1])?);
    let begins = [first_task(&mut a)?, first_task(&mut b)?];
    if let [Some(one), Some(other)] = begins {
        sender.send(ComparisonResult::Begins([one, other]))?;
    }
    let by = StepChoice::new(by, false);
    let plans = [plan(&mut a, &by)?, plan(&mut b, &by)?];
    by.check(plans.iter().all(|it| !it.is_empty()))?;
    if let Some(steps) = paired([a.entities(), b.entities()], &plans) {
        sender.send(ComparisonResult::Steps(steps))?;
    }
    let changes = Diff::of_plans([&mut a, &mut b], WindowSize::default(), plans)?;
    sender.send(ComparisonResult::Changes(Box::new(changes)))?;
    Ok(())
}

fn plan(recording: &mut Recording, by: &StepChoice<'_>) -> anyhow::Result<RecordingSteps> {
    let plan =
        by.with(|it| Finder::new(it).of_recording(recording, WindowSize::default(), |_| true))?;
    Ok(plan.unwrap_or_default())
}

/// When the first task began, as far as tasks have times.
fn first_task(recording: &mut Recording) -> anyhow::Result<Option<i64>> {
    let mut windows = Windows::of(recording, WindowSize::default(), AnalysisNeeds::Calls);
    loop {
        let found = windows.next(|window| {
            let tasks = window.trace.tasks().iter();
            tasks.filter_map(|task| task.time).map(|it| it.begin).min()
        })?;
        match found {
            None => return Ok(None),
            Some(Some(begin)) => return Ok(Some(begin)),
            Some(None) => {}
        }
    }
}
