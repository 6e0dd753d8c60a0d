//! `findings`: one row per finding of a check, the worst first.

use std::io;

use ascend_trace_analysis::checks::Finding;

use super::{TableColumn, TableWriter, write_table};

pub(super) fn columns() -> Vec<TableColumn<'static, Finding>> {
    vec![
        // The names of docs/CHECKS.md.
        TableColumn::word("check", |row, cell| cell.put(row.check)),
        TableColumn::word("severity", |row, cell| cell.put(row.severity.name())),
        // Number of the process: several processes may have the same pid.
        TableColumn::number("process", |row, cell| cell.put(row.process)),
        TableColumn::number("pid", |row, cell| cell.put(row.pid)),
        TableColumn::number("tid", |row, cell| cell.put(row.tid)),
        // How many calls it was.
        TableColumn::number("count", |row, cell| cell.put(row.count as usize)),
        // When the first of them began, and when the last one ended.
        TableColumn::number("begin_ns", |row, cell| cell.put(row.begin_ns)),
        TableColumn::number("end_ns", |row, cell| cell.put(row.end_ns)),
        TableColumn::number("total_ns", |row, cell| cell.put(row.total_ns)),
        // The first of the calls: its number, as in calls, and its function.
        TableColumn::number("call", |row, cell| cell.put(row.site.call)),
        TableColumn::word("name", |row, cell| cell.passing(&row.site.name)),
        TableColumn::text("what", |row, cell| cell.passing(&row.what)),
        TableColumn::text("advice", |row, cell| cell.passing(&row.advice)),
        // Where in the program the first of the calls was made, if stacks were recorded.
        TableColumn::word("call_site", |row, cell| {
            cell.maybe(row.site.at.as_ref().map(|it| it.call_site.clone()));
        }),
    ]
}

pub(super) fn write(found: Vec<Finding>, writer: &mut impl TableWriter) -> io::Result<()> {
    write_table(writer, &columns(), found.into_iter())
}
