//! Recordings as files in memory.

use ascend_trace_recording::file::Writer;
use ascend_trace_recording::rows::{EndRow, Row, SessionRow, TablesRow};

/// A finished file with an index after every `rows` rows. Its parts are small: a chunk after a hundred
/// rows at most.
///
/// # Panics
/// When rows cannot be written: a mistake of the caller's.
pub fn indexed(
    every: u64,
    session: &SessionRow,
    tables: &TablesRow,
    rows: impl IntoIterator<Item = Row>,
) -> Vec<u8> {
    let writer = Writer::create(Vec::new(), session, tables).expect("memory");
    let mut writer = writer.with_index_every(every);
    for (place, row) in rows.into_iter().enumerate() {
        if (place as u64).is_multiple_of(every.min(100)) {
            writer.flush().expect("memory");
        }
        if !matches!(row, Row::End(_)) {
            writer.push(row).expect("memory");
        }
    }
    let end = EndRow {
        end_ns: 1,
        exit_status: 0,
        ..EndRow::default()
    };
    writer.finish(end).expect("memory")
}
