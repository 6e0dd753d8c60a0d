//! `dependencies`: one row per dependency, from cause to effect. Either end is a task or a
//! call; what an end does not have is empty.

use std::io;

use ascend_trace_analysis::{Edge, Node};
use ascend_trace_model::{Call, Generation, Stream, Task, Trace};

use super::{Column, TableWriter, write_table};
use crate::Source;

struct Row<'t> {
    trace: &'t Trace,
    edge: Edge,
    from: End<'t>,
    to: End<'t>,
}

/// One end of a dependency.
struct End<'t> {
    trace: &'t Trace,
    node: Node,
    task: Option<&'t Task>,
    call: &'t Call,
}

impl<'t> End<'t> {
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
            Node::Task(id) => id.0,
            Node::Call(id) => id.0,
        }
    }

    fn pid(&self) -> u32 {
        let thread = self.trace.thread(self.call.thread);
        self.trace.process(thread.process).pid
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

impl Row<'_> {
    /// The recording of an event that the dependency goes through.
    fn event(&self) -> Option<Generation> {
        self.from.task.and(self.from.call.event)
    }

    fn event_serial(&self) -> Option<u32> {
        Some(self.trace.event(self.event()?.event).serial)
    }

    fn moments(&self) -> Option<(i64, i64)> {
        self.edge.moments(self.trace)
    }
}

fn columns<'t>() -> Vec<Column<Row<'t>>> {
    vec![
        // The words of docs/STALLS.md.
        Column::text("kind", |row, cell| cell.put(row.edge.kind.name())),
        // task or call: which table from_number refers to.
        Column::text("from_type", |row, cell| cell.put(row.from.kind())),
        Column::number("from_number", |row, cell| cell.put(row.from.number())),
        Column::number("from_pid", |row, cell| cell.put(row.from.pid())),
        Column::number("from_tid", |row, cell| cell.maybe(row.from.tid())),
        Column::number("from_device", |row, cell| {
            cell.maybe(row.from.stream().map(|it| it.device))
        }),
        Column::number("from_stream_id", |row, cell| {
            cell.maybe(row.from.stream().map(Stream::number))
        }),
        Column::number("from_seq", |row, cell| {
            cell.maybe(row.from.task.map(|task| task.sequence))
        }),
        Column::text("from_name", |row, cell| cell.put(row.from.name())),
        // When the cause happened: the end of a task, the begin of a launch.
        Column::number("from_ns", |row, cell| {
            cell.maybe(row.moments().map(|it| it.0))
        }),
        Column::text("to_type", |row, cell| cell.put(row.to.kind())),
        Column::number("to_number", |row, cell| cell.put(row.to.number())),
        Column::number("to_pid", |row, cell| cell.put(row.to.pid())),
        Column::number("to_tid", |row, cell| cell.maybe(row.to.tid())),
        Column::number("to_device", |row, cell| {
            cell.maybe(row.to.stream().map(|it| it.device))
        }),
        Column::number("to_stream_id", |row, cell| {
            cell.maybe(row.to.stream().map(Stream::number))
        }),
        Column::number("to_seq", |row, cell| {
            cell.maybe(row.to.task.map(|task| task.sequence))
        }),
        Column::text("to_name", |row, cell| cell.put(row.to.name())),
        // When the effect happened: the begin of a launched task, the end of a wait or a sync.
        Column::number("to_ns", |row, cell| {
            cell.maybe(row.moments().map(|it| it.1))
        }),
        Column::number("event_serial", |row, cell| cell.maybe(row.event_serial())),
        Column::number("event_generation", |row, cell| {
            cell.maybe(row.event().map(|it| it.number))
        }),
    ]
}

pub(super) fn write(source: &Source<'_>, writer: &mut dyn TableWriter) -> io::Result<()> {
    let trace = source.trace;
    let dependencies = &source.dependencies;
    let edges = dependencies
        .all(trace)
        .chain(dependencies.stream_order(trace));
    let chosen = edges.filter(|edge| source.selection.edge(edge));
    let rows = chosen.map(|edge| Row {
        trace,
        edge,
        from: End::new(trace, edge.from),
        to: End::new(trace, edge.to),
    });
    write_table(writer, &columns(), rows)
}
