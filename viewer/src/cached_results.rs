//! Cached results of background queries, valid for one state of the recording.

use ascend_trace_analysis::Stats;
use ascend_trace_analysis::checks::Finding;
use ascend_trace_analysis::stats::StallGroup;
use ascend_trace_recording::TimeRange;

use crate::background_query::FoundStall;
use crate::list::StallFilter;

/// The longest stalls of all of a recording.
#[derive(Clone, Debug)]
pub(crate) struct CachedStalls {
    pub(crate) which: StallFilter,
    pub(crate) least: i64,
    /// Tasks and calls when they were found.
    pub(crate) counts: (u64, u64),
    pub(crate) hidden: usize,
    pub(crate) stalls: Vec<FoundStall>,
}

/// Stalls of all of a recording, by who is to blame.
#[derive(Clone, Debug)]
pub(crate) struct CachedBlame {
    pub(crate) least: i64,
    /// Tasks and calls when they were found.
    pub(crate) counts: (u64, u64),
    pub(crate) hidden: usize,
    pub(crate) groups: Vec<StallGroup>,
}

/// What checks found in all of a recording.
#[derive(Clone, Debug)]
pub(crate) struct CachedFindings {
    /// Tasks and calls when they looked.
    pub(crate) counts: (u64, u64),
    pub(crate) findings: Vec<Finding>,
}

/// Tables of a range of a recording.
#[derive(Clone, Debug)]
pub(crate) struct CachedStats {
    pub(crate) range: TimeRange,
    /// Tasks and calls when they were made.
    pub(crate) counts: (u64, u64),
    pub(crate) stats: Stats,
}
