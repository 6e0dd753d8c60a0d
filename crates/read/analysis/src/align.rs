//! Ranks on one clock: how the clocks of hosts lie, by the collectives that their ranks ran together.
//!
//! A collective cannot end on one rank before it began on another one that sends it data. So each one
//! bounds the offset of two hosts' clocks: an end on one clock is no earlier than a begin on the other.
//! Thousands of them leave a narrow set of lines, and its width is the error bar.
//!
//! Ranks of one host have one clock. Hosts without a common collective are placed by other hosts in between, or by the
//! wall clock, which is said.

mod alignment_input;
mod clock_solver;
mod collect;
mod contradictions;
mod groups;
mod hosts;
mod mapping;
pub(crate) mod numbering;
mod pairs;
mod rounds;

pub use alignment_input::{Comm, Lane, Obstacle, Participant, Recorded, Round};
pub use clock_solver::{Alignment, align};
pub use collect::Collect;
pub use contradictions::{Contradiction, Culprit};
pub use mapping::{AlignedHost, AlignmentBasis, Mapping, WallClockReason};
