//! Finding edges by time. Edges are stored roughly in time order, so blocks of neighbours have
//! narrow bounds, and a search skips almost all of them.

use ascend_trace_recording::Trace;

use super::{Edge, Visible};

/// Edges of one block.
const BLOCK: usize = 256;

/// Bounds of one block.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    begin: i64,
    end: i64,
}

/// Bounds of all blocks, in the order of the edges.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    bounds: Vec<Bounds>,
}

impl Blocks {
    pub(super) fn of(trace: &Trace, edges: &[Edge]) -> Self {
        let blocks = edges.chunks(BLOCK);
        Self {
            bounds: blocks.map(|block| Bounds::of(trace, block)).collect(),
        }
    }

    pub(super) fn search(
        &self,
        trace: &Trace,
        edges: &[Edge],
        window: (i64, i64),
        limit: usize,
    ) -> Visible {
        let mut found = Visible {
            edges: Vec::new(),
            complete: true,
        };
        for (bounds, block) in self.bounds.iter().zip(edges.chunks(BLOCK)) {
            if bounds.begin > window.1 || bounds.end < window.0 {
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

impl Bounds {
    fn of(trace: &Trace, block: &[Edge]) -> Self {
        let mut bounds = Self {
            begin: i64::MAX,
            end: i64::MIN,
        };
        // A task whose time is not known has no place in time.
        for (leave, arrive) in block.iter().filter_map(|edge| edge.moments(trace)) {
            bounds.begin = bounds.begin.min(leave.min(arrive));
            bounds.end = bounds.end.max(leave.max(arrive));
        }
        bounds
    }
}

/// Whether any part of the edge lies in the window. The clock mapping can put the cause a little
/// after its effect, so either moment may be the earlier one.
fn crosses(trace: &Trace, edge: &Edge, window: (i64, i64)) -> bool {
    edge.moments(trace).is_some_and(|(leave, arrive)| {
        leave.min(arrive) <= window.1 && leave.max(arrive) >= window.0
    })
}
