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

mod causes;
mod code;
mod owners;
mod path;
mod report;
mod segment;
mod segments;

pub(crate) use path::Links;
pub use report::{Critical, Pass, Share};
pub use segment::{Kind, Owner, Segment};
pub use segments::Segments;
