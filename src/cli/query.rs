//! `query`: SQL over the tables of a recording or a dataset, and questions that come with the tool (docs/QUERIES.md).

#[cfg(feature = "query")]
mod interrupt;
mod named_queries;
#[cfg(feature = "query")]
mod row_output;
#[cfg(feature = "query")]
mod source;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use clap::Args;

use super::args::STDIN;
use super::dataset;
use crate::output::print;

#[derive(Debug, Args)]
pub(crate) struct QueryArgs {
    /// The folder or the URL of a dataset, or a trace file (- is standard input), and SQL or the name of a query
    #[arg(value_name = "DIR|FILE QUERY", num_args = 0..=2)]
    pub(crate) words: Vec<OsString>,

    /// List the queries that come with the tool
    #[arg(long, conflicts_with_all = ["words", "show", "sql"])]
    pub(crate) list: bool,

    /// Print the SQL of a query that comes with the tool
    #[arg(long, value_name = "NAME", conflicts_with_all = ["words", "sql"])]
    pub(crate) show: Option<String>,

    /// Read the SQL from a file instead
    #[arg(long, value_name = "FILE")]
    pub(crate) sql: Option<PathBuf>,

    /// Use only rows of this run. You may give several
    #[arg(long, value_name = "NAME")]
    pub(crate) run: Vec<String>,

    /// Print a JSON document instead of text
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,

    /// Print comma-separated values instead of text
    #[arg(long)]
    pub(crate) csv: bool,

    /// Memory for intermediate results, in MiB. What does not fit goes to files in the folder for temporary files
    #[arg(long, value_name = "MIB", default_value_t = 2048, value_parser = clap::value_parser!(u32).range(64..=1_048_576))]
    pub(crate) memory: u32,

    /// How many threads compute the result [default: the number of processors]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroU16>,

    /// For a trace file: end with status 3 unless the recording is complete: ended, not damaged, nothing lost
    #[arg(long)]
    pub(crate) strict: bool,
}

pub(crate) fn run(args: &QueryArgs) -> anyhow::Result<u8> {
    if args.list {
        return print(&named_queries::list()).map(|()| 0);
    }
    if let Some(name) = &args.show {
        return print(named_queries::text(name)?).map(|()| 0);
    }
    let (data, query) = database_and_query(args)?;
    run_query(args, &data, &query)
}

/// The query, and its source.
fn database_and_query(args: &QueryArgs) -> anyhow::Result<(PathBuf, String)> {
    let words: Vec<&OsStr> = args.words.iter().map(OsString::as_os_str).collect();
    match (words.as_slice(), &args.sql) {
        ([data], Some(file)) => {
            let text = fs::read_to_string(file);
            let text = text.with_context(|| format!("cannot read {}", file.display()))?;
            Ok((existing(data)?, text))
        }
        (_, Some(_)) => bail!("with --sql FILE: name a dataset or a trace file, and nothing else"),
        ([first, second], None) => {
            let (data, query) = match existing(first) {
                Ok(data) => (data, second),
                Err(error) => (existing(second).map_err(|_| error)?, first),
            };
            let query = query.to_str().context("the query is not UTF-8")?;
            Ok((data, sql(query)?))
        }
        ([word], None) if existing(word).is_ok() => Err(anyhow!(
            "no query: give SQL, or one of {}",
            named_queries::names().join(", ")
        )),
        ([_], None) => Err(anyhow!(
            "no dataset or trace file to ask: ascend-trace query DIR|FILE QUERY"
        )),
        _ => Err(anyhow!(
            "name a dataset or a trace file, and a query; --list lists the queries that come with the tool"
        )),
    }
}

fn existing(word: &OsStr) -> anyhow::Result<PathBuf> {
    if word == "-" {
        return Ok(STDIN.into());
    }
    let path = Path::new(word);
    if dataset::url(path).is_some() {
        return Ok(path.to_owned());
    }
    // A pattern of the files of a recording.
    let found = path.to_str().and_then(|it| glob::glob(it).ok());
    if found.is_some_and(|mut it| it.next().is_some()) {
        return Ok(path.to_owned());
    }
    fs::metadata(path).with_context(|| format!("cannot open {}", path.display()))?;
    Ok(path.to_owned())
}

/// The SQL of a query: a single word is the name of one that comes with the tool.
fn sql(query: &str) -> anyhow::Result<String> {
    match query.split_whitespace().count() {
        0 => bail!("the query is empty"),
        1 => named_queries::text(query.trim()).map(ToOwned::to_owned),
        _ => Ok(query.to_owned()),
    }
}

#[cfg(feature = "query")]
fn run_query(args: &QueryArgs, data: &Path, query: &str) -> anyhow::Result<u8> {
    source::run_query(args, data, query)
}

#[cfg(not(feature = "query"))]
fn run_query(_args: &QueryArgs, _data: &Path, _query: &str) -> anyhow::Result<u8> {
    bail!(
        "this build has no engine for queries: use a package, build with --features query, or give the text of query \
         --show NAME to DuckDB or Spark"
    )
}
