//! The Parquet tables of a dataset: many recordings, with files in folders that are partition columns.
//!
//! A recording is split by the ranks of its processes. Its files have no column of that name: readers take it from
//! the name of the folder.

mod read;

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::sync::Arc;

use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ascend_trace_analysis::AnalysisNeeds;
use ascend_trace_recording::{ProcessId, Trace};
use serde_json::{Value, json};

pub use crate::trace_tables::clocks::ClockRow;
pub use read::CollectedRecording;

use crate::parquet::{ParquetOptions, ParquetWriter};
use crate::trace_tables::{ColumnKind, TableExport, TableId, TableWriter, clocks};
use crate::{ExportError, ExportPass, ExportSink, ExportSource, Exporter, OutputLayout, open};

/// Version of tables, columns, their meaning and their partitions. Datasets of different versions do not mix.
pub const DATASET_VERSION: u32 = 4;

/// The partition column that parts of one recording differ in.
const RANK: &str = "rank";

const MANNER: ParquetOptions = ParquetOptions {
    left_out: Some(RANK),
    has_page_index: true,
};

/// The exporter of a recording for a dataset. It asks for files `rank=3/tasks.parquet`.
#[derive(Clone, Debug)]
pub struct Dataset {
    ranks: Vec<Option<u64>>,
    tables: Vec<TableId>,
}

impl Dataset {
    /// For a recording of which all processes and threads are known.
    pub fn of(trace: &Trace) -> Self {
        let processes = trace.threads().iter().map(|it| it.process);
        let ranks: BTreeSet<_> = processes.map(|id| rank(trace, id)).collect();
        let mut ranks: Vec<_> = ranks.into_iter().collect();
        if ranks.is_empty() {
            ranks.push(None);
        }
        Self {
            ranks,
            tables: TableId::ALL.to_vec(),
        }
    }

    /// The same with the tables of these names alone.
    #[must_use]
    pub fn with_only<S: AsRef<str>>(mut self, names: &[S]) -> Self {
        let is_named = |it: &TableId| names.iter().any(|name| name.as_ref() == it.name());
        self.tables.retain(is_named);
        self
    }
}

/// The names of all tables.
pub fn dataset_tables() -> impl Iterator<Item = &'static str> {
    TableId::NAMES.into_iter()
}

fn rank(trace: &Trace, process: ProcessId) -> Option<u64> {
    trace.process(process).rank_number()
}

/// The folder of a rank.
fn folder(rank: Option<u64>) -> String {
    match rank {
        Some(rank) => format!("{RANK}={rank}"),
        None => format!("{RANK}=none"),
    }
}

impl Exporter for Dataset {
    fn name(&self) -> &'static str {
        "dataset"
    }

    /// These, or some of them, for each rank.
    fn layout(&self) -> OutputLayout {
        OutputLayout::Directory {
            files: &TableId::PARQUET,
        }
    }

    fn needs(&self) -> AnalysisNeeds {
        let needs = self.tables.iter().map(|it| it.needs());
        needs.max().unwrap_or(AnalysisNeeds::Calls)
    }

    fn begin<'w>(
        &self,
        sink: &mut dyn ExportSink<'w>,
    ) -> Result<Box<dyn ExportPass<'w> + 'w>, ExportError> {
        let mut parts = Vec::new();
        for rank in &self.ranks {
            let tables = TableExport::of(self.tables.iter().copied(), |table| {
                let name = format!("{}/{}.parquet", folder(*rank), table.name());
                let file = open(sink, &name)?;
                Ok::<_, ExportError>(ParquetWriter::new(file, table, MANNER)?)
            });
            parts.push((*rank, tables?));
        }
        Ok(Box::new(RankTables(parts)))
    }
}

/// The tables of each rank.
struct RankTables<'w>(Vec<(Option<u64>, TableExport<ParquetWriter<'w>>)>);

impl<'w> ExportPass<'w> for RankTables<'w> {
    fn step(
        &mut self,
        source: &ExportSource<'_>,
        sink: &mut dyn ExportSink<'w>,
    ) -> Result<(), ExportError> {
        if let [(_, tables)] = self.0.as_mut_slice() {
            return tables.step(source, sink);
        }
        for (rank, tables) in &mut self.0 {
            tables.step(&of_rank(source, *rank), sink)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), ExportError> {
        Ok(())
    }
}

/// The part of a source that belongs to the processes of a rank.
fn of_rank<'a>(source: &ExportSource<'a>, wanted: Option<u64>) -> ExportSource<'a> {
    let trace = source.trace;
    let mut own = source.narrowed(|id| rank(trace, id) == wanted);
    // They are written with the last part.
    if source.part.is_last {
        own.critical = Arc::new(source.critical.of_processes(|process| {
            let process = trace.process_numbered(process);
            process.and_then(|id| rank(trace, id)) == wanted
        }));
    }
    own
}

/// What `_schema.json` says: the version, the partition columns, and the columns of all tables.
pub fn dataset_schema() -> Value {
    let tables = TableId::ALL
        .into_iter()
        .zip(TableId::NAMES)
        .map(|(table, name)| {
            let columns = table.columns().into_iter();
            let columns = columns.filter(|(name, _)| *name != RANK).map(column);
            (name.to_owned(), columns.collect::<Value>())
        });
    let clocks = clocks::kinds().into_iter().map(column).collect::<Value>();
    json!({
        "schema": "ascend-trace/dataset",
        "version": DATASET_VERSION,
        "partitions": ["run", "host", RANK],
        "tables": tables.collect::<serde_json::Map<_, _>>(),
        // Of a run and not of a recording: without ranks.
        "tables_of_runs": {"clocks": clocks},
    })
}

fn column((name, kind): (&str, ColumnKind)) -> Value {
    let kind = match kind {
        ColumnKind::Number => "int64",
        ColumnKind::Unsigned => "uint64",
        ColumnKind::Word | ColumnKind::Text => "text",
    };
    let is_in = |unit: &str| name == unit || name.ends_with(&format!("_{unit}"));
    let unit = ["ns", "bytes"].into_iter().find(|unit| is_in(unit));
    json!({"name": name, "type": kind, "unit": unit})
}

/// How many rows a file of a table has.
pub fn table_rows(file: File) -> io::Result<u64> {
    let reader = SerializedFileReader::new(file).map_err(io::Error::other)?;
    let rows = reader.metadata().file_metadata().num_rows();
    u64::try_from(rows).map_err(io::Error::other)
}

/// Writes a file of the table `clocks`.
///
/// # Errors
/// When it cannot be written.
pub fn write_clocks(file: &mut impl io::Write, rows: &[ClockRow]) -> io::Result<()> {
    let mut writer = ParquetWriter::of(Box::new(file), clocks::kinds(), ParquetOptions::default())?;
    writer.rows(&clocks::columns(), rows)?;
    writer.close()
}
