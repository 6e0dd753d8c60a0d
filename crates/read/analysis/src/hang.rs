//! Why a program hangs: the waits of its threads and streams at the end of a recording, and the calls
//! that never happened.
//!
//! One pass takes the windows ([`Hangs`]). It keeps the tasks that are not known to be done, the latest
//! record of each event, and the last calls of each thread. At the end, `progress` computes how far
//! each stream can get without further submissions. Where a stream stops, `follow` goes from the stop
//! to its cause, and on from there.

mod across_ranks;
mod communicators;
mod events;
mod follow;
mod hosts;
mod labels;
mod last_activity;
mod progress;
mod queues;
mod ranks;
mod report;
mod sight;
mod signals;
mod state;
mod summary;
mod usual_durations;
mod verdict;

use ascend_trace_recording::Trace;

use crate::{AnalysisNeeds, Fold, Window};
use state::HangState;

pub use across_ranks::{LateRank, Recorded, late};
pub use report::{
    CommState, Culprit, LastCall, Link, OpenCall, Report, RootKind, StreamState, Subject,
    ThreadState, Verdict,
};
pub use sight::{FunctionSight, LookAtThreads, NamedThread, OutsideWait, SystemSight, ThreadSight};

/// Reads a recording, and reports at its end why the program hangs.
#[derive(Debug, Default)]
pub struct Hangs {
    state: HangState,
    /// For a recording that goes on: the time up to which it was read.
    until: Option<i64>,
    /// For a program that runs on this host.
    look: Option<LookAtThreads>,
    report: Report,
}

impl Hangs {
    /// For a recording that goes on and that was read up to a point in time, in nanoseconds of the host's clock.
    #[must_use]
    pub fn until(self, until: Option<i64>) -> Self {
        Self { until, ..self }
    }

    /// For a program that runs on this host: what says what its threads do outside calls.
    #[must_use]
    pub fn looking(self, look: Option<LookAtThreads>) -> Self {
        Self { look, ..self }
    }

    /// The end of the known time: the recording has all events until then.
    fn end(&self, trace: &Trace) -> i64 {
        let calls = self.state.hosts.open_until();
        let ends = trace.processes().iter().filter_map(|it| it.end_ns);
        let end = trace.end().map(|(end, _)| end);
        let known = [self.until, end, self.state.moved.last, calls];
        let known = known.into_iter().flatten().chain(ends);
        known.max().unwrap_or(0)
    }
}

impl Fold for Hangs {
    type Answer = Report;

    const NEEDS: AnalysisNeeds = AnalysisNeeds::Dependencies;

    fn take(&mut self, window: &Window<'_>) {
        self.state.take(window);
        if window.part.is_last {
            let end = self.end(window.trace);
            self.report = summary::report(window.trace, &mut self.state, end, self.look);
        }
    }

    fn finish(self) -> Report {
        self.report
    }
}
