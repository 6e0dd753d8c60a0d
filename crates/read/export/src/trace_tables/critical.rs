//! `critical`: one row per piece of the critical path, from its begin to its end, where that was asked for.

use std::io;

use ascend_trace_analysis::critical::Segment;
use ascend_trace_analysis::stats::StepStats;

use super::{TableColumn, TableWriter, write_table};
use crate::ExportSource;

/// A piece, with the recording's facts about its process.
pub(super) struct CriticalRow<'s> {
    piece: Segment,
    pid: Option<u32>,
    rank: Option<u64>,
    step: Option<&'s str>,
}

pub(super) fn columns<'s>() -> Vec<TableColumn<'s, CriticalRow<'s>>> {
    vec![
        // Number of the process: several processes may have the same pid.
        TableColumn::number("process", |row, cell| cell.put(row.piece.process)),
        TableColumn::number("pid", |row, cell| cell.maybe(row.pid)),
        TableColumn::unsigned("rank", |row, cell| cell.maybe(row.rank)),
        TableColumn::number("tid", |row, cell| cell.maybe(row.piece.tid)),
        TableColumn::number("device", |row, cell| cell.maybe(row.piece.device)),
        TableColumn::number("stream_id", |row, cell| cell.maybe(row.piece.stream_id)),
        // The words of docs/ANALYSIS.md.
        TableColumn::word("kind", |row, cell| cell.put(row.piece.kind.name())),
        TableColumn::word("name", |row, cell| cell.passing(&row.piece.name)),
        TableColumn::number("begin_ns", |row, cell| cell.put(row.piece.begin_ns)),
        TableColumn::number("end_ns", |row, cell| cell.put(row.piece.end_ns)),
        TableColumn::number("length_ns", |row, cell| cell.put(row.piece.length())),
        TableColumn::number("tie", |row, cell| cell.put(u32::from(row.piece.tie))),
        TableColumn::word("step", |row, cell| cell.maybe(row.step)),
        // By how much its duration may be off.
        TableColumn::number("error_ns", |row, cell| cell.put(row.piece.error_ns)),
    ]
}

pub(super) fn write(source: &ExportSource<'_>, writer: &mut impl TableWriter) -> io::Result<()> {
    let trace = source.trace;
    let steps = source.steps.as_deref().unwrap_or_default();
    let rows = source.critical.iter().map(|piece| {
        let process = trace.process_numbered(piece.process);
        let process = process.map(|id| trace.process(id));
        CriticalRow {
            pid: process.map(|it| it.pid),
            rank: process.and_then(|it| it.rank_number()),
            step: step(steps, &piece).map(|it| it.name.as_str()),
            piece,
        }
    });
    write_table(writer, &columns(), rows)
}

/// The step of its process in which a piece begins. Steps come by begin, and those of a process do not overlap.
fn step<'s>(steps: &'s [StepStats], piece: &Segment) -> Option<&'s StepStats> {
    let begun = steps.partition_point(|it| it.begin_ns <= piece.begin_ns);
    let mut before = steps[..begun].iter().rev();
    let last = before.find(|it| it.process == piece.process)?;
    (piece.begin_ns < last.begin_ns + last.length_ns).then_some(last)
}
