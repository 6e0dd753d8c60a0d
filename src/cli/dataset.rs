//! `dataset`: Parquet tables of many recordings in one folder, for queries over all of them (docs/FLEET.md).

#[cfg(feature = "parquet")]
mod add;
#[cfg(feature = "parquet")]
mod files;
#[cfg(feature = "parquet")]
mod identity;
#[cfg(feature = "parquet")]
mod manifest;
mod place;
#[cfg(feature = "parquet")]
mod schema;
#[cfg(feature = "parquet")]
mod several;

use std::num::NonZeroU16;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use place::run_name;

#[derive(Debug, Args)]
pub(crate) struct DatasetArgs {
    #[command(subcommand)]
    pub(crate) action: Action,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Write the tables of recordings into a dataset. Recordings that it has already are left alone
    Add(AddArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// The trace files
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// The folder of the dataset. The command makes it if it does not exist
    #[arg(long, value_name = "DIR")]
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
        Action::Add(args) => add(args),
    }
}

#[cfg(feature = "parquet")]
fn add(args: &AddArgs) -> anyhow::Result<u8> {
    schema::prepare(&args.to)?;
    several::add(args)
}

#[cfg(not(feature = "parquet"))]
fn add(_args: &AddArgs) -> anyhow::Result<u8> {
    anyhow::bail!("this build writes no datasets: build it with the feature parquet")
}
