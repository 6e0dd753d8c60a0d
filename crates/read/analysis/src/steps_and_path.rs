//! The steps of a recording and its critical path at once: both go through it twice.

use ascend_trace_recording::{OpenError, Recording, TimeRange};

use crate::critical::{Critical, Links};
use crate::steps::{Finder, Report, StepDefinition, Summing};
use crate::{Fold, WindowSize};

/// What [`Report::of_recording`] and [`Critical::of_recording`] return.
///
/// # Errors
/// When the file cannot be read.
pub fn steps_and_path(
    recording: &mut Recording,
    step: WindowSize,
    wanted: StepDefinition<'_>,
    range: impl Into<TimeRange>,
) -> Result<(Report, Critical), OpenError> {
    let range = range.into();
    let finding = (
        Finder::new(wanted),
        Links::within(range, recording.entities()),
    );
    // Nobody stops it.
    let Some((plan, path)) = finding.of_recording(recording, step, |_| true)? else {
        return Ok(Default::default());
    };
    let summing = (Summing::planned(&plan), path);
    let Some((steps, found)) = summing.of_recording(recording, step, |_| true)? else {
        return Ok(Default::default());
    };
    let report = Report::reported(recording.entities(), &plan, steps);
    Ok((report, Critical::reported(range, found)))
}
