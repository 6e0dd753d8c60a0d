//! Finds the steps of a recording: parts that repeat the same work.
//!
//! The program defines steps where it can (`named`): ranges of the hook inside Python, ranges with names like steps, or
//! those that match a pattern. Such a step is a time of a host thread. Else steps are found in the requests of a thread
//! (`Finder`): by the launches of a graph, or as a sequence of operations that repeats. Such a step lasts on the device
//! from its first task to that of the next one.
//!
//! One place sums up the parts of a step's time for all of them, [`crate::stats::Steps`].

mod align;
mod begins;
mod compare;
mod cuts;
mod finder;
mod folded;
mod loops;
mod measured;
mod named;
mod process_steps;
mod repetition;
mod report;
mod sequence;
mod shared;
mod step_begin;
mod symbols;

pub(crate) use align::align;
pub(crate) use compare::Detail;
pub use compare::{Comparison, StepDifference};
pub use finder::Finder;
pub use named::StepDefinition;
pub(crate) use named::named;
pub use process_steps::{FoundStep, LoopId, LoopSteps, Origin, RecordingSteps, StepClock};
pub(crate) use report::Summing;
pub use report::{Report, StepSums};
