//! Ranks on one clock: how the clocks of hosts lie, by the collectives that their ranks ran together.
//!
//! A collective cannot end on one rank before it began on another one that sends it data. So each one
//! bounds the offset of two hosts' clocks: an end on one clock is no earlier than a begin on the other.
//! Thousands of them leave a narrow set of lines, and its width is the error bar.
//!
//! Ranks of one host have one clock. Hosts without a common collective are placed by other hosts in between, or by the
//! wall clock, which is said.

mod blame;
mod collect;
mod groups;
mod hosts;
mod mapping;
mod pairs;
mod recorded;
mod rounds;
mod solve;

pub use blame::{Contradiction, Culprit};
pub use collect::Collect;
pub use mapping::{How, Mapping, Placed, Why};
pub use recorded::{Comm, Lane, Obstacle, Participant, Recorded, Round};
pub use solve::{Alignment, align};
