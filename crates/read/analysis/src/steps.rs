//! Where the steps of a recording are: the same work, again and again.
//!
//! A step is a time of a host thread. The program defines it where it can (`named`): ranges of the hook
//! inside Python, ranges with names like steps, or those that match a pattern. Else it is found in the
//! requests of the thread (`Finder`): by the launches of a graph, or as a sequence of operations that
//! repeats.
//!
//! One place sums up the parts of a step's time for all of them, [`crate::stats::Steps`].

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
