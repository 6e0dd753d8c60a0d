//! The executions of a graph.

use std::sync::atomic::{AtomicU32, AtomicU64};

/// Lives as long as its graph can be executed or looked at.
#[derive(Default)]
pub(crate) struct Activity {
    /// Replays that were submitted and are not over.
    pub(super) replays: AtomicU32,
    /// When the last replay ended.
    pub(crate) ended_ns: AtomicU64,
}
