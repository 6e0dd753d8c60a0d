//! The report on why a program hangs: for the command `why`, and for a recorder that watches its program.

pub(crate) mod outside;
pub(crate) mod text;

use ascend_trace_analysis::hang::{Hangs, LookAtThreads};
use ascend_trace_collector::clock;
use ascend_trace_recording::Recording;

/// The time on the host's clock, in nanoseconds: for growing recordings. It must be read before the
/// file: later records only make the report later.
pub(crate) fn now() -> i64 {
    clock::now()
}

/// Takes a recording in. `now` is given where a recorder of this host writes to it: then the system says what its threads do.
pub(crate) fn fold(recording: &Recording, now: Option<i64>) -> Hangs {
    let until = now.filter(|now| is_plausible(recording, *now));
    let look: Option<LookAtThreads> = until.map(|_| outside::look as LookAtThreads);
    Hangs::default().until(until).looking(look)
}

/// Whether a time fits the clock of a recording: the file may come from another host by a network.
fn is_plausible(recording: &Recording, now: i64) -> bool {
    let span = recording.span();
    span.is_some_and(|span| now >= span.end) && recording.entities().end().is_none()
}
