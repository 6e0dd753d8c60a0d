//! State of the recording, with all derived data.

use crate::blamed_stalls::{BlameTable, BlamedStalls};
use crate::cached_results::ResultCache;
use crate::failures::FailedCalls;
use crate::longest_stalls::LongestStalls;
use crate::marks::Bookmark;
use crate::meters::Meters;
use crate::nodes::NodeLines;
use crate::pair::OtherRecording;
use crate::ranges::RangeLines;
use crate::rates::GrowthRate;
use crate::recording_totals::RecordingTotals;
use crate::source::SourceProgress;
use crate::tracks::SliceTracks;
use ascend_trace_analysis::collectives::Communicators;
use ascend_trace_analysis::{Dependencies, Estimates, Graphs, Stalls};
use ascend_trace_recording::TimeRange;
use std::sync::Arc;
use std::time::Duration;

/// State of the recording, with all derived data.
#[derive(Debug, Default)]
pub(crate) struct Document {
    /// The span of the trace as far as it has been taken in.
    pub(crate) span: Option<TimeRange>,
    pub(crate) tracks: SliceTracks,
    pub(crate) dependencies: Arc<Dependencies>,
    pub(crate) stalls: Arc<Stalls>,
    pub(crate) graphs: Graphs,
    pub(crate) nodes: NodeLines,
    pub(crate) meters: Meters,
    pub(crate) communicators: Communicators,
    /// By the tasks of the loaded part.
    pub(crate) estimates: Estimates,
    /// Failed calls of the loaded part.
    pub(crate) failures: FailedCalls,
    pub(crate) progress: SourceProgress,
    /// Tasks and calls when the view was last brought up to date.
    pub(crate) counts: (u64, u64),
    /// Calls that failed, in all of the recording.
    pub(crate) failed: u64,
    pub(crate) bookmarks: Vec<Bookmark>,
    /// What all of it comes to, as far as that is known.
    pub(crate) overall: Option<RecordingTotals>,
    /// The longest stalls of the loaded part.
    pub(crate) worst: LongestStalls,
    pub(crate) rates: GrowthRate,
    pub(crate) ranges: RangeLines,
    /// When a long file began to be opened.
    pub(crate) opening_since: Option<Duration>,
    /// Results for all of the recording, and for ranges that are not loaded.
    pub(crate) cache: ResultCache,
    /// The culprit of each stall of the loaded part.
    pub(crate) blamed: Arc<BlamedStalls>,
    pub(crate) blames: BlameTable,
    /// Facts about the other recording, where the view is one of two.
    pub(crate) companion: Option<OtherRecording>,
    /// Why the source can no longer be read.
    pub(crate) failure: Option<String>,
}
