//! `stalls`: one row per stall, by begin time.

use std::io;

use ascend_trace_analysis::stats::StallStats;

use super::{TableColumn, TableWriter, write_table};
use crate::ExportSource;

pub(super) fn columns() -> Vec<TableColumn<'static, StallStats>> {
    vec![
        // The words of docs/STALLS.md.
        TableColumn::word("cause", |row, cell| cell.put(row.cause)),
        // Number of the process: several processes may have the same pid.
        TableColumn::number("process", |row, cell| cell.put(row.process)),
        TableColumn::number("pid", |row, cell| cell.put(row.pid)),
        // The lane that stalled: a thread, or a stream of a device.
        TableColumn::number("tid", |row, cell| cell.maybe(row.tid)),
        TableColumn::number("device", |row, cell| cell.maybe(row.device)),
        TableColumn::number("stream_id", |row, cell| cell.maybe(row.stream_id)),
        TableColumn::number("begin_ns", |row, cell| cell.put(row.begin_ns)),
        TableColumn::number("end_ns", |row, cell| cell.put(row.end_ns)),
        TableColumn::number("length_ns", |row, cell| cell.put(row.length_ns)),
        // Error bar of the end of a call's waiting, if the stall begins or ends there.
        TableColumn::number("split_err_ns", |row, cell| cell.maybe(row.split_err_ns)),
        // The task or call that could not continue.
        TableColumn::word("name", |row, cell| cell.passing(&row.name)),
        // The target of the wait, if known.
        TableColumn::number("culprit_process", |row, cell| {
            cell.maybe(row.culprit_process)
        }),
        TableColumn::unsigned("culprit_rank", |row, cell| cell.maybe(row.culprit_rank)),
        TableColumn::number("culprit_device", |row, cell| cell.maybe(row.culprit_device)),
        TableColumn::number("culprit_stream_id", |row, cell| {
            cell.maybe(row.culprit_stream_id)
        }),
        TableColumn::word("culprit_task", |row, cell| {
            row.culprit_task.iter().for_each(|text| cell.passing(text));
        }),
        TableColumn::word("culprit_call", |row, cell| {
            row.culprit_call.iter().for_each(|text| cell.passing(text));
        }),
        TableColumn::number("event_serial", |row, cell| cell.maybe(row.event)),
        // Numbers of calls, as in calls: the one that submitted the held-up task or that blocked, and
        // the culprit.
        TableColumn::number("call", |row, cell| cell.put(row.site.call)),
        TableColumn::number("blamed_call", |row, cell| {
            cell.maybe(row.culprit_site.as_ref().map(|site| site.call))
        }),
        // The waits from this one to the root, and what that is.
        TableColumn::text("chain", |row, cell| cell.put(row.chain.join("; "))),
        TableColumn::word("root", |row, cell| {
            row.root.iter().for_each(|text| cell.passing(text))
        }),
        // Activity of the thread that submitted the next task: function, calls, nanoseconds.
        TableColumn::text("meanwhile", |row, cell| {
            for (place, it) in row.meanwhile.iter().enumerate() {
                let gap = if place > 0 { "; " } else { "" };
                cell.add(format_args!(
                    "{gap}{} {} {}",
                    it.name, it.count, it.total_ns
                ));
            }
        }),
        // Why the cause is not known, or empty.
        TableColumn::text("why", |row, cell| {
            row.why.iter().for_each(|text| cell.passing(text))
        }),
        // Where the threads that plan and submit were late: the planning thread, the range that it was in, and how
        // long it had not planned, planned, had planned and not submitted, and had submitted.
        TableColumn::number("late_tid", |row, cell| {
            cell.maybe(row.late.as_ref().map(|late| late.tid));
        }),
        TableColumn::text("late_range", |row, cell| {
            let range = row.late.iter().filter_map(|late| late.range.as_ref());
            range.for_each(|text| cell.passing(text));
        }),
        TableColumn::number("python_ns", |row, cell| {
            cell.maybe(row.late.as_ref().map(|late| late.python_ns));
        }),
        TableColumn::number("planning_ns", |row, cell| {
            cell.maybe(row.late.as_ref().map(|late| late.planning_ns));
        }),
        TableColumn::number("queue_ns", |row, cell| {
            cell.maybe(row.late.as_ref().map(|late| late.queue_ns));
        }),
        TableColumn::number("launch_ns", |row, cell| {
            cell.maybe(row.late.as_ref().map(|late| late.launch_ns));
        }),
        // By how much an idle time may be off.
        TableColumn::number("error_ns", |row, cell| cell.maybe(row.error_ns)),
    ]
}

pub(super) fn write(source: &ExportSource<'_>, writer: &mut impl TableWriter) -> io::Result<()> {
    let (trace, dependencies) = (source.trace, &source.dependencies);
    let stalls = source.stalls.sorted();
    let rows = stalls
        .into_iter()
        .filter(|stall| source.owns_stall(stall))
        .map(|stall| {
            StallStats::of(trace, dependencies, &source.stalls, stall).with_late(
                trace,
                source.places(),
                stall,
            )
        });
    write_table(writer, &columns(), rows)
}
