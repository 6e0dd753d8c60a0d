//! `collectives`: one row per collective that ran, by communicator and number: what clocks of hosts are aligned by.

use std::io;

use ascend_trace_analysis::align::{Comm, Lane, Participant, Recorded, Round};

use super::{TableColumn, TableWriter, write_table};
use crate::ExportSource;

/// A collective, or a communicator without any.
pub(super) struct CollectiveRow<'r> {
    participant: &'r Participant,
    pid: Option<u32>,
    /// Counts the communicators of the process from 0.
    ordinal: usize,
    comm: &'r Comm,
    ran: Option<(&'r Lane, &'r Round)>,
}

impl<'r> CollectiveRow<'r> {
    fn round(&self) -> Option<&'r Round> {
        self.ran.map(|(_, round)| round)
    }

    fn peer(&self) -> Option<(u64, u64)> {
        self.ran.and_then(|(lane, _)| lane.peers)
    }
}

pub(super) fn columns<'r>() -> Vec<TableColumn<'static, CollectiveRow<'r>>> {
    vec![
        // Number of the process: several processes may have the same pid.
        TableColumn::number("process", |row, cell| cell.put(row.participant.process)),
        TableColumn::number("pid", |row, cell| cell.maybe(row.pid)),
        TableColumn::unsigned("rank", |row, cell| cell.maybe(row.participant.rank)),
        TableColumn::number("communicator", |row, cell| cell.put(row.ordinal)),
        TableColumn::unsigned("communicator_rank", |row, cell| {
            cell.maybe(Some(row.comm.rank).filter(|it| *it != u64::MAX));
        }),
        TableColumn::unsigned("communicator_size", |row, cell| cell.put(row.comm.size)),
        // The same at all ranks of a communicator, and at no other one's.
        TableColumn::word("communicator_identity", |row, cell| {
            cell.passing(&row.comm.identity);
        }),
        TableColumn::number("made_begin_ns", |row, cell| cell.put(row.comm.made.0)),
        TableColumn::number("made_end_ns", |row, cell| cell.put(row.comm.made.1)),
        // Empty for messages, because their two ends have different functions.
        TableColumn::word("name", |row, cell| {
            row.ran
                .iter()
                .for_each(|(lane, _)| cell.passing(&lane.function));
        }),
        // The ranks that a message goes from and to.
        TableColumn::unsigned("from_rank", |row, cell| {
            cell.maybe(row.peer().map(|it| it.0))
        }),
        TableColumn::unsigned("to_rank", |row, cell| cell.maybe(row.peer().map(|it| it.1))),
        // Counts from 0, for each name or pair of ranks.
        TableColumn::number("number", |row, cell| {
            cell.maybe(row.round().map(|it| it.number))
        }),
        TableColumn::unsigned("bytes", |row, cell| {
            cell.maybe(row.round().and_then(|it| it.bytes))
        }),
        // Equal numbers mean the same number of elements of the same type.
        TableColumn::unsigned("shape", |row, cell| {
            cell.maybe(row.round().map(|it| it.shape))
        }),
        // Whether others need its data, and it that of others.
        TableColumn::word("needs", |row, cell| {
            cell.maybe(row.round().map(|it| Round::needs(it)));
        }),
        TableColumn::number("begin_ns", |row, cell| {
            cell.maybe(row.round().map(|it| it.begin))
        }),
        TableColumn::number("end_ns", |row, cell| {
            cell.maybe(row.round().map(|it| it.end))
        }),
        TableColumn::number("err_ns", |row, cell| {
            cell.maybe(row.round().map(|it| it.error))
        }),
    ]
}

pub(super) fn write(
    source: &ExportSource<'_>,
    recorded: &Recorded,
    writer: &mut impl TableWriter,
) -> io::Result<()> {
    // Calls and tasks select the exported part: their numbers would have no meaning.
    if !source.selection.has_whole_processes() {
        return Ok(());
    }
    let trace = source.trace;
    for participant in &recorded.participants {
        let process = trace.process_numbered(participant.process);
        if process.is_some_and(|id| !source.selection.process(id)) {
            continue;
        }
        let pid = process.map(|id| trace.process(id).pid);
        for (ordinal, comm) in participant.comms.iter().enumerate() {
            let row = |ran| CollectiveRow {
                participant,
                pid,
                ordinal,
                comm,
                ran,
            };
            let all = comm.lanes.iter();
            let all = all.flat_map(|lane| lane.rounds.iter().map(move |it| (lane, it)));
            let none = all.clone().next().is_none().then_some(None);
            write_table(
                writer,
                &columns(),
                none.into_iter().chain(all.map(Some)).map(row),
            )?;
        }
    }
    Ok(())
}
