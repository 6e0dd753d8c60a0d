//! State for reading names and ranges, in addition to their columns.

use std::collections::HashMap;

use crate::TimeRange;
use crate::rows::{NameRow, RangeRow};

use super::column::Cursors;
use super::table::RowObserver;

/// Memory of a name, in addition to its text.
const NAMED: usize = 256;

/// By process and key: named objects, and their names.
#[derive(Debug, Default)]
pub(crate) struct GivenNames(HashMap<(u32, u64), String>);

impl RowObserver<NameRow> for GivenNames {
    fn note(&mut self, row: &NameRow, cursors: &mut Cursors<'_>) {
        let known = self.0.entry((row.process, row.key)).or_default();
        if *known == row.name {
            // Programs name the same things again and again.
            cursors.noted();
        } else {
            cursors.note(NAMED);
            known.clone_from(&row.name);
        }
    }
}

impl RangeRow {
    /// Begin and end of a row, which is read completely as [`Table::take`](super::table::Table::take)
    /// does, but not built.
    pub(super) fn take_reach(cursors: &mut Cursors<'_>) -> Option<TimeRange> {
        cursors.take_as::<u32>(0)?;
        cursors.take_as::<u32>(1)?;
        let begin = cursors.take_signed(2)?;
        let end = begin.wrapping_add(cursors.take_signed(3)?);
        cursors.take(4)?;
        cursors.take_bytes(5)?;
        Some(TimeRange::new(begin, end.max(begin)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::column::Columns;
    use super::super::table::Table;
    use super::*;

    #[test]
    fn times_of_ranges_follow_the_order_of_rows() {
        let range = |at: i64, length: i64, name: &str| RangeRow {
            process: 1,
            thread: 3,
            begin_ns: at,
            end_ns: at.wrapping_add(length),
            domain: 7,
            name: name.to_owned(),
        };
        let rows = [
            range(5, 0, ""),
            range(-400, 1 << 40, "step"),
            range(900, -3, "\u{6b65}\u{9aa4}"),
        ];
        let mut columns = Columns::new(RangeRow::COLUMNS.len());
        for row in &rows {
            columns.row();
            row.put(&mut columns, &mut ());
        }
        let payload = columns.take_payload();
        let mut taken = Cursors::new(&payload, RangeRow::COLUMNS.len()).unwrap();
        let reaches = [(); 3].map(|()| RangeRow::take_reach(&mut taken));
        let whole = |row: RangeRow| TimeRange::new(row.begin_ns, row.end_ns.max(row.begin_ns));
        let expected = rows.map(|row| Some(whole(row)));
        assert_eq!(reaches, expected);
        // One byte less of the last text: neither has the last row.
        let cut = &payload[..payload.len() - 1];
        assert!(Cursors::new(cut, RangeRow::COLUMNS.len()).is_none());
    }
}
