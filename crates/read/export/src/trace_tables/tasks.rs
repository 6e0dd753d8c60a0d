//! `tasks`: one row per task that was submitted to a stream. A synchronous copy is a call, not
//! a task.

use std::io;

use ascend_trace_analysis::collectives::{Collective, Peer, bytes_moved};
use ascend_trace_analysis::graphs::task_label;
use ascend_trace_analysis::{Node, queue_wait};
use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::{Call, Direction, GraphRef, Process, Stream, Task, TaskId, Trace};

use super::{TableColumn, TableWriter, write_table};
use crate::{ExportSource, untimed_reason};

pub(super) struct ExportedTask<'s, 't> {
    source: &'s ExportSource<'t>,
    trace: &'t Trace,
    id: TaskId,
    task: &'t Task,
}

impl<'t> ExportedTask<'_, 't> {
    fn stream(&self) -> &'t Stream {
        self.trace.stream(self.task.stream)
    }

    fn process(&self) -> &'t Process {
        self.trace.process(self.stream().process)
    }

    fn call(&self) -> &'t Call {
        self.trace.call(self.task.call)
    }

    /// The collective, and how many ranks take part.
    fn collective(&self) -> Option<(Collective<'t>, Option<u64>)> {
        match self.task.kind {
            TaskKind::Collective => self.source.collective(self.call()),
            _ => None,
        }
    }

    /// The rank that is this to it.
    fn peer(&self, wanted: Peer) -> Option<u64> {
        let (peer, rank) = self.collective()?.0.peer?;
        (peer == wanted).then_some(rank)
    }

    /// Algorithm and bus bandwidth, at least.
    fn bandwidths(&self) -> Option<(f64, f64)> {
        let (collective, ranks) = self.collective()?;
        collective.least_bandwidths(ranks, self.task.time?)
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

pub(super) fn columns<'s, 't>() -> Vec<TableColumn<'t, ExportedTask<'s, 't>>> {
    vec![
        // Number of the task, which other tables refer to.
        TableColumn::number("task", |row, cell| cell.put(row.trace.task_number(row.id))),
        // Number of the process: several processes may have the same pid.
        TableColumn::number("process", |row, cell| cell.put(row.process().serial)),
        TableColumn::number("pid", |row, cell| cell.put(row.process().pid)),
        TableColumn::unsigned("rank", |row, cell| cell.maybe(row.process().rank_number())),
        TableColumn::number("device", |row, cell| cell.put(row.stream().device)),
        TableColumn::number("stream_id", |row, cell| cell.put(row.stream().number())),
        // Position among the tasks that the stream was given to run; for a task that was captured,
        // that of the next one.
        TableColumn::number("seq", |row, cell| cell.put(row.task.sequence)),
        TableColumn::word("kind", |row, cell| cell.put(row.task.kind.name())),
        // The submitted operation; of a replay: its graph, and the number of the replay.
        TableColumn::word("name", |row, cell| {
            cell.put(task_label(row.trace, row.task))
        }),
        TableColumn::number("begin_ns", |row, cell| {
            cell.maybe(row.task.time.map(|time| time.begin))
        }),
        TableColumn::number("end_ns", |row, cell| {
            cell.maybe(row.task.time.map(|time| time.end))
        }),
        // The true times lie within this distance of begin_ns and end_ns.
        TableColumn::number("err_ns", |row, cell| {
            cell.maybe(row.task.time.map(|time| time.error))
        }),
        // From the entry of the submitting call to begin_ns.
        TableColumn::number("queue_ns", |row, cell| {
            cell.maybe(queue_wait(row.trace, row.task))
        }),
        // Why there are no times, or empty.
        TableColumn::word("untimed", |row, cell| cell.put(row.untimed())),
        // Number of the submitting call, as in calls.
        TableColumn::number("call", |row, cell| {
            cell.put(row.trace.call_number(row.task.call));
        }),
        TableColumn::unsigned("bytes", |row, cell| {
            cell.maybe(bytes_moved(row.trace, row.call()))
        }),
        // The graph that it is a node or a replay of, as in graphs; and the number of either.
        TableColumn::number("graph", |row, cell| {
            cell.maybe(row.graph().map(|graph| graph.serial));
        }),
        TableColumn::number("node", |row, cell| {
            let node = row.graph().filter(|_| !row.trace.runs(row.task));
            cell.maybe(node.map(|graph| graph.index));
        }),
        TableColumn::number("replay", |row, cell| {
            let replay = row.graph().filter(|_| row.trace.runs(row.task));
            cell.maybe(replay.map(|graph| graph.index));
        }),
        // As err_ns, but against other tasks of the same device only.
        TableColumn::number("err_device_ns", |row, cell| {
            cell.maybe(row.task.time.map(|time| time.local_error))
        }),
        // Which way a copy goes: H2D, D2H, D2D, P2P between devices, H2H.
        TableColumn::word("direction", |row, cell| {
            cell.maybe(row.trace.direction(row.call()).map(Direction::name));
        }),
        // Operands of an operator, with type and dimensions.
        TableColumn::text("shapes", |row, cell| {
            cell.maybe(row.trace.shapes(row.call()));
        }),
        // Which of the streams that had the number one after another.
        TableColumn::number("life", |row, cell| {
            cell.put(row.trace.life_of(row.task.stream));
        }),
        // Of a name that is shown in a short form.
        TableColumn::word("whole_name", |row, cell| {
            cell.maybe(row.trace.whole_text(row.trace.task_name(row.task)));
        }),
        // Of a collective: the handle and the ranks of its communicator, and its data.
        TableColumn::unsigned("communicator", |row, cell| {
            cell.maybe(row.collective().map(|it| it.0.comm));
        }),
        TableColumn::unsigned("ranks", |row, cell| {
            cell.maybe(row.collective().and_then(|it| it.1));
        }),
        TableColumn::unsigned("elements", |row, cell| {
            cell.maybe(row.collective().and_then(|it| it.0.count));
        }),
        TableColumn::word("data_type", |row, cell| {
            cell.maybe(row.collective().and_then(|it| it.0.data_type));
        }),
        TableColumn::word("reduction", |row, cell| {
            cell.maybe(row.collective().and_then(|it| it.0.operation));
        }),
        TableColumn::unsigned("root", |row, cell| cell.maybe(row.peer(Peer::Root))),
        TableColumn::unsigned("to_rank", |row, cell| {
            cell.maybe(row.peer(Peer::Destination));
        }),
        TableColumn::unsigned("from_rank", |row, cell| cell.maybe(row.peer(Peer::Source))),
        TableColumn::unsigned("size", |row, cell| {
            cell.maybe(row.collective().and_then(|it| it.0.size(it.1)));
        }),
        // By the whole time, which contains the wait for the last rank.
        TableColumn::number("least_algorithm_bandwidth", |row, cell| {
            cell.maybe(row.bandwidths().map(|it| it.0 as i64));
        }),
        TableColumn::number("least_bus_bandwidth", |row, cell| {
            cell.maybe(row.bandwidths().map(|it| it.1 as i64));
        }),
    ]
}

pub(super) fn write(source: &ExportSource<'_>, writer: &mut impl TableWriter) -> io::Result<()> {
    let trace = source.trace;
    let all = trace.tasks().iter().zip((0..).map(TaskId));
    let chosen = all.filter(|(_, id)| source.owns(Node::Task(*id)));
    let rows = chosen.map(|(task, id)| ExportedTask {
        source,
        trace,
        id,
        task,
    });
    write_table(writer, &columns(), rows)
}
