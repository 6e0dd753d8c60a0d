//! The table of graphs.

use std::collections::HashMap;

use ascend_trace_recording::{ProcessId, TimeRange, Trace};

use super::tables::{Operations, Range, Tasks, overlaps};
use super::{GraphStats, TaskDurations};
use crate::dependencies::runs;
use crate::estimate::Measured;
use crate::graphs::{Graph, Graphs, Outcome};
use crate::{Node, Window};

/// Sums of replays, by process and serial of the graph.
#[derive(Clone, Debug, Default)]
pub(super) struct Replays {
    sums: HashMap<(ProcessId, u32), (u64, Tasks)>,
}

impl Replays {
    pub(super) fn take(&mut self, window: &Window<'_>, range: Range) {
        let trace = window.trace;
        for graph in window.graphs.all() {
            for replay in &graph.replays {
                let call = trace.call(replay.call);
                // For a replay without a task, its call waited.
                let time = replay.task.and_then(|task| trace.task(task).time);
                let extent = time.map_or(call.range(), |time| time.range());
                if window.owns(Node::Call(replay.call)) && overlaps(range, extent) {
                    let sums = self.sums.entry((graph.process, graph.serial)).or_default();
                    sums.0 += 1;
                    if let Some(task) = replay.task {
                        let measured = time.as_ref().map(Measured::of);
                        sums.1.add(measured.as_ref(), runs(trace, task));
                    }
                }
            }
        }
    }

    /// Graphs that were made or replayed within the range, once all windows have been taken in.
    pub(super) fn rows(
        &mut self,
        window: &Window<'_>,
        range: Range,
        operations: &Operations,
    ) -> Vec<GraphStats> {
        let (trace, graphs) = (window.trace, &window.graphs);
        let inside = graphs.all().iter().filter_map(|graph| {
            let sums = self.sums.remove(&(graph.process, graph.serial));
            let (replays, time) = sums.unwrap_or_default();
            let total = operations.replays(graph.process, graph.serial);
            let row = row(trace, graphs, graph, (replays, time.durations(total, None)));
            let making = making(trace, graph);
            let making = making.is_some_and(|making| overlaps(range, making));
            (making || row.replays > 0).then_some(row)
        });
        inside.collect()
    }
}

/// When it was made, as far as that is known.
fn making(trace: &Trace, graph: &Graph) -> Option<TimeRange> {
    let known = graph.begin.into_iter().chain(graph.end);
    let calls = known.chain(graph.nodes.iter().map(|node| node.call));
    let spans = calls.map(|call| trace.call(call).range());
    spans.reduce(TimeRange::hull)
}

fn row(
    trace: &Trace,
    graphs: &Graphs,
    graph: &Graph,
    (replays, time): (u64, TaskDurations),
) -> GraphStats {
    let failure = graphs.failure(trace, graph);
    let blamed = failure.as_ref().and_then(|why| why.call);
    GraphStats {
        process: trace.process(graph.process).serial,
        pid: trace.process(graph.process).pid,
        graph: graph.serial,
        making: graph.making.name(),
        outcome: graph.outcome.name(),
        code: match graph.outcome {
            Outcome::Failed(code) => Some(code),
            Outcome::Open | Outcome::Ready => None,
        },
        reason_call: blamed.map(|call| trace.function(trace.call(call).function).name.clone()),
        reason: failure.map(|why| why.text),
        refused: graphs.refusals(trace, graph).len() as u64,
        streams: graph
            .streams()
            .into_iter()
            .map(|stream| trace.stream(stream).number())
            .collect(),
        nodes: graph.nodes.len() as u64,
        replays,
        time,
    }
}
