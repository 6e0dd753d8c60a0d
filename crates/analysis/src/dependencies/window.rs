//! Finding edges by time. Edges are stored roughly in time order, so blocks of neighbours have
//! narrow bounds, and a search skips almost all of them.

use ascend_trace_model::Trace;

use super::{Edge, Visible};

/// Edges of one block.
const BLOCK: usize = 256;

/// Bounds of one block.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    begin: i64,
    end: i64,
    /// All edges are there and all their times are known.
    settled: bool,
}

/// Bounds of all blocks, in the order of the edges.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    bounds: Vec<Bounds>,
    /// How many blocks there were when all were last measured.
    measured: usize,
}

impl Blocks {
    /// Brings the bounds up to date with new edges and with times that have become known. The
    /// clock mapping of a growing trace still moves known times a little, so all blocks are
    /// measured anew each time their number has doubled, and at the end.
    pub(super) fn update(&mut self, trace: &Trace, edges: &[Edge]) {
        if self.bounds.len() >= 2 * self.measured || trace.end().is_some() {
            self.measured = self.bounds.len();
            self.bounds.clear();
        }
        for (index, block) in edges.chunks(BLOCK).enumerate() {
            match self.bounds.get_mut(index) {
                Some(bounds) if bounds.settled => {}
                Some(bounds) => *bounds = Bounds::of(trace, block),
                None => self.bounds.push(Bounds::of(trace, block)),
            }
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
            settled: block.len() == BLOCK,
        };
        for edge in block {
            match edge.moments(trace) {
                Some((leave, arrive)) => {
                    bounds.begin = bounds.begin.min(leave.min(arrive));
                    bounds.end = bounds.end.max(leave.max(arrive));
                }
                None => bounds.settled = false,
            }
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
