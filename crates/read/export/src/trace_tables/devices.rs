//! `devices`: one row per device of a process, with its card.

use std::collections::BTreeSet;
use std::io;

use ascend_trace_recording::{Card, Process, ProcessId};

use super::{TableColumn, TableWriter, write_table};
use crate::ExportSource;

pub(super) struct DeviceRow<'s> {
    process: &'s Process,
    device: u32,
    card: Card,
}

pub(super) fn columns<'s>() -> Vec<TableColumn<'static, DeviceRow<'s>>> {
    vec![
        TableColumn::number("process", |row, cell| cell.put(row.process.serial)),
        TableColumn::number("pid", |row, cell| cell.put(row.process.pid)),
        TableColumn::unsigned("rank", |row, cell| cell.maybe(row.process.rank_number())),
        TableColumn::number("device", |row, cell| cell.put(row.device)),
        TableColumn::unsigned("card", |row, cell| {
            cell.maybe(row.card.number.map(u64::from))
        }),
        TableColumn::text("pci_address", |row, cell| {
            cell.maybe(row.card.address.map(|it| it.to_string()));
        }),
    ]
}

pub(super) fn write(source: &ExportSource<'_>, writer: &mut impl TableWriter) -> io::Result<()> {
    let trace = source.trace;
    let streams = trace.streams().iter().map(|it| (it.process, it.device));
    let own = trace.contexts().iter();
    let own = own.filter(|it| it.handle != 0 || it.is_default);
    let all = streams.chain(own.map(|it| (it.process, it.device)));
    let all: BTreeSet<(ProcessId, u32)> = all.collect();
    let wanted = all
        .into_iter()
        .filter(|(id, _)| source.selection.process(*id));
    let rows = wanted.map(|(id, device)| DeviceRow {
        process: trace.process(id),
        device,
        card: trace.card(id, device),
    });
    write_table(writer, &columns(), rows)
}
