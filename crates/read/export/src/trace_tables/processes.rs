//! `processes`: one row per process, with what its recording says of itself.

use std::collections::BTreeSet;
use std::io;

use ascend_trace_analysis::align::Recorded;
use ascend_trace_recording::rows::SessionRow;
use ascend_trace_recording::{Process, ProcessId, Trace};

use super::{TableColumn, TableWriter, write_table};
use crate::ExportSource;

pub(super) struct ProcessRow<'s> {
    trace: &'s Trace,
    id: ProcessId,
    process: &'s Process,
    session: &'s SessionRow,
    /// Begin and end of the recording, if it is written as a whole.
    span: Option<(i64, i64)>,
    lost_calls: u64,
}

impl ProcessRow<'_> {
    /// The devices on which it had a context.
    fn devices(&self) -> String {
        let own = self.trace.contexts().iter();
        let own = own.filter(|it| it.process == self.id && (it.handle != 0 || it.is_default));
        let devices: BTreeSet<u32> = own.map(|it| it.device).collect();
        let devices: Vec<String> = devices.iter().map(u32::to_string).collect();
        devices.join(" ")
    }

    fn host(&self) -> &str {
        match self.process.host.as_str() {
            "" => &self.session.host,
            host => host,
        }
    }
}

pub(super) fn columns<'s>() -> Vec<TableColumn<'static, ProcessRow<'s>>> {
    vec![
        TableColumn::number("process", |row, cell| cell.put(row.process.serial)),
        TableColumn::number("pid", |row, cell| cell.put(row.process.pid)),
        TableColumn::number("parent_pid", |row, cell| cell.put(row.process.parent_pid)),
        TableColumn::unsigned("rank", |row, cell| cell.maybe(row.process.rank_number())),
        TableColumn::text("name", |row, cell| cell.passing(&row.process.name)),
        TableColumn::text("command", |row, cell| {
            let words: Vec<&str> = row.process.command().collect();
            cell.put(words.join(" "));
        }),
        TableColumn::text("host_name", |row, cell| cell.passing(row.host())),
        TableColumn::text("boot_id", |row, cell| cell.passing(&row.session.boot_id)),
        TableColumn::text("devices", |row, cell| cell.put(row.devices())),
        TableColumn::number("begin_ns", |row, cell| cell.put(row.process.begin_ns)),
        TableColumn::number("end_ns", |row, cell| cell.maybe(row.process.end_ns)),
        // Of the whole recording: begin, end, and the time of day at a time of the clock.
        TableColumn::number("recorded_begin_ns", |row, cell| {
            cell.maybe(row.span.map(|it| it.0));
        }),
        TableColumn::number("recorded_end_ns", |row, cell| {
            cell.maybe(row.span.map(|it| it.1));
        }),
        TableColumn::number("start_ns", |row, cell| cell.put(row.session.start_ns)),
        TableColumn::number("start_realtime_ns", |row, cell| {
            cell.put(row.session.start_realtime_ns);
        }),
        TableColumn::unsigned("lost_calls", |row, cell| cell.put(row.lost_calls)),
    ]
}

pub(super) fn write(
    source: &ExportSource<'_>,
    recorded: &Recorded,
    writer: &mut impl TableWriter,
) -> io::Result<()> {
    let trace = source.trace;
    let span = Some(recorded.span).filter(|_| source.selection.has_whole_processes());
    let all = (0..).map(ProcessId).zip(trace.processes());
    let wanted = all.filter(|(id, _)| source.selection.process(*id));
    let rows = wanted.map(|(id, process)| {
        let lost = trace.lost().iter();
        let own = lost.filter(|it| it.thread.is_none_or(|it| trace.thread(it).process == id));
        ProcessRow {
            trace,
            id,
            process,
            session: trace.session(),
            span,
            lost_calls: own.map(|it| it.calls).sum(),
        }
    });
    write_table(writer, &columns(), rows)
}
