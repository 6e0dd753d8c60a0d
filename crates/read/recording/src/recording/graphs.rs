//! The graphs of a recording: the calls that made them, and how often they were replayed.

use std::collections::BTreeMap;

use crate::TimeRange;
use crate::file::index::Segment;
use crate::file::{Budget, OpenError};
use crate::graph_calls::{GraphFacts, GraphFunctions, GraphRelation};
use crate::rows::Row;
use crate::trace::{ProcessId, Trace};

use super::Recording;
use super::open::calls;

/// All facts of a recording about graphs.
#[derive(Debug)]
pub struct GraphCalls {
    /// The calls that made, changed or ended graphs, became their nodes, or were refused because of
    /// one. No replays.
    pub trace: Trace,
    /// Replays by process and serial of the graph.
    pub replays: BTreeMap<(ProcessId, u32), u64>,
}

impl Recording {
    /// The calls that have to do with graphs. Only the parts of the file that have any are read.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn graph_calls(&mut self) -> Result<GraphCalls, OpenError> {
        let functions = GraphFunctions::new(self.builder.trace().functions().iter());
        let mut builder = self.builder.clone();
        let counted = self.layout.totals().replays.into_iter();
        let replays = counted
            .map(|((process, serial), count)| ((builder.process_of(process), serial), count))
            .collect();
        let groups = self.layout.groups();
        let segments: Vec<Segment> = groups.flat_map(|group| &group.segments).copied().collect();
        let length = self.parts.length()?;
        for segment in segments {
            let mut budget = Budget::segment(length, segment.rows());
            if segment.graph_calls == 0 {
                continue;
            }
            let mut take = |item| {
                for row in calls(item) {
                    if functions.concern(&GraphFacts::from(&row)) == GraphRelation::Making {
                        builder.apply(Row::Call(row));
                    }
                }
            };
            let bytes = (segment.offset, segment.end());
            let wanted = self.layout.calls_of(&segment);
            let is_call = |kind| kind == wanted;
            let warnings = self.parts.range(bytes, is_call, &mut budget, &mut take)?;
            self.warn(warnings);
            if builder.rows_memory() > Budget::most_held(length) {
                return Err(OpenError::TooMuch);
            }
        }
        let mut budget = Budget::window(length, 0);
        let left = self.layout.left();
        let warnings = left.take(&self.parts, &mut builder, TimeRange::NOTHING, &mut budget)?;
        self.warn(warnings);
        Ok(GraphCalls {
            trace: builder.finish(),
            replays,
        })
    }
}
