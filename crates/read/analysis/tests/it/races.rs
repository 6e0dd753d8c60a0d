//! Uses of memory and their order, one rule at a time, each with and without the mistake.

/// Memory, streams and events that end too early, or that nothing ends.
mod lifetimes;
/// What puts uses of memory on two streams in order.
mod order;
/// The memory that tasks use.
mod regions;
/// Replays of graphs.
mod replays;

use ascend_trace_analysis::checks::{Finding, Findings};
use ascend_trace_analysis::{Fold, Window};
use ascend_trace_testkit::Timeline;

/// The findings of errors and of dropped work: check, and the number of calls.
fn found_in(timeline: &Timeline) -> Vec<Finding> {
    let trace = timeline.trace();
    let mut found = Findings::default().of(&Window::whole(&trace));
    let other = [
        "device-sync",
        "failed-call",
        "pageable-copy",
        "unrecorded-event",
    ];
    found.retain(|it| !other.contains(&it.check));
    found
}

#[track_caller]
fn found(text: &str) -> Vec<Finding> {
    found_in(&Timeline::of(text))
}

#[track_caller]
fn finds(check: &str, text: &str) {
    let found = found(text);
    let ids: Vec<&str> = found.iter().map(|it| it.check).collect();
    assert_eq!(ids, [check], "{text}\n{found:#?}");
}

#[track_caller]
fn is_fine(text: &str) {
    let found = found(text);
    assert!(found.is_empty(), "{text}\n{found:#?}");
}
