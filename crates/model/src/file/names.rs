//! The columns of rows that say what things are called, what was caught and what that cost.

use std::collections::HashMap;

use crate::rows::{CostRow, CoverageRow, NameRow, RangeRow, Row};

use super::chunk::{self, Kind};
use super::column::{Columns, Cursors};
use super::table::Table;

/// What a name takes in memory, besides its text.
const NAMED: usize = 256;

impl Table for NameRow {
    const KIND: Kind = chunk::NAME;
    const COLUMNS: usize = 4;
    /// Only what is new is kept.
    const MEMORY: u64 = 0;
    /// What was called something, and what.
    type Memory = HashMap<(u32, u64), String>;

    fn put(&self, columns: &mut Columns, _: &mut Self::Memory) {
        columns.put(0, self.process.into());
        columns.put_signed(1, self.since_ns);
        columns.put(2, self.key);
        columns.put_text(3, &self.name);
    }

    fn take(cursors: &mut Cursors<'_>, memory: &mut Self::Memory) -> Option<Self> {
        let row = Self {
            process: cursors.take_process(0)?,
            since_ns: cursors.take_signed(1)?,
            key: cursors.take(2)?,
            name: cursors.take_text(3)?,
        };
        let known = memory.entry((row.process, row.key)).or_default();
        if *known == row.name {
            // Programs name the same things again and again.
            cursors.noted();
        } else {
            cursors.note(NAMED);
            known.clone_from(&row.name);
        }
        Some(row)
    }

    fn into_row(self) -> Row {
        Row::Name(self)
    }
}

impl Table for RangeRow {
    const KIND: Kind = chunk::RANGE;
    const COLUMNS: usize = 6;
    const MEMORY: u64 = 96;
    type Memory = ();

    fn put(&self, columns: &mut Columns, (): &mut ()) {
        columns.put(0, self.process.into());
        columns.put(1, self.thread.into());
        columns.put_signed(2, self.begin_ns);
        columns.put_signed(3, self.end_ns.wrapping_sub(self.begin_ns));
        columns.put(4, self.domain);
        columns.put_text(5, &self.name);
    }

    fn take(cursors: &mut Cursors<'_>, (): &mut ()) -> Option<Self> {
        let (process, thread) = (cursors.take_as(0)?, cursors.take_as(1)?);
        let begin_ns = cursors.take_signed(2)?;
        Some(Self {
            process,
            thread,
            begin_ns,
            end_ns: begin_ns.wrapping_add(cursors.take_signed(3)?),
            domain: cursors.take(4)?,
            name: cursors.take_text(5)?,
        })
    }

    fn into_row(self) -> Row {
        Row::Range(self)
    }
}

impl RangeRow {
    /// First and last moment of a row, which is taken as whole as [`Table::take`] does and not made.
    pub(super) fn take_reach(cursors: &mut Cursors<'_>) -> Option<(i64, i64)> {
        cursors.take_as::<u32>(0)?;
        cursors.take_as::<u32>(1)?;
        let begin = cursors.take_signed(2)?;
        let end = begin.wrapping_add(cursors.take_signed(3)?);
        cursors.take(4)?;
        cursors.take_bytes(5)?;
        Some((begin, end.max(begin)))
    }
}

impl Table for CoverageRow {
    const KIND: Kind = chunk::COVERAGE;
    const COLUMNS: usize = 6;
    type Memory = ();

    fn put(&self, columns: &mut Columns, (): &mut ()) {
        columns.put_text(0, &self.library);
        columns.put_text(1, &self.function);
        columns.put(2, self.ways.into());
        columns.put(3, self.calls);
        columns.put(4, self.functions);
        columns.put_text(5, &self.refused);
    }

    fn take(cursors: &mut Cursors<'_>, (): &mut ()) -> Option<Self> {
        Some(Self {
            library: cursors.take_text(0)?,
            function: cursors.take_text(1)?,
            ways: cursors.take_as(2)?,
            calls: cursors.take(3)?,
            functions: cursors.take(4)?,
            refused: cursors.take_text(5)?,
        })
    }

    fn into_row(self) -> Row {
        Row::Coverage(self)
    }
}

impl Table for CostRow {
    const KIND: Kind = chunk::COST;
    const COLUMNS: usize = 8;
    type Memory = ();

    fn put(&self, columns: &mut Columns, (): &mut ()) {
        columns.put(0, self.thread.into());
        columns.put_signed(1, self.at_ns);
        columns.put(2, self.calls);
        columns.put(3, self.recording_ns);
        columns.put(4, self.tasks);
        columns.put(5, self.events);
        columns.put(6, self.timing_ns);
        columns.put(7, self.reading_ns);
    }

    fn take(cursors: &mut Cursors<'_>, (): &mut ()) -> Option<Self> {
        Some(Self {
            thread: cursors.take_as(0)?,
            at_ns: cursors.take_signed(1)?,
            calls: cursors.take(2)?,
            recording_ns: cursors.take(3)?,
            tasks: cursors.take(4)?,
            events: cursors.take(5)?,
            timing_ns: cursors.take(6)?,
            reading_ns: cursors.take(7)?,
        })
    }

    fn into_row(self) -> Row {
        Row::Cost(self)
    }
}

#[cfg(test)]
mod tests {
    use super::super::column::Columns;
    use super::*;

    #[test]
    fn moments_of_ranges_are_taken_as_the_rows_are() {
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
        let mut columns = Columns::new(RangeRow::COLUMNS);
        for row in &rows {
            columns.row();
            row.put(&mut columns, &mut ());
        }
        let payload = columns.take_payload();
        let mut taken = Cursors::new(&payload, RangeRow::COLUMNS).unwrap();
        let reaches = [(); 3].map(|()| RangeRow::take_reach(&mut taken));
        let expected = rows.map(|row| Some((row.begin_ns, row.end_ns.max(row.begin_ns))));
        assert_eq!(reaches, expected);
        // One byte less of the last text: neither has the last row.
        let cut = &payload[..payload.len() - 1];
        assert!(Cursors::new(cut, RangeRow::COLUMNS).is_none());
    }
}
