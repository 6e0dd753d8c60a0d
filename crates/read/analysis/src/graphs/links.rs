//! The dependencies inside a graph.

use std::collections::HashMap;

use ascend_trace_format::api::Role;
use ascend_trace_recording::{Generation, StreamId, Trace};

use super::{Graph, GraphNode};

/// The generation that a node records or waits for.
pub(super) fn event(trace: &Trace, node: &GraphNode, role: Role) -> Option<Generation> {
    let call = trace.call(node.call);
    let has_role = trace.function(call.function).role == role;
    call.event.filter(|_| has_role)
}

/// The nodes that record events, by event.
pub(super) fn records(graph: &Graph, trace: &Trace) -> HashMap<Generation, u32> {
    let records = graph
        .nodes
        .iter()
        .filter_map(|node| Some((event(trace, node, Role::RecordEvent)?, node.number)));
    records.collect()
}

pub(super) fn dependencies(graph: &Graph, trace: &Trace) -> Vec<Vec<u32>> {
    let records = records(graph, trace);
    let mut last: HashMap<StreamId, u32> = HashMap::new();
    let depends = graph.nodes.iter().map(|node| {
        let before = last.insert(node.stream, node.number);
        let record = event(trace, node, Role::WaitEvent)
            .and_then(|generation| records.get(&generation).copied());
        let mut numbers: Vec<u32> = before.into_iter().chain(record).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    });
    depends.collect()
}
