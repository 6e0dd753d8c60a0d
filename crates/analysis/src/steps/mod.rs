//! Where the steps of a recording are: the same work, again and again.
//!
//! A step is a time of a host thread. It is told by the program where it can be (`named`): ranges of the hook inside
//! Python, ranges that are called like steps, or what a pattern picks out. Else it is found in what the thread asked
//! for (`Finder`): by the launches of a graph, or as a sequence of operations that repeats.
//!
//! What a step spent its time on is summed up in one place for all of them, [`crate::stats::Steps`].

mod align;
mod compare;
mod cuts;
mod finder;
mod named;
mod phase;
mod plan;
mod repeat;
mod report;
mod sequence;

pub(crate) use align::align;
pub(crate) use compare::Detail;
pub use compare::{Comparison, More};
pub use finder::Finder;
pub use named::Wanted;
pub(crate) use named::named;
pub use plan::{Cut, Lap, Origin, Plan};
pub(crate) use report::Summing;
pub use report::{Report, StepSums};
