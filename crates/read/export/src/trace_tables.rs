//! The tables of a trace, for all formats: `calls`, `tasks`, `dependencies`, `stalls`, `graphs`,
//! `findings`, `ranges`, `steps`, `requests`, `critical`, `activities`, `collectives`, `losses`, `processes` and `devices`.
//!
//! The columns are declared, each in one place: in the module of their table, or by the type of rows in the analysis. Times are nanoseconds of the
//! recording host's `CLOCK_MONOTONIC`; the unit is in the column's name.

mod activities;
mod calls;
mod cell;
#[cfg(feature = "parquet")]
pub(crate) mod clocks;
mod collectives;
mod critical;
mod dependencies;
mod devices;
mod findings;
mod graphs;
mod losses;
mod processes;
mod ranges;
mod requests;
mod stalls;
mod steps;
mod tasks;

use std::io;

#[cfg(feature = "parquet")]
use ascend_trace_analysis::AnalysisNeeds;
use ascend_trace_analysis::Fold;
use ascend_trace_analysis::align::{Collect, Recorded};
use ascend_trace_analysis::checks::Findings;
use ascend_trace_analysis::columns::{ColumnKind as DeclaredKind, TableRow};
use ascend_trace_analysis::requests::{RequestFold, Requests};

use crate::trace_facts::ExportTotals;
use crate::{ExportError, ExportPass, ExportSink, ExportSource};

pub use cell::CellValue;
pub(crate) use cell::TableCell;

/// Declares the tables, each with the module that has its columns and gives its files their name.
macro_rules! tables {
    ($($table:ident $module:ident,)+) => {
        /// One of the tables.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum TableId {
            $($table,)+
        }

        impl TableId {
            pub(crate) const ALL: [Self; [$(stringify!($table)),+].len()] = [$(Self::$table),+];
            pub(crate) const NAMES: [&str; Self::ALL.len()] = [$(stringify!($module)),+];
            pub(crate) const CSV: [&str; Self::ALL.len()] =
                [$(concat!(stringify!($module), ".csv")),+];
            #[cfg(feature = "parquet")]
            pub(crate) const PARQUET: [&str; Self::ALL.len()] =
                [$(concat!(stringify!($module), ".parquet")),+];

            /// Its name in queries, and that of its files.
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Self::$table => stringify!($module),)+
                }
            }

            /// The columns of the table.
            pub(crate) fn columns(self) -> Vec<(&'static str, ColumnKind)> {
                match self {
                    $(Self::$table => heads(&$module::columns()),)+
                }
            }
        }
    };
}

tables! {
    Calls calls,
    Tasks tasks,
    Dependencies dependencies,
    Stalls stalls,
    Graphs graphs,
    Findings findings,
    Ranges ranges,
    Steps steps,
    Requests requests,
    Critical critical,
    Activities activities,
    Collectives collectives,
    Losses losses,
    Processes processes,
    Devices devices,
}

impl TableId {
    /// Sources of its rows, in addition to calls and tasks.
    #[cfg(feature = "parquet")]
    pub(crate) const fn needs(self) -> AnalysisNeeds {
        match self {
            Self::Calls
            | Self::Tasks
            | Self::Ranges
            | Self::Requests
            | Self::Activities
            | Self::Collectives
            | Self::Losses
            | Self::Processes
            | Self::Devices => AnalysisNeeds::Calls,
            Self::Dependencies => AnalysisNeeds::Dependencies,
            Self::Stalls | Self::Graphs | Self::Findings | Self::Steps | Self::Critical => {
                AnalysisNeeds::All
            }
        }
    }

    /// Writes the rows that belong to a part of a trace.
    fn write(
        self,
        source: &ExportSource<'_>,
        so_far: &mut RunningFacts,
        to: &mut impl TableWriter,
    ) -> io::Result<()> {
        match self {
            Self::Calls => calls::write(source, to),
            Self::Tasks => tasks::write(source, to),
            Self::Dependencies => dependencies::write(source, to),
            Self::Stalls => stalls::write(source, to),
            // How often they were replayed is known at the end.
            Self::Graphs if source.part.is_last => graphs::write(source, &so_far.facts, to),
            Self::Findings if source.part.is_last => {
                findings::write(std::mem::take(&mut so_far.findings).finish(), to)
            }
            Self::Ranges if source.part.is_last => ranges::write(source, to),
            Self::Steps if source.part.is_last => steps::write(source, &so_far.facts, to),
            Self::Requests if source.part.is_last => requests::write(source, &so_far.served, to),
            Self::Critical if source.part.is_last => critical::write(source, to),
            Self::Collectives if source.part.is_last => {
                collectives::write(source, &so_far.recorded, to)
            }
            Self::Losses if source.part.is_last => losses::write(source, to),
            Self::Processes if source.part.is_last => {
                processes::write(source, &so_far.recorded, to)
            }
            Self::Devices if source.part.is_last => devices::write(source, to),
            Self::Graphs
            | Self::Findings
            | Self::Ranges
            | Self::Steps
            | Self::Requests
            | Self::Critical
            | Self::Collectives
            | Self::Losses
            | Self::Processes
            | Self::Devices => Ok(()),
            Self::Activities => {
                so_far.entries = activities::write(source, so_far.entries, to)?;
                Ok(())
            }
        }
    }
}

/// Facts about a trace up to some part.
#[derive(Default)]
struct RunningFacts {
    facts: ExportTotals,
    findings: Findings,
    collectives: Collect,
    /// The facts, once all parts have arrived.
    recorded: Recorded,
    requests: RequestFold,
    /// The requests, once all parts have arrived.
    served: Requests,
    /// Entries of the hardware's log that have been written.
    entries: u64,
}

/// The export of all tables on its way through a trace.
pub(crate) struct TableExport<W> {
    writers: Vec<(TableId, W)>,
    so_far: RunningFacts,
}

impl<W: TableWriter> TableExport<W> {
    /// Makes a writer for each table.
    pub(crate) fn new<E>(make: impl FnMut(TableId) -> Result<W, E>) -> Result<Self, E> {
        Self::of(TableId::ALL, make)
    }

    /// Makes a writer for each of these tables. The others are not written.
    pub(crate) fn of<E>(
        tables: impl IntoIterator<Item = TableId>,
        mut make: impl FnMut(TableId) -> Result<W, E>,
    ) -> Result<Self, E> {
        let tables = tables.into_iter();
        let writers = tables.map(|table| Ok((table, make(table)?)));
        Ok(Self {
            writers: writers.collect::<Result<_, E>>()?,
            so_far: RunningFacts::default(),
        })
    }
}

impl<'w, W: TableWriter> ExportPass<'w> for TableExport<W> {
    fn step(
        &mut self,
        source: &ExportSource<'_>,
        _: &mut dyn ExportSink<'w>,
    ) -> Result<(), ExportError> {
        let so_far = &mut self.so_far;
        so_far.facts.add(source);
        let has = |table| self.writers.iter().any(|it| it.0 == table);
        if has(TableId::Findings) {
            let wanted = |id| source.selection.call(id);
            so_far.findings.take_those(source, &wanted);
        }
        if has(TableId::Collectives) || has(TableId::Processes) {
            so_far.collectives.take(source);
        }
        if has(TableId::Requests) {
            so_far.requests.take(source);
        }
        if source.part.is_last {
            so_far.recorded = std::mem::take(&mut so_far.collectives).finish();
            so_far.served = std::mem::take(&mut so_far.requests).finish();
        }
        for (table, writer) in &mut self.writers {
            table.write(source, so_far, writer)?;
            if source.part.is_last {
                writer.end(source, &so_far.facts)?;
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), ExportError> {
        Ok(())
    }
}

/// Type of a column. Any cell may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// 64 bits with a sign.
    Number,
    /// 64 bits without one.
    Unsigned,
    /// One of a few texts that occur often.
    Word,
    /// Any text.
    Text,
}

/// Takes a table, some rows at a time.
pub(crate) trait TableWriter {
    /// Adds rows.
    fn rows<R>(&mut self, columns: &[TableColumn<'_, R>], rows: &[R]) -> io::Result<()>;

    /// There are no more rows.
    fn end(&mut self, source: &ExportSource<'_>, facts: &ExportTotals) -> io::Result<()>;
}

/// A column of a table with rows made from `R`, and the function that fills a cell. Texts that are put
/// into a cell without a copy live longer than the row, `'t`.
pub(crate) struct TableColumn<'t, R> {
    name: &'static str,
    kind: ColumnKind,
    fill: Fill<'t, R>,
}

/// A function that fills a cell, and has data of its column.
type DeclaredFill<'t, R> = dyn Fn(&R, &mut TableCell<'t>) + 't;

/// What fills the cells of a column.
enum Fill<'t, R> {
    Own(fn(&R, &mut TableCell<'t>)),
    Declared(Box<DeclaredFill<'t, R>>),
}

impl<'t, R> TableColumn<'t, R> {
    const fn number(name: &'static str, fill: fn(&R, &mut TableCell<'t>)) -> Self {
        let (kind, fill) = (ColumnKind::Number, Fill::Own(fill));
        Self { name, kind, fill }
    }

    const fn unsigned(name: &'static str, fill: fn(&R, &mut TableCell<'t>)) -> Self {
        let (kind, fill) = (ColumnKind::Unsigned, Fill::Own(fill));
        Self { name, kind, fill }
    }

    const fn word(name: &'static str, fill: fn(&R, &mut TableCell<'t>)) -> Self {
        let (kind, fill) = (ColumnKind::Word, Fill::Own(fill));
        Self { name, kind, fill }
    }

    const fn text(name: &'static str, fill: fn(&R, &mut TableCell<'t>)) -> Self {
        let (kind, fill) = (ColumnKind::Text, Fill::Own(fill));
        Self { name, kind, fill }
    }

    #[cfg(feature = "parquet")]
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// The value of this column in a row, by way of a cell.
    #[inline]
    pub(crate) fn fill<'c>(&self, row: &R, cell: &'c mut TableCell<'t>) -> CellValue<'c> {
        cell.clear();
        match &self.fill {
            Fill::Own(fill) => fill(row, cell),
            Fill::Declared(fill) => fill(row, cell),
        }
        let value = cell.value();
        debug_assert!(value.fits(self.kind), "{}", self.name);
        value
    }
}

/// The exported columns that a type declares, for rows that contain it.
fn declared<'t, R: 't, D: TableRow>(part: fn(&R) -> &D) -> Vec<TableColumn<'t, R>> {
    let exported = D::columns().filter_map(|column| {
        let kind = match column.kind {
            DeclaredKind::Text => ColumnKind::Text,
            DeclaredKind::Word => ColumnKind::Word,
            DeclaredKind::Unsigned => ColumnKind::Unsigned,
            _ => ColumnKind::Number,
        };
        let name = column.exported?;
        let fill = Fill::Declared(Box::new(move |row: &R, cell: &mut TableCell<'t>| {
            cell.declared((column.value)(part(row)), kind);
        }));
        Some(TableColumn { name, kind, fill })
    });
    exported.collect()
}

fn heads<R>(columns: &[TableColumn<'_, R>]) -> Vec<(&'static str, ColumnKind)> {
    columns.iter().map(|it| (it.name, it.kind)).collect()
}

/// Rows that are handed on at a time.
const BATCH: usize = 512;

fn write_table<'t, R>(
    writer: &mut impl TableWriter,
    columns: &[TableColumn<'t, R>],
    mut rows: impl Iterator<Item = R>,
) -> io::Result<()> {
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        batch.extend(rows.by_ref().take(BATCH));
        if batch.is_empty() {
            return Ok(());
        }
        writer.rows(columns, &batch)?;
        batch.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = include_str!("../../../../docs/EXPORT.md");
    fn section<'d>(name: &str) -> &'d str {
        let heading = format!("#### `{name}`\n");
        let begin = DOCUMENT.find(&heading).expect("each table has a section");
        let rest = &DOCUMENT[begin + heading.len()..];
        rest.find("\n##").map_or(rest, |end| &rest[..end])
    }

    #[test]
    fn the_document_has_every_column_with_its_type_and_meaning() {
        for (table, file) in TableId::ALL.into_iter().zip(TableId::CSV) {
            let name = file.trim_end_matches(".csv");
            let rows = section(name).lines().filter(|line| line.starts_with("| `"));
            let documented: Vec<Vec<&str>> = rows
                .map(|row| {
                    row.trim_matches('|')
                        .splitn(3, '|')
                        .map(str::trim)
                        .collect()
                })
                .collect();
            let written = table.columns().into_iter().map(|(column, kind)| {
                let kind = match kind {
                    ColumnKind::Number => "int64",
                    ColumnKind::Unsigned => "uint64",
                    ColumnKind::Word | ColumnKind::Text => "text",
                };
                (format!("`{column}`"), kind)
            });
            let heads: Vec<_> = documented
                .iter()
                .map(|it| (it[0].to_owned(), it[1]))
                .collect();
            assert_eq!(heads, written.collect::<Vec<_>>(), "{name}");
            for column in documented {
                let (name, meaning) = (column[0], column[2]);
                assert!(!meaning.is_empty(), "{name}");
                let is_time = name.ends_with("_ns`") || name.ends_with("`ns`");
                assert!(!is_time || meaning.starts_with("ns; "), "{name}: {meaning}");
            }
        }
    }
}
