//! Finding edges by time. Edges are stored roughly in time order, so blocks of neighbours have
//! narrow bounds, and a search skips almost all of them.

use ascend_trace_recording::{TimeRange, Trace};

use super::{Edge, Visible};

/// Edges of one block.
const BLOCK: usize = 256;

/// Bounds of all blocks, in the order of the edges.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    bounds: Vec<TimeRange>,
}

impl Blocks {
    pub(super) fn of(trace: &Trace, edges: &[Edge]) -> Self {
        let blocks = edges.chunks(BLOCK);
        Self {
            bounds: blocks.map(|block| bounds(trace, block)).collect(),
        }
    }

    pub(super) fn search(
        &self,
        trace: &Trace,
        edges: &[Edge],
        window: TimeRange,
        limit: usize,
    ) -> Visible {
        let mut found = Visible {
            edges: Vec::new(),
            complete: true,
        };
        for (bounds, block) in self.bounds.iter().zip(edges.chunks(BLOCK)) {
            if !bounds.overlaps(window) {
                continue;
            }
            for edge in block.iter().filter(|edge| crosses(trace, edge, window)) {
                if found.edges.len() == limit {
                    found.complete = false;
                    return found;
                }
                found.edges.push(*edge);
            }
        }
        found
    }
}

/// Time range of the edges of a block. A task with an unknown time has no place in time.
fn bounds(trace: &Trace, block: &[Edge]) -> TimeRange {
    let places = block.iter().filter_map(|edge| place(trace, edge));
    places.fold(TimeRange::NOTHING, TimeRange::hull)
}

/// Time range of an edge, from the earlier to the later end.
fn place(trace: &Trace, edge: &Edge) -> Option<TimeRange> {
    let times = edge.times(trace)?;
    Some(TimeRange::between(times.leave, times.arrive))
}

fn crosses(trace: &Trace, edge: &Edge, window: TimeRange) -> bool {
    place(trace, edge).is_some_and(|place| place.overlaps(window))
}
