//! `activities`: one row per entry of the hardware's log.

use std::collections::HashMap;
use std::io;

use ascend_trace_format::record::ActivityKind;
use ascend_trace_format::time::DeviceNs;
use ascend_trace_recording::rows::ActivityRow;
use ascend_trace_recording::{HostTime, ProcessId, Trace};

use super::{TableColumn, TableWriter, write_table};
use crate::ExportSource;

pub(super) struct ExportedActivity<'s> {
    trace: &'s Trace,
    process: Option<ProcessId>,
    /// Number of the stream of its task.
    task_stream: Option<i64>,
    entry: &'s ActivityRow,
}

impl<'s> ExportedActivity<'s> {
    fn name(&self) -> Option<&'s str> {
        self.trace.entry_name(self.process?, self.entry)
    }

    fn host(&self, log_ns: i64) -> Option<HostTime> {
        let process = self.process?;
        let at = DeviceNs::new(self.time(log_ns)?);
        self.trace.log_on_host(process, self.entry.device, at)
    }

    fn error(&self) -> Option<i64> {
        let ends = [self.entry.begin_ns, self.entry.end_ns].map(|ns| self.host(ns));
        ends.into_iter().flatten().map(|it| it.error_ns).max()
    }

    fn time(&self, ns: i64) -> Option<i64> {
        Some(ns).filter(|_| self.entry.begin_ns != 0)
    }
}

pub(super) fn columns<'s>() -> Vec<TableColumn<'s, ExportedActivity<'s>>> {
    vec![
        // Number of the process: several processes may have the same pid.
        TableColumn::number("process", |row, cell| cell.put(row.entry.process)),
        TableColumn::number("pid", |row, cell| {
            cell.maybe(row.process.map(|id| row.trace.process(id).pid));
        }),
        TableColumn::unsigned("rank", |row, cell| {
            cell.maybe(
                row.process
                    .and_then(|id| row.trace.process(id).rank_number()),
            )
        }),
        TableColumn::number("device", |row, cell| cell.put(row.entry.device)),
        // Of graphs' own streams as well, which the program does not know.
        TableColumn::number("stream_id", |row, cell| cell.put(row.entry.acl_id)),
        // The stream of its task, or of the replay; empty without a certain task.
        TableColumn::number("task_stream_id", |row, cell| cell.maybe(row.task_stream)),
        // The task's `sequence`, or that of the replay; empty without a certain task.
        TableColumn::number("sequence", |row, cell| cell.maybe(row.entry.sequence)),
        // How many parts of the task, or of its node, came before it.
        TableColumn::number("part", |row, cell| cell.put(row.entry.part)),
        // Number of the node in the graph that is replayed, 0 for one of several alike; empty outside of replays.
        TableColumn::number("node", |row, cell| cell.maybe(row.entry.node)),
        // kernel or communication.
        TableColumn::word("kind", |row, cell| {
            cell.maybe(ActivityKind::from_code(row.entry.kind).map(ActivityKind::name));
        }),
        TableColumn::text("name", |row, cell| cell.maybe(row.name())),
        // Number of the call that submitted it, as msPTI counts calls; 0 when unknown.
        TableColumn::unsigned("correlation", |row, cell| cell.put(row.entry.correlation)),
        // On the host's clock, and how far off that may be; empty where tasks have times of events.
        TableColumn::number("begin_ns", |row, cell| {
            cell.maybe(row.host(row.entry.begin_ns).map(|it| it.at.ns()));
        }),
        TableColumn::number("end_ns", |row, cell| {
            cell.maybe(row.host(row.entry.end_ns).map(|it| it.at.ns()));
        }),
        TableColumn::number("err_ns", |row, cell| cell.maybe(row.error())),
        // On the log's clock; empty when the log has no times of it.
        TableColumn::number("log_begin_ns", |row, cell| {
            cell.maybe(row.time(row.entry.begin_ns));
        }),
        TableColumn::number("log_end_ns", |row, cell| {
            cell.maybe(row.time(row.entry.end_ns));
        }),
    ]
}

/// Writes the entries from a number on. Returns the number of the next one.
pub(super) fn write(
    source: &ExportSource<'_>,
    from: u64,
    writer: &mut impl TableWriter,
) -> io::Result<u64> {
    let trace = source.trace;
    // Tasks and calls select the exported part, and entries may have neither.
    if !source.selection.has_whole_processes() {
        return Ok(from);
    }
    let entries = trace.entries(from);
    let next = entries.last().map_or(from, |(number, _)| number + 1);
    let streams = trace.streams().iter();
    let streams: HashMap<(ProcessId, u32), i64> = streams
        .map(|stream| ((stream.process, stream.serial), stream.number()))
        .collect();
    let rows = entries.into_iter().filter_map(|(_, entry)| {
        let process = trace.process_numbered(entry.process);
        if process.is_some_and(|id| !source.selection.process(id)) {
            return None;
        }
        let stream = process.zip(entry.stream);
        Some(ExportedActivity {
            trace,
            process,
            task_stream: stream.and_then(|stream| streams.get(&stream).copied()),
            entry,
        })
    });
    write_table(writer, &columns(), rows)?;
    Ok(next)
}
