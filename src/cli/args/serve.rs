//! Options of `serve` and `env`.

use std::ffi::OsString;

use clap::Args;

use super::filters::FilterArgs;
use super::record::{CaptureArgs, MetricsArgs, OutputFileArgs, WatchdogArgs};
use super::ring::RingArgs;
use super::roll::RollArgs;
use super::window::WindowArgs;
use crate::server_place::server_name;

/// The name of a server that no option names.
const USUAL: &str = "node";

#[derive(Debug, Args)]
#[command(override_usage = "ascend-trace serve [OPTIONS]")]
pub(crate) struct ServeArgs {
    /// The name of this server for `ascend-trace env`. Each name has one server on a host
    #[arg(long, value_name = "NAME", value_parser = server_name, default_value = USUAL)]
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) output: OutputFileArgs,

    #[command(flatten)]
    pub(crate) capture: CaptureArgs,

    #[command(flatten)]
    pub(crate) watchdog: WatchdogArgs,

    #[command(flatten)]
    pub(crate) window: WindowArgs,

    #[command(flatten)]
    pub(crate) filters: FilterArgs,

    #[command(flatten)]
    pub(crate) ring: RingArgs,

    #[command(flatten)]
    pub(crate) roll: RollArgs,

    #[command(flatten)]
    pub(crate) metrics: MetricsArgs,
}

#[derive(Debug, Args)]
#[command(override_usage = "ascend-trace env [OPTIONS] [--] [APP [ARGS]...]")]
pub(crate) struct EnvArgs {
    /// The name of the server
    #[arg(long, value_name = "NAME", value_parser = server_name, default_value = USUAL)]
    pub(crate) name: String,

    /// Use the bundled software runtime instead of an installed CANN. Options are KEY=VALUE, separated by commas
    #[arg(
        long,
        value_name = "KEY=VALUE,..",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ""
    )]
    pub(crate) soft: Option<String>,

    /// Load no `libmspti.so`: torch_npu then reports no ranges (steps, data loading)
    #[arg(long)]
    pub(crate) no_mstx: bool,

    /// Record what PyTorch does in Python programs, as `record --python` does
    #[arg(long)]
    pub(crate) python: bool,

    /// Print lines NAME=VALUE without `export`, as `docker run --env-file` reads them
    #[arg(long, conflicts_with = "app")]
    pub(crate) plain: bool,

    /// The program to start, and its arguments. Without it, print commands for `eval` in a shell
    #[arg(trailing_var_arg = true, value_name = "APP [ARGS]")]
    pub(crate) app: Vec<OsString>,
}
