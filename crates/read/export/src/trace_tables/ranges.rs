//! `ranges`: one row per range or mark of the program or of the hook inside Python.

use std::io;

use ascend_trace_recording::{Range, Trace};

use super::{TableColumn, TableWriter, write_table};
use crate::ExportSource;

pub(super) struct ExportedRange<'s> {
    trace: &'s Trace,
    range: &'s Range,
    /// How many ranges of its thread are around it.
    depth: usize,
}

pub(super) fn columns<'s>() -> Vec<TableColumn<'s, ExportedRange<'s>>> {
    vec![
        // Number of the process: several processes may have the same pid.
        TableColumn::number("process", |row, cell| {
            let process = row.trace.thread(row.range.thread).process;
            cell.put(row.trace.process(process).serial);
        }),
        TableColumn::number("pid", |row, cell| {
            let process = row.trace.thread(row.range.thread).process;
            cell.put(row.trace.process(process).pid);
        }),
        TableColumn::unsigned("rank", |row, cell| {
            cell.maybe({
                let process = row.trace.thread(row.range.thread).process;
                row.trace.process(process).rank_number()
            })
        }),
        TableColumn::number("tid", |row, cell| {
            cell.put(row.trace.thread(row.range.thread).tid);
        }),
        // Kind from the hook, or the domain from the program.
        TableColumn::word("kind", |row, cell| {
            cell.maybe(row.trace.domain(row.range));
        }),
        TableColumn::word("name", |row, cell| cell.put(row.range.name.as_str())),
        TableColumn::number("begin_ns", |row, cell| cell.put(row.range.begin)),
        TableColumn::number("end_ns", |row, cell| cell.put(row.range.end)),
        TableColumn::number("depth", |row, cell| cell.put(row.depth)),
        // A JSON object: argument name to value.
        TableColumn::text("args", |row, cell| {
            if row.range.message.is_some() {
                cell.object(|json| {
                    for (name, value) in row.range.arguments() {
                        json.key(&name).string(&value);
                    }
                });
            }
        }),
    ]
}

pub(super) fn write(source: &ExportSource<'_>, writer: &mut impl TableWriter) -> io::Result<()> {
    let trace = source.trace;
    let nesting = source.places().nesting();
    let ranges = trace.ranges().iter();
    let mut ranges: Vec<&Range> = ranges
        .filter(|it| source.selection.thread(it.thread))
        .filter(|it| source.selection.span(it.begin, it.end))
        .collect();
    ranges.sort_by_key(|it| (it.begin, it.thread, std::cmp::Reverse(it.end)));
    let rows = ranges.into_iter().map(|range| {
        let around = nesting.around(trace, range.thread, range.begin);
        let mut outer = around.filter(|it| !std::ptr::eq(*it, range));
        // Of those that begin together, the longer ones are around.
        let depth = outer
            .by_ref()
            .filter(|it| it.begin < range.begin || it.begin == range.begin && it.end > range.end);
        ExportedRange {
            trace,
            range,
            depth: depth.count(),
        }
    });
    write_table(writer, &columns(), rows)
}
