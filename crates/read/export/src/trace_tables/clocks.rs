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
    /// The host with which common collectives align this clock; empty for the reference.
    pub through: String,
    /// The time on the host's clock at which `offset_ns` holds.
    pub at_ns: i64,
    /// Offset to the reference clock at `at_ns`.
    pub offset_ns: i64,
    /// Change of the offset in ns for each later second.
    pub rate_ppb: i64,
    /// Error of the offset; none if only the time of day is known.
    pub bar_ns: Option<i64>,
    pub collectives: u64,
    /// The range in which the error holds, on the clock of the host.
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
