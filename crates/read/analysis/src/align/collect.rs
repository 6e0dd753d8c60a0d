//! Collects from a recording what alignment needs.

use ascend_trace_recording::{TaskId, TaskTime};

use super::alignment_input::{Recorded, Round};
use super::numbering::{NumberedCollective, Numbering};
use crate::{AnalysisNeeds, Fold, Window};

/// The collectives of all processes of a recording.
#[derive(Debug, Default)]
pub struct Collect {
    numbering: Numbering,
    recorded: Recorded,
}

impl Fold for Collect {
    type Answer = Recorded;

    const NEEDS: AnalysisNeeds = AnalysisNeeds::Calls;

    fn take(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        self.numbering.take(window);
        let is_looked_at = self.numbering.has_pending();
        let tasks = (0..trace.tasks().len() as u32).map(TaskId);
        let tasks = tasks.take_while(|_| is_looked_at);
        for id in tasks.filter(|id| window.part.holds(window.keys.task(*id))) {
            let task = trace.task(id);
            let messages = self.numbering.messages(trace, task);
            let one = self.numbering.number(trace, task);
            for numbered in messages.into_iter().chain(one) {
                self.ran(numbered, task.time);
            }
        }
        self.describe(window);
    }

    fn finish(mut self) -> Recorded {
        self.recorded.participants = self.numbering.participants.into_values().collect();
        self.recorded
    }
}

impl Collect {
    fn ran(&mut self, numbered: NumberedCollective, time: Option<TaskTime>) {
        let Some(time) = time else { return };
        let participant = self.numbering.participants.get_mut(&numbered.process);
        let comm = participant.and_then(|it| it.comms.get_mut(numbered.comm));
        if let Some(lane) = comm.and_then(|it| it.lanes.get_mut(numbered.lane)) {
            lane.push(Round {
                begin: time.begin,
                end: time.end,
                error: time.error,
                ..numbered.round
            });
        }
    }

    /// Takes the facts of the recording about itself, as far as it has been read.
    fn describe(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        let session = trace.session();
        self.recorded.host.clone_from(&session.host);
        self.recorded.boot.clone_from(&session.boot_id);
        self.recorded.start_ns = session.start_ns;
        self.recorded.start_realtime_ns = session.start_realtime_ns;
        let span = trace.span().map(|it| (it.begin, it.end));
        let before = (window.part.from != i64::MIN).then_some(self.recorded.span);
        let spans = before.into_iter().chain(span);
        let whole = spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        self.recorded.span = whole.unwrap_or_default();
    }
}
