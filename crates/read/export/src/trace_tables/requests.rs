//! `requests`: one row per request to a server: the time to its first token with its parts, and the time for further tokens.

use std::io;

use ascend_trace_analysis::requests::{RequestStats, Requests};

use super::{TableColumn, TableWriter, declared, write_table};
use crate::ExportSource;

pub(super) fn columns<'s>() -> Vec<TableColumn<'s, &'s RequestStats>> {
    declared(|row: &&RequestStats| *row)
}

pub(super) fn write(
    source: &ExportSource<'_>,
    found: &Requests,
    writer: &mut impl TableWriter,
) -> io::Result<()> {
    let rows = found.requests.iter().filter(|it| is_wanted(source, it));
    write_table(writer, &columns(), rows)
}

/// Whether a request is one of the selection: it arrived in the selected range, or its arrival is not known.
fn is_wanted(source: &ExportSource<'_>, request: &RequestStats) -> bool {
    let end = |from: i64| from + request.total_ns.or(request.first_token_ns).unwrap_or(0);
    let arrival = request.arrival_ns;
    arrival.is_none_or(|from| source.selection.span(from, end(from)))
}
