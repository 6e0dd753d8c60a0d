//! The table of graphs.

use ascend_trace_model::Trace;

use super::tables::{Range, overlaps};
use super::{Durations, GraphStats};
use crate::graphs::{Graph, Graphs, Outcome};

/// Graphs that were made or replayed within the range.
pub(super) fn rows(trace: &Trace, range: Range) -> Vec<GraphStats> {
    let graphs = Graphs::of(trace);
    rows_with(trace, &graphs, range, |graph| replays(trace, graph, range))
}

/// The same of graphs whose replays are summed up elsewhere.
pub(super) fn rows_with(
    trace: &Trace,
    graphs: &Graphs,
    range: Range,
    mut replays: impl FnMut(&Graph) -> (u64, Durations),
) -> Vec<GraphStats> {
    let inside = graphs.all().iter().filter_map(|graph| {
        let row = row(trace, graphs, graph, replays(graph));
        let making = making(trace, graph).is_some_and(|(begin, end)| overlaps(range, begin, end));
        (making || row.replays > 0).then_some(row)
    });
    inside.collect()
}

/// When it was made, as far as that is known.
fn making(trace: &Trace, graph: &Graph) -> Option<(i64, i64)> {
    let known = graph.begin.into_iter().chain(graph.end);
    let calls = known.chain(graph.nodes.iter().map(|node| node.call));
    let spans = calls.map(|call| (trace.call(call).begin, trace.call(call).end));
    spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
}

fn replays(trace: &Trace, graph: &Graph, range: Range) -> (u64, Durations) {
    let mut replays = 0;
    let mut times = Vec::new();
    for replay in &graph.replays {
        let call = trace.call(replay.call);
        // A replay that no task stands for was waited for by its call.
        let time = replay.task.and_then(|task| trace.task(task).time);
        let (begin, end) = match time {
            Some(time) => (time.begin, time.end),
            None => (call.begin, call.end),
        };
        if overlaps(range, begin, end) {
            replays += 1;
            times.extend(time.map(|time| time.end - time.begin));
        }
    }
    (replays, Durations::of(&mut times))
}

fn row(
    trace: &Trace,
    graphs: &Graphs,
    graph: &Graph,
    (replays, time): (u64, Durations),
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
