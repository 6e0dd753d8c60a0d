//! `graphs`: one row per node of a graph; a graph without nodes has one row without a node.

use std::io;

use ascend_trace_analysis::graphs::{Explanation, Graph, GraphNode, Outcome};
use ascend_trace_recording::{StreamId, Task, Trace};

use super::{TableColumn, TableWriter, write_table};
use crate::ExportSource;
use crate::trace_facts::ExportTotals;

pub(super) struct ExportedNode<'s> {
    trace: &'s Trace,
    graph: &'s Graph,
    replays: u64,
    failure: Option<&'s Explanation>,
    node: Option<(&'s GraphNode, &'s [u32])>,
}

impl<'s> ExportedNode<'s> {
    fn task(&self) -> Option<&'s Task> {
        Some(self.trace.task(self.node?.0.task))
    }

    fn number(&self, stream: Option<StreamId>) -> Option<i64> {
        stream.map(|stream| self.trace.stream(stream).number())
    }

    fn code(&self) -> Option<i64> {
        match self.graph.outcome {
            Outcome::Failed(code) => Some(code),
            Outcome::Open | Outcome::Ready => None,
        }
    }

    fn after(&self) -> Option<String> {
        let numbers = self.node?.1.iter().map(u32::to_string);
        Some(numbers.collect::<Vec<_>>().join(" "))
    }
}

pub(super) fn columns<'s>() -> Vec<TableColumn<'s, ExportedNode<'s>>> {
    vec![
        // Number of the process: several processes may have the same pid.
        TableColumn::number("process", |row, cell| {
            cell.put(row.trace.process(row.graph.process).serial);
        }),
        TableColumn::number("pid", |row, cell| {
            cell.put(row.trace.process(row.graph.process).pid);
        }),
        TableColumn::unsigned("rank", |row, cell| {
            cell.maybe(row.trace.process(row.graph.process).rank_number())
        }),
        // Counts the graphs of the process from 1, as in tasks and calls.
        TableColumn::number("graph", |row, cell| cell.put(row.graph.serial)),
        // captured, or built by hand.
        TableColumn::word("making", |row, cell| cell.put(row.graph.making.name())),
        // ready, failed, or open: not ended.
        TableColumn::word("outcome", |row, cell| cell.put(row.graph.outcome.name())),
        // Return code of the end of the capture, if it failed.
        TableColumn::number("code", |row, cell| cell.maybe(row.code())),
        // Why the capture failed, in words, and the number of the call to blame, as in calls.
        TableColumn::text("reason", |row, cell| {
            cell.maybe(row.failure.map(|why| &why.text));
        }),
        TableColumn::number("reason_call", |row, cell| {
            cell.maybe(
                row.failure
                    .and_then(|why| why.call)
                    .map(|call| row.trace.call_number(call)),
            );
        }),
        // The stream that the capture began on.
        TableColumn::number("origin_stream_id", |row, cell| {
            cell.maybe(row.number(row.graph.origin));
        }),
        // The calls that began and ended it.
        TableColumn::number("begin_call", |row, cell| {
            cell.maybe(row.graph.begin.map(|call| row.trace.call_number(call)));
        }),
        TableColumn::number("end_call", |row, cell| {
            cell.maybe(row.graph.end.map(|call| row.trace.call_number(call)));
        }),
        TableColumn::number("nodes", |row, cell| cell.put(row.graph.nodes.len())),
        TableColumn::number("replays", |row, cell| cell.put(row.replays as usize)),
        // Counts the nodes of the graph from 1.
        TableColumn::number("node", |row, cell| {
            cell.maybe(row.node.map(|(node, _)| node.number));
        }),
        TableColumn::number("stream_id", |row, cell| {
            cell.maybe(row.number(row.node.map(|(node, _)| node.stream)));
        }),
        TableColumn::word("kind", |row, cell| {
            cell.maybe(row.task().map(|task| task.kind.name()));
        }),
        TableColumn::word("name", |row, cell| {
            cell.maybe(row.task().map(|task| row.trace.task_name(task)));
        }),
        // The nodes that must have run before it, separated by spaces.
        TableColumn::text("after", |row, cell| cell.maybe(row.after())),
        // Numbers of its task and of the call that added it, as in tasks and calls.
        TableColumn::number("task", |row, cell| {
            cell.maybe(row.node.map(|(node, _)| row.trace.task_number(node.task)));
        }),
        TableColumn::number("call", |row, cell| {
            cell.maybe(row.node.map(|(node, _)| row.trace.call_number(node.call)));
        }),
    ]
}

pub(super) fn write(
    source: &ExportSource<'_>,
    facts: &ExportTotals,
    writer: &mut impl TableWriter,
) -> io::Result<()> {
    let trace = source.trace;
    let graphs: Vec<_> = source
        .graphs
        .all()
        .iter()
        .filter(|graph| {
            let calls = graph.begin.iter().chain(&graph.end);
            let tasks = graph.nodes.iter().map(|node| node.task);
            source.selection.is_whole()
                || calls.copied().any(|id| source.selection.call(id))
                || tasks.into_iter().any(|id| source.selection.task(id))
        })
        .map(|graph| {
            let failure = source.graphs.failure(trace, graph);
            (graph, failure, graph.dependencies(trace))
        })
        .collect();
    let rows = graphs.iter().flat_map(|(graph, failure, after)| {
        let nodes = graph.nodes.iter().zip(after);
        let nodes = nodes.map(|(node, after)| Some((node, after.as_slice())));
        let none = graph.nodes.is_empty().then_some(None);
        nodes.chain(none).map(|node| ExportedNode {
            trace,
            graph,
            replays: facts.replays(graph),
            failure: failure.as_ref(),
            node,
        })
    });
    write_table(writer, &columns(), rows)
}
