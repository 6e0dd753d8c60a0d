//! Data that the view derives from the loaded part of a recording.

use std::sync::Arc;

use ascend_trace_analysis::collectives::Communicators;
use ascend_trace_analysis::{Dependencies, Estimates, Graphs, Stalls, Window, place_untimed};
use ascend_trace_recording::Trace;

use crate::failures::FailedCalls;
use crate::nodes::NodeLines;
use crate::ranges::RangeLines;
use crate::recording_totals::PartTotals;
use crate::tracks::SliceTracks;

/// Data that the view derives from a trace. Any thread may make it.
#[derive(Clone, Debug, Default)]
pub struct DerivedData {
    pub(crate) tracks: SliceTracks,
    pub(crate) dependencies: Arc<Dependencies>,
    pub(crate) stalls: Arc<Stalls>,
    pub(crate) graphs: Graphs,
    pub(crate) nodes: NodeLines,
    pub(crate) communicators: Communicators,
    pub(crate) estimates: Estimates,
    pub(crate) failures: FailedCalls,
    pub(crate) ranges: RangeLines,
    pub(crate) running: PartTotals,
    pub(crate) extent: LoadedExtent,
}

/// How much of a recording a trace holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadedExtent {
    /// All that has been recorded, rather than a range of it.
    pub is_whole: bool,
    /// The recording gains nothing any more.
    pub is_final: bool,
}

impl DerivedData {
    /// Derives from a trace with this extent of a recording. The trace keeps where tasks without a time probably ran.
    pub fn of(trace: &mut Trace, extent: LoadedExtent) -> Self {
        let dependencies: Arc<_> = Dependencies::of(trace).into();
        let estimates = Estimates::of(trace);
        let placed = place_untimed(trace, &dependencies, &estimates);
        trace.place(placed);
        let trace = &*trace;
        let mut tracks = SliceTracks::default();
        tracks.update(trace);
        let stalls: Arc<_> = match extent.is_whole && extent.is_final {
            true => Stalls::with(trace, &dependencies),
            false => Stalls::of_part(trace, &dependencies, extent.is_final),
        }
        .into();
        let graphs = Graphs::of(trace);
        let mut nodes = NodeLines::default();
        nodes.update(trace, &graphs);
        let mut ranges = RangeLines::default();
        ranges.update(trace);
        let mut failures = FailedCalls::default();
        failures.update(trace);
        let window = Window::with(trace, Arc::clone(&dependencies), Arc::clone(&stalls));
        Self {
            tracks,
            running: PartTotals::of(&window, extent.is_whole),
            dependencies,
            stalls,
            graphs,
            nodes,
            communicators: Communicators::of(trace),
            estimates,
            failures,
            ranges,
            extent,
        }
    }
}
