//! Comma-separated tables in a directory: `calls.csv`, `tasks.csv`, `dependencies.csv`,
//! `stalls.csv` and `graphs.csv`.
//!
//! Each file begins with its column names; a column that has no value for a row is empty. Times
//! are nanoseconds of the recording host's `CLOCK_MONOTONIC`. Quoting follows RFC 4180, lines end
//! with a line feed. The columns are declared, each in one place, in [`calls`], [`tasks`],
//! [`dependencies`], [`stalls`] and [`graphs`].

mod calls;
mod dependencies;
mod graphs;
mod stalls;
mod tasks;

use std::fmt::{Display, Write as _};
use std::io;

use crate::{ExportError, Exporter, Layout, Sink, Source, open};

/// The exporter for `--format csv`.
#[derive(Clone, Copy, Debug)]
pub struct Csv;

impl Exporter for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn layout(&self) -> Layout {
        Layout::Directory {
            files: &[
                "calls.csv",
                "tasks.csv",
                "dependencies.csv",
                "stalls.csv",
                "graphs.csv",
            ],
        }
    }

    fn export(&self, source: &Source<'_>, sink: &mut dyn Sink) -> Result<(), ExportError> {
        calls::write(source, &mut *open(sink, "calls.csv")?)?;
        tasks::write(source, &mut *open(sink, "tasks.csv")?)?;
        dependencies::write(source, &mut *open(sink, "dependencies.csv")?)?;
        stalls::write(source, &mut *open(sink, "stalls.csv")?)?;
        graphs::write(source, &mut *open(sink, "graphs.csv")?)?;
        Ok(())
    }
}

/// The text of one cell; empty until something is put into it.
#[derive(Debug, Default)]
struct Cell(String);

impl Cell {
    fn put(&mut self, value: impl Display) {
        // Writing to a String cannot fail.
        let _ = write!(self.0, "{value}");
    }

    fn maybe(&mut self, value: Option<impl Display>) {
        value.into_iter().for_each(|value| self.put(value));
    }
}

/// A column of a table whose rows are made from `R`: its name, and how a cell is filled.
type Column<R> = (&'static str, fn(&R, &mut Cell));

/// Writes a header and a line for each row.
fn write_table<R>(
    file: &mut dyn io::Write,
    columns: &[Column<R>],
    rows: impl Iterator<Item = R>,
) -> io::Result<()> {
    let mut writer = ::csv::WriterBuilder::new().from_writer(file);
    writer.write_record(columns.iter().map(|column| column.0))?;
    let mut cell = Cell::default();
    for row in rows {
        for (_, fill) in columns {
            cell.0.clear();
            fill(&row, &mut cell);
            writer.write_field(&cell.0)?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    writer.flush()
}
