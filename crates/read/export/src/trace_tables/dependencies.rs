//! `dependencies`: one row per dependency, from cause to effect. Either end is a task or a call;
//! columns that do not apply to an end are empty.

use std::io;

use ascend_trace_analysis::{Edge, EdgeTimes, Node};
use ascend_trace_recording::{Call, Generation, Process, Stream, Task, Trace};

use super::{TableColumn, TableWriter, write_table};
use crate::ExportSource;

pub(super) struct ExportedDependency<'t> {
    trace: &'t Trace,
    edge: Edge,
    times: Option<EdgeTimes>,
    from: DependencyEnd<'t>,
    to: DependencyEnd<'t>,
}

/// One end of a dependency.
struct DependencyEnd<'t> {
    trace: &'t Trace,
    node: Node,
    task: Option<&'t Task>,
    call: &'t Call,
}

impl<'t> DependencyEnd<'t> {
    fn new(trace: &'t Trace, node: Node) -> Self {
        let (task, call) = match node {
            Node::Task(id) => (Some(trace.task(id)), trace.task(id).call),
            Node::Call(id) => (None, id),
        };
        Self {
            trace,
            node,
            task,
            call: trace.call(call),
        }
    }

    fn kind(&self) -> &'static str {
        match self.node {
            Node::Task(_) => "task",
            Node::Call(_) => "call",
        }
    }

    fn number(&self) -> u32 {
        match self.node {
            Node::Task(id) => self.trace.task_number(id),
            Node::Call(id) => self.trace.call_number(id),
        }
    }

    fn process(&self) -> &'t Process {
        let thread = self.trace.thread(self.call.thread);
        self.trace.process(thread.process)
    }

    fn tid(&self) -> Option<u32> {
        let call = self.task.is_none().then_some(self.call)?;
        Some(self.trace.thread(call.thread).tid)
    }

    fn stream(&self) -> Option<&'t Stream> {
        self.task.map(|task| self.trace.stream(task.stream))
    }

    fn name(&self) -> &'t str {
        match self.task {
            Some(task) => self.trace.task_name(task),
            None => &self.trace.function(self.call.function).name,
        }
    }
}

impl ExportedDependency<'_> {
    /// The recording of an event that the dependency goes through.
    fn event(&self) -> Option<Generation> {
        self.from.task.and(self.from.call.event)
    }

    fn event_serial(&self) -> Option<u32> {
        Some(self.trace.event(self.event()?.event).serial)
    }
}

/// The columns of one end, by its prefix.
macro_rules! end_columns {
    ($prefix:literal, $end:ident, $time:ident) => {
        [
            // task or call: which table the number refers to.
            TableColumn::word(
                concat!($prefix, "type"),
                |row: &ExportedDependency<'t>, cell| {
                    cell.put(row.$end.kind());
                },
            ),
            TableColumn::number(concat!($prefix, "number"), |row, cell| {
                cell.put(row.$end.number());
            }),
            TableColumn::number(concat!($prefix, "process"), |row, cell| {
                cell.put(row.$end.process().serial);
            }),
            TableColumn::number(concat!($prefix, "pid"), |row, cell| {
                cell.put(row.$end.process().pid);
            }),
            TableColumn::number(concat!($prefix, "tid"), |row, cell| {
                cell.maybe(row.$end.tid());
            }),
            TableColumn::number(concat!($prefix, "device"), |row, cell| {
                cell.maybe(row.$end.stream().map(|it| it.device));
            }),
            TableColumn::number(concat!($prefix, "stream_id"), |row, cell| {
                cell.maybe(row.$end.stream().map(Stream::number));
            }),
            TableColumn::number(concat!($prefix, "seq"), |row, cell| {
                cell.maybe(row.$end.task.map(|task| task.sequence));
            }),
            TableColumn::word(concat!($prefix, "name"), |row, cell| {
                cell.put(row.$end.name());
            }),
            // When the cause happened: the end of a task, the begin of a launch. When the effect
            // did: the begin of a launched task, the end of a wait or a sync.
            TableColumn::number(concat!($prefix, "ns"), |row, cell| {
                cell.maybe(row.times.map(|it| it.$time));
            }),
        ]
    };
}

pub(super) fn columns<'t>() -> Vec<TableColumn<'t, ExportedDependency<'t>>> {
    // The words of docs/STALLS.md.
    let mut columns = vec![TableColumn::word(
        "kind",
        |row: &ExportedDependency<'t>, cell| {
            cell.put(row.edge.kind.name());
        },
    )];
    columns.extend(end_columns!("from_", from, leave));
    columns.extend(end_columns!("to_", to, arrive));
    columns.extend([
        TableColumn::number("event_serial", |row: &ExportedDependency<'t>, cell| {
            cell.maybe(row.event_serial());
        }),
        TableColumn::number("event_generation", |row, cell| {
            cell.maybe(row.event().map(|it| it.number));
        }),
    ]);
    columns
}

pub(super) fn write(source: &ExportSource<'_>, writer: &mut impl TableWriter) -> io::Result<()> {
    let trace = source.trace;
    let dependencies = &source.dependencies;
    let edges = dependencies
        .all(trace)
        .chain(dependencies.stream_order(trace));
    let chosen = edges.filter(|edge| source.owns_edge(edge));
    let rows = chosen.map(|edge| ExportedDependency {
        trace,
        edge,
        times: edge.times(trace),
        from: DependencyEnd::new(trace, edge.from),
        to: DependencyEnd::new(trace, edge.to),
    });
    write_table(writer, &columns(), rows)
}
