//! The critical path: the chain of tasks and calls that the end of a recording, or of a range, waited
//! for.
//!
//! It is followed back from the end. The last item began when the last of its preconditions was
//! available: the task before it on its stream, the call that submitted it, the record that released
//! its wait. From that it continues, back to the begin. So the path has no gaps: where nothing ran on
//! it, it names the wait. In a program in which everything begins as soon as possible, it is the
//! longest path of the dependency graph.
//!
//! The recording is read twice: once for the causes of everything, with four bytes kept for each call
//! and task, and once for the items on the path.

mod item_code;
mod outside_pauses;
mod path;
mod piece_owners;
mod pieces;
mod report;
mod segment;
mod segments;
mod wait_reasons;

pub(crate) use path::Links;
pub use report::{Critical, PathShare, ReadingPass};
pub use segment::{Owner, Segment, SegmentKind};
pub use segments::Segments;
