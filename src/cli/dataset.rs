//! `dataset`: Parquet tables of many recordings in one place, for queries over all of them (docs/FLEET.md).

#[cfg(feature = "parquet")]
mod add;
#[cfg(feature = "parquet")]
mod add_all;
mod address;
#[cfg(feature = "parquet")]
mod align;
#[cfg(feature = "object-store")]
mod bucket;
#[cfg(feature = "parquet")]
mod dataset_store;
#[cfg(feature = "parquet")]
mod files;
#[cfg(feature = "parquet")]
mod folder;
#[cfg(feature = "parquet")]
mod identity;
#[cfg(feature = "parquet")]
mod manifest;
mod partition_path;
#[cfg(feature = "query")]
mod readable;
#[cfg(feature = "parquet")]
mod schema;
#[cfg(feature = "query")]
mod single_recording;

use std::num::NonZeroU16;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use crate::error::TROUBLE;
use crate::output::print_message;
use crate::quote::{quoted, quoted_path};

pub(crate) use address::url;
pub(crate) use partition_path::run_name;
#[cfg(feature = "query")]
pub(crate) use readable::ReadableTables;
#[cfg(feature = "query")]
pub(crate) use single_recording::write_tables;

#[derive(Debug, Args)]
pub(crate) struct DatasetArgs {
    #[command(subcommand)]
    pub(crate) action: DatasetAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DatasetAction {
    /// Write the tables of recordings into a dataset. Recordings that it has already are left alone
    Add(AddArgs),
    /// Align the clocks of the hosts of each run, by the collectives of their ranks
    Align(AlignArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AlignArgs {
    /// The folder of the dataset, or the URL of its place in an object store
    #[arg(value_name = "DIR|URL")]
    pub(crate) dataset: PathBuf,

    /// Only this run [default: all runs of the dataset]
    #[arg(long, value_name = "NAME", value_parser = run_name)]
    pub(crate) run: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// The trace files
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// The folder of the dataset. The command makes it if it does not exist. Or the URL of a place in an
    /// object store, such as s3://bucket/fleet (docs/FLEET.md)
    #[arg(long, value_name = "DIR|URL")]
    pub(crate) to: PathBuf,

    /// The value of the column run. Give the ranks of one job the same name [default: the start time in
    /// UTC, and the name of the program]
    #[arg(long, value_name = "NAME", value_parser = run_name)]
    pub(crate) run: Option<String>,

    /// How many files are added at the same time [default: the number of processors]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroU16>,

    /// End with status 3 unless all recordings are complete: ended, not damaged, nothing lost
    #[arg(long)]
    pub(crate) strict: bool,
}

pub(crate) fn run(args: &DatasetArgs) -> anyhow::Result<u8> {
    match &args.action {
        DatasetAction::Add(args) => add(args),
        DatasetAction::Align(args) => align(args),
    }
}

#[cfg(feature = "parquet")]
fn align(args: &AlignArgs) -> anyhow::Result<u8> {
    align::run(args)
}

#[cfg(not(feature = "parquet"))]
fn align(args: &AlignArgs) -> anyhow::Result<u8> {
    prepare(&args.dataset).map(|()| 0)
}

/// Makes a dataset, or finds that one which exists takes what this tool writes.
#[cfg(feature = "parquet")]
pub(crate) fn prepare(place: &Path) -> anyhow::Result<()> {
    schema::prepare(&*dataset_store::open(place)?)
}

#[cfg(not(feature = "parquet"))]
pub(crate) fn prepare(_place: &Path) -> anyhow::Result<()> {
    anyhow::bail!("this build writes no datasets: build it with the feature parquet")
}

#[cfg(feature = "parquet")]
fn add(args: &AddArgs) -> anyhow::Result<u8> {
    let store = dataset_store::open(&args.to)?;
    schema::prepare(&*store)?;
    add_all::add(args, &*store)
}

#[cfg(not(feature = "parquet"))]
fn add(args: &AddArgs) -> anyhow::Result<u8> {
    prepare(&args.to).map(|()| 0)
}

/// Adds a recording that has just ended. A failure is reported with the command that tries again.
pub(crate) fn add_recorded(file: &Path, root: &Path, run: Option<&str>) {
    let args = AddArgs {
        files: vec![file.to_owned()],
        to: root.to_owned(),
        run: run.map(ToOwned::to_owned),
        jobs: None,
        strict: false,
    };
    let status = match add(&args) {
        Ok(status) => status,
        Err(error) => {
            print_message(format!("{error:#}"));
            TROUBLE
        }
    };
    if status == TROUBLE {
        let name = run
            .map(|run| format!(" --run={}", quoted(run)))
            .unwrap_or_default();
        let to = format!("{}{name}", quoted_path(root));
        print_message(format!(
            "the recording is not in the dataset; to add it: ascend-trace dataset add {} --to {to}",
            quoted_path(file)
        ));
    }
}
