//! `tasks.csv`: one row per task that was submitted to a stream. A synchronous copy is a call, not
//! a task.

use std::io::{self, Write};

use ascend_trace_analysis::graphs::task_label;
use ascend_trace_analysis::queue_wait;
use ascend_trace_model::{Call, GraphRef, Process, Stream, Task, Trace};

use super::{Column, write_table};
use crate::{Source, untimed_reason};

struct Row<'t> {
    trace: &'t Trace,
    number: u32,
    task: &'t Task,
}

impl<'t> Row<'t> {
    fn stream(&self) -> &'t Stream {
        self.trace.stream(self.task.stream)
    }

    fn process(&self) -> &'t Process {
        self.trace.process(self.stream().process)
    }

    fn call(&self) -> &'t Call {
        self.trace.call(self.task.call)
    }

    fn graph(&self) -> Option<GraphRef> {
        self.call().graph.filter(|graph| graph.index > 0)
    }

    fn untimed(&self) -> &'static str {
        match self.task.time {
            Some(_) => "",
            None => untimed_reason(self.task),
        }
    }
}

fn columns<'t>() -> Vec<Column<Row<'t>>> {
    vec![
        // Number of the task, which other tables refer to.
        ("task", |row, cell| cell.put(row.number)),
        ("pid", |row, cell| cell.put(row.process().pid)),
        ("rank", |row, cell| cell.put(&row.process().rank)),
        ("device", |row, cell| cell.put(row.stream().device)),
        ("stream_id", |row, cell| cell.put(row.stream().number())),
        // Position among the tasks that the stream was given to run; for a task that was captured,
        // that of the next one.
        ("seq", |row, cell| cell.put(row.task.sequence)),
        ("kind", |row, cell| cell.put(row.task.kind.name())),
        // What was submitted; of a replay: which graph, and which replay of it.
        ("name", |row, cell| {
            cell.put(task_label(row.trace, row.task))
        }),
        ("begin_ns", |row, cell| {
            cell.maybe(row.task.time.map(|time| time.begin))
        }),
        ("end_ns", |row, cell| {
            cell.maybe(row.task.time.map(|time| time.end))
        }),
        // The true times lie within this distance of begin_ns and end_ns.
        ("err_ns", |row, cell| {
            cell.maybe(row.task.time.map(|time| time.error))
        }),
        // From the entry of the submitting call to begin_ns.
        ("queue_ns", |row, cell| {
            cell.maybe(queue_wait(row.trace, row.task))
        }),
        // Why there are no times, or empty.
        ("untimed", |row, cell| cell.put(row.untimed())),
        // Number of the submitting call, as in calls.csv.
        ("call", |row, cell| cell.put(row.task.call.0)),
        ("bytes", |row, cell| cell.maybe(row.trace.bytes(row.call()))),
        // The graph that it is a node or a replay of, as in graphs.csv; and the number of either.
        ("graph", |row, cell| {
            cell.maybe(row.graph().map(|graph| graph.serial));
        }),
        ("node", |row, cell| {
            let node = row.graph().filter(|_| !row.trace.runs(row.task));
            cell.maybe(node.map(|graph| graph.index));
        }),
        ("replay", |row, cell| {
            let replay = row.graph().filter(|_| row.trace.runs(row.task));
            cell.maybe(replay.map(|graph| graph.index));
        }),
    ]
}

pub(super) fn write(source: &Source<'_>, file: &mut dyn Write) -> io::Result<()> {
    let trace = source.trace;
    let rows = trace.tasks().iter().zip(0..).map(|(task, number)| Row {
        trace,
        number,
        task,
    });
    write_table(file, &columns(), rows)
}
