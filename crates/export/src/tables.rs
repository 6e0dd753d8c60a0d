//! The tables of a trace, whatever they are written as: `calls`, `tasks`, `dependencies`, `stalls`
//! and `graphs`.
//!
//! The columns are declared, each in one place, in [`calls`], [`tasks`], [`dependencies`],
//! [`stalls`] and [`graphs`]. Times are nanoseconds of the recording host's `CLOCK_MONOTONIC`; the
//! unit is in the column's name.

mod calls;
mod cell;
mod dependencies;
mod graphs;
mod stalls;
mod tasks;

use std::io;

use crate::Source;

pub(crate) use cell::{Cell, Number};

/// One of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    Calls,
    Tasks,
    Dependencies,
    Stalls,
    Graphs,
}

impl Table {
    pub(crate) const ALL: [Self; 5] = [
        Self::Calls,
        Self::Tasks,
        Self::Dependencies,
        Self::Stalls,
        Self::Graphs,
    ];

    /// Writes the table: its columns, then row after row.
    pub(crate) fn write(self, source: &Source<'_>, to: &mut dyn TableWriter) -> io::Result<()> {
        match self {
            Self::Calls => calls::write(source, to),
            Self::Tasks => tasks::write(source, to),
            Self::Dependencies => dependencies::write(source, to),
            Self::Stalls => stalls::write(source, to),
            Self::Graphs => graphs::write(source, to),
        }
    }
}

/// What a column holds. Any cell may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// 64 bits with a sign.
    Number,
    /// 64 bits without one.
    Unsigned,
    Text,
}

/// Takes a table: first the columns, then every cell of every row in their order.
pub(crate) trait TableWriter {
    fn begin(&mut self, columns: &[(&'static str, Kind)]) -> io::Result<()>;

    fn cell(&mut self, cell: &Cell) -> io::Result<()>;

    fn end_row(&mut self) -> io::Result<()>;
}

/// A column of a table whose rows are made from `R`, and how a cell is filled.
struct Column<R> {
    name: &'static str,
    kind: Kind,
    fill: fn(&R, &mut Cell),
}

impl<R> Column<R> {
    const fn number(name: &'static str, fill: fn(&R, &mut Cell)) -> Self {
        let kind = Kind::Number;
        Self { name, kind, fill }
    }

    const fn unsigned(name: &'static str, fill: fn(&R, &mut Cell)) -> Self {
        let kind = Kind::Unsigned;
        Self { name, kind, fill }
    }

    const fn text(name: &'static str, fill: fn(&R, &mut Cell)) -> Self {
        let kind = Kind::Text;
        Self { name, kind, fill }
    }
}

fn write_table<R>(
    writer: &mut dyn TableWriter,
    columns: &[Column<R>],
    rows: impl Iterator<Item = R>,
) -> io::Result<()> {
    let heads: Vec<_> = columns.iter().map(|it| (it.name, it.kind)).collect();
    writer.begin(&heads)?;
    let mut cell = Cell::default();
    for row in rows {
        for column in columns {
            cell.clear();
            (column.fill)(&row, &mut cell);
            debug_assert!(cell.fits(column.kind), "{}", column.name);
            writer.cell(&cell)?;
        }
        writer.end_row()?;
    }
    Ok(())
}
