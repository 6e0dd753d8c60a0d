//! What checks find in all of a recording.

use ascend_trace_analysis::checks::{Finding, Findings};
use ascend_trace_analysis::{Fold, Step};
use ascend_trace_recording::Recording;
use ascend_trace_recording::recording::WindowError;

use crate::job::JobProgress;

/// It starts over when it has to wait, like sums.
#[derive(Debug, Default)]
pub(crate) struct FindingsQuery {
    pub(crate) findings: Option<Vec<Finding>>,
}

impl FindingsQuery {
    pub(super) fn advance(
        &mut self,
        recording: &mut Recording,
        keep_on: &mut dyn FnMut(JobProgress) -> bool,
    ) -> Result<bool, WindowError> {
        let on_progress = |reached| keep_on(JobProgress::Moment(reached, false));
        self.findings =
            Findings::default().of_recording(recording, Step::default(), on_progress)?;
        Ok(self.findings.is_some())
    }
}
