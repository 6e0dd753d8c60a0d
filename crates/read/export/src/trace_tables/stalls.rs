//! `stalls`: one row per stall, by begin time.

use std::io;

use ascend_trace_analysis::stats::StallStats;

use super::{TableColumn, TableWriter, declared, write_table};
use crate::ExportSource;

pub(super) fn columns() -> Vec<TableColumn<'static, StallStats>> {
    declared(|row| row)
}

pub(super) fn write(source: &ExportSource<'_>, writer: &mut impl TableWriter) -> io::Result<()> {
    let (trace, dependencies) = (source.trace, &source.dependencies);
    let stalls = source.stalls.sorted();
    let rows = stalls
        .into_iter()
        .filter(|stall| source.owns_stall(stall))
        .map(|stall| {
            StallStats::of(trace, dependencies, &source.stalls, stall).with_late(
                trace,
                source.places(),
                stall,
            )
        });
    write_table(writer, &columns(), rows)
}
