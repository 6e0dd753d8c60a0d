//! `clocks` of a dataset: one row per clock of a host, with its offset from the clock of the reference.

use super::{ColumnKind, TableColumn, heads};

/// The clock of a host in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClockRow {
    pub boot_id: String,
    /// `reference`, `collectives` or `wall-clock`.
    pub aligned_by: String,
    /// The reference host of its clock.
    pub reference: String,
    /// The host that it has the collectives with; empty for the reference.
    pub through: String,
    /// The offset at this time of the host's clock, and its change in nanoseconds for each later
    /// second.
    pub at_ns: i64,
    pub offset_ns: i64,
    pub rate_ppb: i64,
    pub bar_ns: Option<i64>,
    pub collectives: u64,
    /// Where the bar holds, on its own clock.
    pub begin_ns: i64,
    pub end_ns: i64,
}

pub(crate) fn columns() -> Vec<TableColumn<'static, ClockRow>> {
    vec![
        TableColumn::text("boot_id", |row, cell| cell.passing(&row.boot_id)),
        TableColumn::text("aligned_by", |row, cell| cell.passing(&row.aligned_by)),
        TableColumn::text("reference", |row, cell| cell.passing(&row.reference)),
        TableColumn::text("through", |row, cell| cell.passing(&row.through)),
        TableColumn::number("at_ns", |row, cell| cell.put(row.at_ns)),
        TableColumn::number("offset_ns", |row, cell| cell.put(row.offset_ns)),
        TableColumn::number("rate_ppb", |row, cell| cell.put(row.rate_ppb)),
        // Empty where only the time of day is known.
        TableColumn::number("bar_ns", |row, cell| cell.maybe(row.bar_ns)),
        TableColumn::unsigned("collectives", |row, cell| cell.put(row.collectives)),
        TableColumn::number("begin_ns", |row, cell| cell.put(row.begin_ns)),
        TableColumn::number("end_ns", |row, cell| cell.put(row.end_ns)),
    ]
}

pub(crate) fn kinds() -> Vec<(&'static str, ColumnKind)> {
    heads(&columns())
}
