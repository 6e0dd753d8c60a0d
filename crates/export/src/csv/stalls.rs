//! `stalls.csv`: one row per stall, by begin time.

use std::io::{self, Write};

use ascend_trace_analysis::stats::StallStats as Row;

use super::{Column, write_table};
use crate::Source;

fn columns() -> Vec<Column<Row>> {
    vec![
        // event-wait, host-late, host-sync, host-copy or unknown.
        ("cause", |row, cell| cell.put(row.cause)),
        ("pid", |row, cell| cell.put(row.pid)),
        // The lane that stalled: a thread, or a stream of a device.
        ("tid", |row, cell| cell.maybe(row.tid)),
        ("device", |row, cell| cell.maybe(row.device)),
        ("stream_id", |row, cell| cell.maybe(row.stream_id)),
        ("begin_ns", |row, cell| cell.put(row.begin_ns)),
        ("end_ns", |row, cell| cell.put(row.end_ns)),
        ("length_ns", |row, cell| cell.put(row.length_ns)),
        // What could not go on: a task or a call.
        ("name", |row, cell| cell.put(&row.name)),
        // What was waited for, as far as it is known.
        ("culprit_device", |row, cell| cell.maybe(row.culprit_device)),
        ("culprit_stream_id", |row, cell| {
            cell.maybe(row.culprit_stream_id)
        }),
        ("culprit_task", |row, cell| {
            cell.maybe(row.culprit_task.as_ref())
        }),
        ("culprit_call", |row, cell| {
            cell.maybe(row.culprit_call.as_ref())
        }),
        ("event_serial", |row, cell| cell.maybe(row.event)),
    ]
}

pub(super) fn write(source: &Source<'_>, file: &mut dyn Write) -> io::Result<()> {
    let (trace, dependencies) = (source.trace, &source.dependencies);
    let stalls = source.stalls.sorted();
    let rows = stalls
        .into_iter()
        .map(|stall| Row::of(trace, dependencies, stall));
    write_table(file, &columns(), rows)
}
