//! `critical`: one row per piece of the critical path, from its begin to its end, where that was asked for.

use std::io;

use ascend_trace_analysis::critical::Segment;
use ascend_trace_analysis::stats::StepStats;

use super::{TableColumn, TableWriter, declared, write_table};
use crate::ExportSource;

/// A piece, with the recording's facts about its process.
pub(super) struct CriticalRow<'s> {
    piece: Segment,
    pid: Option<u32>,
    rank: Option<u64>,
    step: Option<&'s str>,
}

pub(super) fn columns<'s>() -> Vec<TableColumn<'s, CriticalRow<'s>>> {
    let mut columns = declared(|row: &CriticalRow<'s>| &row.piece);
    let of_process = [
        TableColumn::number("pid", |row: &CriticalRow<'s>, cell| cell.maybe(row.pid)),
        TableColumn::unsigned("rank", |row: &CriticalRow<'s>, cell| cell.maybe(row.rank)),
    ];
    columns.splice(1..1, of_process);
    let step = TableColumn::word("step", |row: &CriticalRow<'s>, cell| cell.maybe(row.step));
    columns.insert(columns.len() - 1, step);
    columns
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
