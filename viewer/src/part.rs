//! Data that the view derives from the loaded part of a recording.

use std::sync::Arc;

use ascend_trace_analysis::collectives::Communicators;
use ascend_trace_analysis::{Dependencies, Estimates, Graphs, Stalls, Window};
use ascend_trace_recording::Trace;

use crate::failures::Failures;
use crate::nodes::NodeLines;
use crate::overall::Running;
use crate::ranges::Ranges;
use crate::tracks::Tracks;

/// Data that the view derives from a trace. Any thread may make it.
#[derive(Clone, Debug, Default)]
pub struct Derived {
    pub(crate) tracks: Tracks,
    pub(crate) dependencies: Arc<Dependencies>,
    pub(crate) stalls: Arc<Stalls>,
    pub(crate) graphs: Graphs,
    pub(crate) nodes: NodeLines,
    pub(crate) communicators: Communicators,
    pub(crate) estimates: Estimates,
    pub(crate) failures: Failures,
    pub(crate) ranges: Ranges,
    pub(crate) running: Running,
    pub(crate) extent: Extent,
}

/// How much of a recording a trace holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// All that has been recorded, rather than a range of it.
    pub is_whole: bool,
    /// The recording gains nothing any more.
    pub is_final: bool,
}

impl Derived {
    /// Derives from a trace with this extent of a recording.
    pub fn of(trace: &Trace, extent: Extent) -> Self {
        let mut tracks = Tracks::default();
        tracks.update(trace);
        let dependencies: Arc<_> = Dependencies::of(trace).into();
        let stalls: Arc<_> = match extent.is_whole && extent.is_final {
            true => Stalls::with(trace, &dependencies),
            false => Stalls::of_part(trace, &dependencies, extent.is_final),
        }
        .into();
        let graphs = Graphs::of(trace);
        let mut nodes = NodeLines::default();
        nodes.update(trace, &graphs);
        let mut ranges = Ranges::default();
        ranges.update(trace);
        let mut failures = Failures::default();
        failures.update(trace);
        let window = Window::with(trace, Arc::clone(&dependencies), Arc::clone(&stalls));
        Self {
            tracks,
            running: Running::of(&window, extent.is_whole),
            dependencies,
            stalls,
            graphs,
            nodes,
            communicators: Communicators::of(trace),
            estimates: Estimates::of(trace),
            failures,
            ranges,
            extent,
        }
    }
}
