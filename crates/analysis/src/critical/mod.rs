//! The critical path: what the end of a recording, or of a range, waited for, moment by moment.
//!
//! It is followed back from the end. What ran last began when the last thing was there that it needed: the task
//! before it on its stream, the call that submitted it, what a wait was released by. From that it goes on, down to the
//! first moment. So the path has no gaps: where nothing ran on it, it says what was waited for. In a program in which
//! everything begins as soon as it can, it is the longest path of the dependency graph.
//!
//! The recording is read twice: once for the causes of everything, of which four bytes are kept for each call and
//! task, and once for what lies on the path.

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
