//! `stalls`: one row per stall, by begin time.

use std::io;

use ascend_trace_analysis::stats::StallStats;

use super::{Column, TableWriter, write_table};
use crate::Source;

pub(super) fn columns() -> Vec<Column<'static, StallStats>> {
    vec![
        // The words of docs/STALLS.md.
        Column::word("cause", |row, cell| cell.put(row.cause)),
        // Number of the process: several processes may have the same pid.
        Column::number("process", |row, cell| cell.put(row.process)),
        Column::number("pid", |row, cell| cell.put(row.pid)),
        // The lane that stalled: a thread, or a stream of a device.
        Column::number("tid", |row, cell| cell.maybe(row.tid)),
        Column::number("device", |row, cell| cell.maybe(row.device)),
        Column::number("stream_id", |row, cell| cell.maybe(row.stream_id)),
        Column::number("begin_ns", |row, cell| cell.put(row.begin_ns)),
        Column::number("end_ns", |row, cell| cell.put(row.end_ns)),
        Column::number("length_ns", |row, cell| cell.put(row.length_ns)),
        // Error bar of the end of a call's waiting, if the stall begins or ends there.
        Column::number("split_err_ns", |row, cell| cell.maybe(row.split_err_ns)),
        // The task or call that could not continue.
        Column::word("name", |row, cell| cell.passing(&row.name)),
        // The target of the wait, if known.
        Column::number("culprit_process", |row, cell| {
            cell.maybe(row.culprit_process)
        }),
        Column::unsigned("culprit_rank", |row, cell| cell.maybe(row.culprit_rank)),
        Column::number("culprit_device", |row, cell| cell.maybe(row.culprit_device)),
        Column::number("culprit_stream_id", |row, cell| {
            cell.maybe(row.culprit_stream_id)
        }),
        Column::word("culprit_task", |row, cell| {
            row.culprit_task.iter().for_each(|text| cell.passing(text));
        }),
        Column::word("culprit_call", |row, cell| {
            row.culprit_call.iter().for_each(|text| cell.passing(text));
        }),
        Column::number("event_serial", |row, cell| cell.maybe(row.event)),
        // Numbers of calls, as in calls: the one that submitted the held-up task or that blocked, and
        // the culprit.
        Column::number("call", |row, cell| cell.put(row.site.call)),
        Column::number("blamed_call", |row, cell| {
            cell.maybe(row.culprit_site.as_ref().map(|site| site.call))
        }),
        // The waits from this one to the root, and what that is.
        Column::text("chain", |row, cell| cell.put(row.chain.join("; "))),
        Column::word("root", |row, cell| {
            row.root.iter().for_each(|text| cell.passing(text))
        }),
        // Activity of the thread that submitted the next task: function, calls, nanoseconds.
        Column::text("meanwhile", |row, cell| {
            for (place, it) in row.meanwhile.iter().enumerate() {
                let gap = if place > 0 { "; " } else { "" };
                cell.add(format_args!(
                    "{gap}{} {} {}",
                    it.name, it.count, it.total_ns
                ));
            }
        }),
        // Why the cause is not known, or empty.
        Column::text("why", |row, cell| {
            row.why.iter().for_each(|text| cell.passing(text))
        }),
        // Where the threads that plan and submit were late: the planning thread, the range that it was in, and how
        // long it had not planned, planned, had planned and not submitted, and had submitted.
        Column::number("late_tid", |row, cell| {
            cell.maybe(row.late.as_ref().map(|late| late.tid));
        }),
        Column::text("late_range", |row, cell| {
            let range = row.late.iter().filter_map(|late| late.range.as_ref());
            range.for_each(|text| cell.passing(text));
        }),
        Column::number("python_ns", |row, cell| {
            cell.maybe(row.late.as_ref().map(|late| late.python_ns));
        }),
        Column::number("planning_ns", |row, cell| {
            cell.maybe(row.late.as_ref().map(|late| late.planning_ns));
        }),
        Column::number("queue_ns", |row, cell| {
            cell.maybe(row.late.as_ref().map(|late| late.queue_ns));
        }),
        Column::number("launch_ns", |row, cell| {
            cell.maybe(row.late.as_ref().map(|late| late.launch_ns));
        }),
        // By how much an idle time may be off.
        Column::number("error_ns", |row, cell| cell.maybe(row.error_ns)),
    ]
}

pub(super) fn write(source: &Source<'_>, writer: &mut impl TableWriter) -> io::Result<()> {
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
