//! Stalls of all of a recording, summed up by who is to blame.

use ascend_trace_analysis::stats::{Grouping, StallGroup, StallGroups};
use ascend_trace_analysis::{Fold, Stall, Step};
use ascend_trace_recording::recording::WindowError;
use ascend_trace_recording::{Recording, Trace};

use crate::arrangement::LaneArrangement;
use crate::blamed_stalls::is_grouped;

use super::stalls::track;
use crate::job::JobProgress;

/// It starts over when it has to wait, like other sums.
#[derive(Debug)]
pub(crate) struct BlameQuery {
    pub(crate) arrangement: LaneArrangement,
    /// Shorter stalls are left out.
    pub(crate) least: i64,
    pub(crate) groups: Option<Vec<StallGroup>>,
}

impl BlameQuery {
    pub(super) fn advance(
        &mut self,
        recording: &mut Recording,
        keep_on: &mut dyn FnMut(JobProgress) -> bool,
    ) -> Result<bool, WindowError> {
        let grouping = Grouping::of_those(|trace: &Trace, stall: &Stall| {
            is_grouped(stall, self.least) && self.arrangement.wants(trace, track(stall.lane))
        });
        let on_progress = |reached| keep_on(JobProgress::Moment(reached, false));
        let groups = grouping.of_recording(recording, Step::default(), on_progress)?;
        self.groups = groups.map(StallGroups::rows);
        Ok(self.groups.is_some())
    }
}
