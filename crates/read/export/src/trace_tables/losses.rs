//! `losses`: lost records, by thread, time and kind.

use std::io;

use ascend_trace_recording::{Loss, ProcessId, Thread, Trace};

use super::{TableColumn, TableWriter, write_table};
use crate::ExportSource;

pub(super) struct LossRow<'s> {
    trace: &'s Trace,
    thread: Option<&'s Thread>,
    at: i64,
    /// Kind and number of the lost records.
    lost: (&'static str, u64),
}

impl LossRow<'_> {
    fn process(&self) -> Option<ProcessId> {
        self.thread.map(|it| it.process)
    }
}

pub(super) fn columns<'s>() -> Vec<TableColumn<'static, LossRow<'s>>> {
    vec![
        // Empty where a thread had no channel, and so left no trace.
        TableColumn::number("process", |row, cell| {
            cell.maybe(row.process().map(|id| row.trace.process(id).serial));
        }),
        TableColumn::number("pid", |row, cell| {
            cell.maybe(row.process().map(|id| row.trace.process(id).pid));
        }),
        TableColumn::unsigned("rank", |row, cell| {
            let rank = row.process().map(|id| row.trace.process(id).rank_number());
            cell.maybe(rank.flatten());
        }),
        TableColumn::number("tid", |row, cell| cell.maybe(row.thread.map(|it| it.tid))),
        // By then it had happened.
        TableColumn::number("at_ns", |row, cell| cell.put(row.at)),
        // calls, times or others.
        TableColumn::word("kind", |row, cell| cell.put(row.lost.0)),
        TableColumn::unsigned("count", |row, cell| cell.put(row.lost.1)),
    ]
}

pub(super) fn write(source: &ExportSource<'_>, writer: &mut impl TableWriter) -> io::Result<()> {
    let trace = source.trace;
    let rows = trace.lost().iter().filter_map(|loss| {
        let thread = loss.thread.map(|id| trace.thread(id));
        let is_wanted = match loss.thread {
            Some(id) => source.selection.thread(id),
            None => source.selection.has_whole_processes(),
        };
        is_wanted.then(|| rows_of(trace, thread, loss))
    });
    write_table(writer, &columns(), rows.flatten())
}

fn rows_of<'s>(
    trace: &'s Trace,
    thread: Option<&'s Thread>,
    loss: &Loss,
) -> impl Iterator<Item = LossRow<'s>> {
    let at = loss.at;
    let kinds = [
        ("calls", loss.calls),
        ("times", loss.times),
        ("others", loss.others),
    ];
    let there = kinds.into_iter().filter(|(_, count)| *count > 0);
    there.map(move |lost| LossRow {
        trace,
        thread,
        at,
        lost,
    })
}
