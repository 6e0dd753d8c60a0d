//! `findings`: one row per finding of a check, the worst first.

use std::io;

use ascend_trace_analysis::checks::Finding;

use super::{Column, TableWriter, write_table};

pub(super) fn columns() -> Vec<Column<'static, Finding>> {
    vec![
        // The names of docs/CHECKS.md.
        Column::word("check", |row, cell| cell.put(row.check)),
        Column::word("severity", |row, cell| cell.put(row.severity.name())),
        // Number of the process: several processes may have the same pid.
        Column::number("process", |row, cell| cell.put(row.process)),
        Column::number("pid", |row, cell| cell.put(row.pid)),
        Column::number("tid", |row, cell| cell.put(row.tid)),
        // How many calls it was.
        Column::number("count", |row, cell| cell.put(row.count as usize)),
        // When the first of them began, and when the last one ended.
        Column::number("begin_ns", |row, cell| cell.put(row.begin_ns)),
        Column::number("end_ns", |row, cell| cell.put(row.end_ns)),
        Column::number("total_ns", |row, cell| cell.put(row.total_ns)),
        // The first of the calls: its number, as in calls, and its function.
        Column::number("call", |row, cell| cell.put(row.site.call)),
        Column::word("name", |row, cell| cell.passing(&row.site.name)),
        Column::text("what", |row, cell| cell.passing(&row.what)),
        Column::text("advice", |row, cell| cell.passing(&row.advice)),
        // Where in the program the first of the calls was made, if stacks were recorded.
        Column::word("call_site", |row, cell| {
            cell.maybe(row.site.at.as_ref().map(|it| it.call_site.clone()));
        }),
    ]
}

pub(super) fn write(found: Vec<Finding>, writer: &mut impl TableWriter) -> io::Result<()> {
    write_table(writer, &columns(), found.into_iter())
}
