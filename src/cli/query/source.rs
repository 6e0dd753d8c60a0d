//! The source of a query: a dataset, or the tables of a recording in a temporary folder.

use std::cell::RefCell;
use std::num::NonZero;
use std::path::Path;
use std::thread;

use anyhow::{Context, anyhow};

use ascend_trace_export::dataset_tables;
use ascend_trace_query::{Database, QueryError, QueryLimits, tables_of};

use super::QueryArgs;
use super::interrupt::{QueryInterrupted, SignalGuard};
use super::row_output::{self, RowFormat};
use crate::cli::dataset::{self, ReadableTables};
use crate::cli::export::progress::{ProgressLine, UnboundedLine};
use crate::cli::open_trace;
use crate::cli::trace_files::TraceFiles;

/// The columns that are folders.
const PARTITIONS: [&str; 3] = ["run", "host", "rank"];

/// The table that `dataset align` writes: of hosts, not of ranks.
const CLOCKS: &str = "clocks";

pub(super) fn run_query(args: &QueryArgs, data: &Path, query: &str) -> anyhow::Result<u8> {
    let interrupt = SignalGuard::watch()?;
    let dataset = ReadableTables::dataset(data)?;
    let is_dataset = dataset.is_some();
    let is_known =
        |name: &str| dataset_tables().any(|table| table == name) || (is_dataset && name == CLOCKS);
    let mut tables: Vec<String> = tables_of(query).map_err(explained)?;
    tables.retain(|name| is_known(name));
    if let Some(dataset) = dataset {
        query_rows(args, (&dataset, &tables), query, &interrupt)?;
        return Ok(0);
    }
    let place = std::env::temp_dir();
    let folder = tempfile::Builder::new()
        .prefix("ascend-trace-query-")
        .tempdir_in(&place);
    let folder = folder.with_context(|| format!("no place for tables in {}", place.display()))?;
    let files = TraceFiles::one(data);
    let mut recording = files.open()?;
    let mut progress = ProgressLine::new("reading", "M calls and tasks");
    let written =
        dataset::write_tables(&mut recording, folder.path(), &tables, &mut |done, all| {
            progress.show(done, all);
        });
    drop(progress);
    interrupt.check()?;
    written?;
    open_trace::check(&mut recording, args.strict)?;
    open_trace::say_warnings(&files.name(), &recording);
    let written = ReadableTables::folder(folder.path());
    query_rows(args, (&written, &tables), query, &interrupt)?;
    Ok(open_trace::Completeness::of_recording(&recording).status(args.strict))
}

fn query_rows(
    args: &QueryArgs,
    (data, tables): (&ReadableTables, &[String]),
    query: &str,
    interrupt: &SignalGuard,
) -> anyhow::Result<()> {
    let processors = thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    let database = Database::new(QueryLimits {
        threads: args.jobs.map_or(processors, NonZero::into),
        memory: (args.memory as usize) << 20,
    })
    .context("no threads for the query")?;
    #[cfg(feature = "object-store")]
    if let Some(connection) = data.store()? {
        let added = database.with_store(&connection.url, connection.store);
        added.context("cannot name the object store")?;
    }
    for table in tables {
        let Some(place) = data.place(table)? else {
            let shown = data.shown();
            return Err(match table.as_str() {
                CLOCKS => {
                    anyhow!("{shown} has no table clocks: ascend-trace dataset align writes it")
                }
                _ => anyhow!("{shown} has no rows: no recording was added to it"),
            });
        };
        let partitions = match table.as_str() {
            CLOCKS => &PARTITIONS[..2],
            _ => &PARTITIONS[..],
        };
        database
            .add(table, &place, partitions, &args.run)
            .with_context(|| format!("cannot read {}", place.display()))?;
    }
    let found = database.query(query).map_err(explained)?;
    let mut form = RowFormat::new(args, found.columns());
    let running = RefCell::new(UnboundedLine::new("the query has read", "M rows"));
    let row = |cells: &[_]| -> anyhow::Result<()> {
        interrupt.check()?;
        running.borrow_mut().hide();
        form.row(cells)
    };
    let progress = |so_far: ascend_trace_query::QueryProgress| {
        running.borrow_mut().show(so_far.rows);
        interrupt.check().map_err(stopped)
    };
    let answered = found.rows(row, progress);
    drop(running);
    match answered {
        Err(error) if error.is::<row_output::ReaderGone>() => Ok(()),
        Err(error) => Err(error),
        Ok(()) => form.finish(),
    }
}

fn stopped(stop: QueryInterrupted) -> anyhow::Error {
    stop.into()
}

/// The fault of a query, and where the valid names are listed.
fn explained(error: QueryError) -> anyhow::Error {
    anyhow!("the query failed: {error}; docs/EXPORT.md has the columns of all tables")
}
