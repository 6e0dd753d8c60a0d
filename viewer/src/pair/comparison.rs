//! Results about both recordings, which a separate thread computes.

use std::sync::Arc;

use ascend_trace_analysis::diff::{Diff, DiffRow, Verdict};
use ascend_trace_analysis::steps::FoundStep;

/// What compares two recordings. It must not wait: another thread reads.
pub trait TraceComparer {
    /// The results, one after the other.
    fn news(&mut self) -> Option<ComparisonResult>;
}

/// A result about both recordings, A first.
#[derive(Debug)]
pub enum ComparisonResult {
    /// When the first tasks began.
    Begins([i64; 2]),
    /// The steps of two processes that belong together.
    Steps([Vec<FoundStep>; 2]),
    Changes(Box<Diff>),
    /// Why no more will be found.
    Failed(String),
}

/// Facts about the other recording, for a view that is one of two.
#[derive(Clone, Debug, Default)]
pub(crate) struct OtherRecording {
    /// A or B.
    pub(crate) name: &'static str,
    pub(crate) has_focus: bool,
    pub(crate) changes: Option<Arc<RecordingChanges>>,
}

/// What changed from A to B.
#[derive(Debug, Default)]
pub(crate) struct RecordingChanges {
    /// Only changes, by their impact.
    pub(crate) rows: Vec<DiffRow>,
    pub(crate) by_steps: bool,
    pub(crate) tests: u64,
}

impl RecordingChanges {
    pub(super) fn of(found: Diff) -> Self {
        let rows = found.pairs.into_iter().flat_map(|pair| pair.rows);
        Self {
            rows: rows.filter(|it| it.verdict != Verdict::Same).collect(),
            by_steps: found.by_steps,
            tests: found.tests,
        }
    }
}
