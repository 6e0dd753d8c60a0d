//! Meaning of a trace: waits, their causes and durations, and the use of time.
//!
//! Everything here is a pure function of [`ascend_trace_recording::Trace`]: no files, no printing, no
//! clock. The analyses that a live view needs ([`Dependencies`], [`Stalls`]) can also follow a
//! trace that is still growing.
//!
//! - [`align`]: offsets of hosts' clocks, from the collectives of their ranks;
//! - [`calls`]: activity of a host thread, by nesting;
//! - [`collectives`]: communicators and their data;
//! - [`columns`]: the columns of tables, each declared once;
//! - [`communication`]: waits, transfers and bandwidth of collectives, by group, rank and pair of ranks;
//! - [`critical`]: the chain of tasks and calls that the end waited for;
//! - [`dependencies`]: the edges between calls and tasks;
//! - [`diff`]: changes from one recording to another;
//! - [`graphs`]: captures, replays, and their failures;
//! - [`hang`]: why a program does not continue: the waits of its threads and streams, and missing
//!   calls;
//! - [`log_comparison`]: comparison of the hardware log with events;
//! - [`range_window`]: a narrow range of a long recording;
//! - [`host_lateness`]: delays of the threads that plan and submit, where a stream waited for them;
//! - [`nesting`]: the named range of a thread at a time;
//! - [`planned_ranges`]: the ranges in which tasks were planned;
//! - [`released`]: the table of releases: the end of each wait, and its cause;
//! - [`stalls`]: intervals in which a stream or a host thread could not continue, with the cause;
//! - [`Learner`]: the best estimate of how long a task took;
//! - [`intervals`]: arithmetic on sets of intervals, for times that must not be counted twice;
//! - [`steps`]: the steps of a training loop, and the excess of the slowest;
//! - [`whatif`]: the duration of the program with a change;
//! - [`stats`]: tables per operation, stream and API function.

pub mod align;
pub mod calls;
pub mod checks;
pub mod collectives;
pub mod columns;
pub mod communication;
pub mod critical;
pub mod dependencies;
pub mod diff;
mod duplicate_ranges;
mod estimate;
pub mod graphs;
pub mod hang;
pub mod host_lateness;
pub mod intervals;
pub mod log_comparison;
pub mod memory;
mod messages;
pub mod nesting;
mod number_list;
mod pause_work;
pub mod planned_ranges;
mod polls;
pub mod range_window;
pub mod released;
pub mod requests;
pub mod retention;
pub mod stalls;
pub mod stats;
pub mod steps;
mod steps_and_path;
mod subscriptions;
pub mod whatif;
pub mod window;

pub use dependencies::{Dependencies, Edge, EdgeKind, EdgeTimes, Node};
pub use estimate::{
    EstimateMaker, EstimatedTime, Estimates, Learner, PlacedTasks, UntimedPlacer, place_untimed,
};
pub use graphs::{Graph, Graphs};
pub use host_lateness::HostLateness;
pub use intervals::Intervals;
pub use messages::messages_in_words;
pub use nesting::Nesting;
pub use planned_ranges::PlannedRanges;
pub use released::{Certainty, Release, ReleaseKind};
pub use stalls::{
    ActivityDuringWait, Blame, Blamed, Cause, Chain, Culprit, Evidence, Lane, Link, Root, Stall,
    StallBound, Stalls, TaskRole, ThreadActivity, UnknownReason,
};
pub use stats::Stats;
pub use steps_and_path::steps_and_path;
pub use window::{AnalysisNeeds, Fold, RecordingPart, Window, WindowSize, Windows};

use ascend_trace_recording::{Task, Trace};

/// How long a task waited in its stream's queue: from the entry of the call that submitted it to
/// its begin. `None` without times.
pub fn queue_wait(trace: &Trace, task: &Task) -> Option<i64> {
    let begin = task.time?.begin;
    Some((begin - trace.call(task.call).begin).max(0))
}
