//! The critical path of a range of a recording.

use ascend_trace_analysis::WindowSize;
use ascend_trace_analysis::critical::{Critical, ReadingPass};
use ascend_trace_recording::recording::WindowError;
use ascend_trace_recording::{Recording, TimeRange};

use crate::critical::PathLines;
use crate::job::JobProgress;

/// It starts over when it has to wait, since then another range is looked at.
#[derive(Debug)]
pub(crate) struct CriticalPathQuery {
    pub(crate) range: TimeRange,
    pub(crate) path: Option<PathLines>,
}

impl CriticalPathQuery {
    pub(super) fn advance(
        &mut self,
        recording: &mut Recording,
        keep_on: &mut dyn FnMut(JobProgress) -> bool,
    ) -> Result<bool, WindowError> {
        let whole = recording.span().unwrap_or_default();
        let length = whole.duration().unsigned_abs();
        let on_progress = |pass, reached: i64| {
            let before = match pass {
                ReadingPass::Causes => 0,
                ReadingPass::Pieces => length,
            };
            let here = whole.clamp(reached).abs_diff(whole.begin);
            let (done, all) = (before.saturating_add(here), length.saturating_mul(2));
            keep_on(JobProgress::Part(done, all))
        };
        let path = Critical::of_recording_while(
            recording,
            WindowSize::default(),
            self.range,
            on_progress,
        )?;
        self.path = path.map(|path| PathLines::new(path, recording.entities()));
        Ok(self.path.is_some())
    }
}
