//! `calls`: one row per call, in the order of return.

use std::io;

use ascend_trace_analysis::Node;
use ascend_trace_analysis::collectives::bytes_moved;
use ascend_trace_format::record::CpuTime;
use ascend_trace_recording::{Call, CallId, Function, Process, Stream, Thread, Trace};

use super::{TableColumn, TableWriter, write_table};
use crate::ExportSource;
use crate::arguments::{plain_name, write_arguments};

pub(super) struct ExportedCall<'s, 't> {
    source: &'s ExportSource<'t>,
    trace: &'t Trace,
    id: CallId,
    call: &'t Call,
}

impl<'t> ExportedCall<'_, 't> {
    fn thread(&self) -> &'t Thread {
        self.trace.thread(self.call.thread)
    }

    fn process(&self) -> &'t Process {
        self.trace.process(self.thread().process)
    }

    fn function(&self) -> &'t Function {
        self.trace.function(self.call.function)
    }

    fn stream(&self) -> Option<&'t Stream> {
        self.call.stream.map(|stream| self.trace.stream(stream))
    }

    /// The device of the stream, else the one that was current in the thread.
    fn device(&self) -> Option<u32> {
        let own = self.call.device.map(u32::from);
        self.stream().map(|stream| stream.device).or(own)
    }

    fn ret_name(&self) -> Option<&'t str> {
        let (function, code) = (self.call.function, self.call.result()?);
        self.source.constants.result(self.trace, function, code)
    }

    fn event_serial(&self) -> Option<u32> {
        let event = self.call.event?.event;
        Some(self.trace.event(event).serial)
    }
}

pub(super) fn columns<'s, 't>() -> Vec<TableColumn<'t, ExportedCall<'s, 't>>> {
    vec![
        // Number of the call, which other tables refer to.
        TableColumn::number("call", |row, cell| cell.put(row.trace.call_number(row.id))),
        // Number of the process: several processes may have the same pid.
        TableColumn::number("process", |row, cell| cell.put(row.process().serial)),
        TableColumn::number("pid", |row, cell| cell.put(row.process().pid)),
        TableColumn::number("tid", |row, cell| cell.put(row.thread().tid)),
        TableColumn::unsigned("rank", |row, cell| cell.maybe(row.process().rank_number())),
        TableColumn::word("name", |row, cell| cell.put(&row.function().name)),
        TableColumn::word("category", |row, cell| cell.put(&row.function().category)),
        TableColumn::number("begin_ns", |row, cell| cell.put(row.call.begin)),
        TableColumn::number("end_ns", |row, cell| cell.put(row.call.end)),
        TableColumn::number("ret", |row, cell| cell.maybe(row.call.result())),
        // The constant that `ret` is, for functions that return error codes.
        TableColumn::word("ret_name", |row, cell| cell.maybe(row.ret_name())),
        // Of a call that did not return: "left" or "open".
        TableColumn::word("ending", |row, cell| cell.maybe(row.call.ending.exported())),
        // 0 for the program's own calls.
        TableColumn::number("depth", |row, cell| cell.put(row.call.depth)),
        TableColumn::number("device", |row, cell| cell.maybe(row.device())),
        TableColumn::number("stream_id", |row, cell| {
            cell.maybe(row.stream().map(Stream::number))
        }),
        // Number of the task it submitted, as in tasks.
        TableColumn::number("task", |row, cell| {
            cell.maybe(row.call.task.map(|task| row.trace.task_number(task)))
        }),
        TableColumn::number("event_serial", |row, cell| cell.maybe(row.event_serial())),
        TableColumn::number("event_generation", |row, cell| {
            cell.maybe(row.call.event.map(|it| it.number))
        }),
        TableColumn::unsigned("bytes", |row, cell| {
            cell.maybe(bytes_moved(row.trace, row.call))
        }),
        // The graph that it worked on, captured into or replayed; and the number of the node or the
        // replay, 0 when it is neither.
        TableColumn::number("graph", |row, cell| {
            cell.maybe(row.call.graph.map(|graph| graph.serial));
        }),
        TableColumn::number("graph_index", |row, cell| {
            cell.maybe(row.call.graph.map(|graph| graph.index));
        }),
        // A JSON object: argument name to value.
        TableColumn::text("args", |row, cell| {
            cell.object(|json| write_arguments(json, row.source, row.call, plain_name));
        }),
        // Where in the program it was made, if stacks were recorded.
        TableColumn::word("call_site", |row, cell| {
            cell.maybe(row.trace.call_site(row.call).map(|it| it.text()));
        }),
        // Processor time of the thread until the call began, after a pause.
        TableColumn::number("cpu_ns", |row, cell| {
            cell.maybe(row.call.cpu.map(CpuTime::used_ns));
        }),
        TableColumn::number("cpu_over_ns", |row, cell| {
            cell.maybe(row.call.cpu.map(CpuTime::over_ns));
        }),
        TableColumn::number("cpu_blocks", |row, cell| {
            cell.maybe(row.call.cpu.map(CpuTime::blocks));
        }),
    ]
}

pub(super) fn write(source: &ExportSource<'_>, writer: &mut impl TableWriter) -> io::Result<()> {
    let trace = source.trace;
    let all = trace.calls().iter().zip((0..).map(CallId));
    let chosen = all.filter(|(_, id)| source.owns(Node::Call(*id)));
    let rows = chosen.map(|(call, id)| ExportedCall {
        source,
        trace,
        id,
        call,
    });
    write_table(writer, &columns(), rows)
}
