//! What changed from one recording to another.
//!
//! Both are cut into steps, as [`crate::steps`] finds them. For each step the sums are its duration,
//! the parts of its time, and the time and count of each operation, call and cause of idle time
//! (`collect`). The steps of each side are a sample, and a rank test says whether two samples differ by
//! more than their spread (`rank`). An alignment of the usual sequences of operations finds inserted,
//! deleted and renamed ones (`order`).
//!
//! Recordings without steps are compared by single operations, calls and stalls.

mod collect;
mod operation_order;
mod pair;
mod rank_test;
mod report;
mod row;
mod series;

pub use operation_order::{Change, Edit};
pub use pair::Pair;
pub use report::{Diff, Summary, paired};
pub use row::{DiffRow, RecordingValues, Verdict};
pub use series::SubjectKind;

/// The share of false alarms that is accepted, for all rows of a comparison together.
pub const ALPHA: f64 = 0.01;
