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

use crate::facts::Facts;
use crate::{ExportError, Pass, Source};

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

    /// The columns of the table.
    pub(crate) fn columns(self) -> Vec<(&'static str, Kind)> {
        match self {
            Self::Calls => heads(&calls::columns()),
            Self::Tasks => heads(&tasks::columns()),
            Self::Dependencies => heads(&dependencies::columns()),
            Self::Stalls => heads(&stalls::columns()),
            Self::Graphs => heads(&graphs::columns()),
        }
    }

    /// Writes the rows that belong to a part of a trace.
    pub(crate) fn write(
        self,
        source: &Source<'_>,
        facts: &Facts,
        to: &mut dyn TableWriter,
    ) -> io::Result<()> {
        match self {
            Self::Calls => calls::write(source, to),
            Self::Tasks => tasks::write(source, to),
            Self::Dependencies => dependencies::write(source, to),
            Self::Stalls => stalls::write(source, to),
            // How often they were replayed is known at the end.
            Self::Graphs if source.part.is_last => graphs::write(source, facts, to),
            Self::Graphs => Ok(()),
        }
    }
}

/// The export of all tables on its way through a trace.
pub(crate) struct Tables<W> {
    writers: Vec<(Table, W)>,
    facts: Facts,
}

impl<W: TableWriter> Tables<W> {
    /// Makes a writer for each table.
    pub(crate) fn new<E>(mut make: impl FnMut(Table) -> Result<W, E>) -> Result<Self, E> {
        let writers = Table::ALL
            .into_iter()
            .map(|table| Ok((table, make(table)?)));
        Ok(Self {
            writers: writers.collect::<Result<_, E>>()?,
            facts: Facts::default(),
        })
    }
}

impl<W: TableWriter> Pass for Tables<W> {
    fn step(&mut self, source: &Source<'_>) -> Result<(), ExportError> {
        self.facts.add(source);
        for (table, writer) in &mut self.writers {
            table.write(source, &self.facts, writer)?;
            if source.part.is_last {
                writer.end(source, &self.facts)?;
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), ExportError> {
        Ok(())
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

/// Takes a table: every cell of every row in their order.
pub(crate) trait TableWriter {
    fn cell(&mut self, cell: &Cell) -> io::Result<()>;

    fn end_row(&mut self) -> io::Result<()>;

    /// There are no more rows.
    fn end(&mut self, source: &Source<'_>, facts: &Facts) -> io::Result<()>;
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

fn heads<R>(columns: &[Column<R>]) -> Vec<(&'static str, Kind)> {
    columns.iter().map(|it| (it.name, it.kind)).collect()
}

fn write_table<R>(
    writer: &mut dyn TableWriter,
    columns: &[Column<R>],
    rows: impl Iterator<Item = R>,
) -> io::Result<()> {
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
