//! The words of the commands that describe the installation.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::cli::schema;

#[derive(Debug, Args)]
pub(crate) struct HooksArgs {
    /// Print a JSON document instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The document; without it, the names of all documents are printed
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(schema::names()))]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// The folder of the recordings. Files outside of it are not read
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Check the bundled software runtime instead of an installed CANN, as `record --soft` would use it
    #[arg(
        long,
        value_name = "KEY=VALUE,..",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ""
    )]
    pub(crate) soft: Option<String>,

    /// Run a program on a device. It measures how timing affects submitting and synchronising, and the
    /// duration of an event record [default device: 0]
    #[arg(
        long,
        value_name = "DEVICE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0"
    )]
    pub(crate) measure: Option<u32>,

    /// A program to check, after --
    #[arg(last = true, value_name = "APP")]
    pub(crate) app: Vec<OsString>,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct SoftArgs {
    /// Print the folder for the compiler's -I
    #[arg(long)]
    pub(crate) include_dir: bool,

    /// Print the folder for the compiler's -L and for LD_LIBRARY_PATH
    #[arg(long)]
    pub(crate) lib_dir: bool,

    /// Print shell commands that make programs of this shell use the software runtime
    #[arg(long)]
    pub(crate) env: bool,

    /// Print the operators that the recorded program looked up and did not find
    #[arg(long, value_name = "FILE")]
    pub(crate) missing: Option<PathBuf>,
}
