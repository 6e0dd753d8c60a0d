//! Options of `serve` and `env`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::filters::FilterArgs;
use super::record::{CaptureArgs, MetricsArgs, OutputFileArgs, WatchdogArgs};
use super::ring::RingArgs;
use super::roll::RollArgs;
use super::window::WindowArgs;
use crate::server_place::{USUAL_NAME, server_name};

#[derive(Debug, Args)]
#[command(override_usage = "ascend-trace serve [OPTIONS]")]
pub(crate) struct ServeArgs {
    /// The name of this server for `ascend-trace env`. Each name has one server on a host
    #[arg(long, value_name = "NAME", value_parser = server_name, default_value = USUAL_NAME)]
    pub(crate) name: String,

    /// The trace file [default: ./serve-PID.atrace]. In its name, %p is the server's pid, %h the host, %q{NAME} a
    /// variable of the environment, %% a percent sign
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Replace the trace file if it exists
    #[arg(long, requires = "output")]
    force: bool,

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

impl ServeArgs {
    pub(crate) fn output(&self) -> OutputFileArgs {
        OutputFileArgs {
            output: self.output.clone(),
            force: self.force,
        }
    }
}

#[derive(Debug, Args)]
#[command(override_usage = "ascend-trace env [OPTIONS] [--] [APP [ARGS]...]")]
pub(crate) struct EnvArgs {
    /// The name of the server
    #[arg(long, value_name = "NAME", value_parser = server_name, default_value = USUAL_NAME)]
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

    /// Record the blocks of PyTorch's caching allocator, as `record --pools` does
    #[arg(long)]
    pub(crate) pools: bool,

    /// Record what PyTorch or MindSpore does in Python programs, as `record --python` does
    #[arg(long)]
    pub(crate) python: bool,

    /// Print lines NAME=VALUE without `export`, as `docker run --env-file` reads them
    #[arg(long, conflicts_with = "app")]
    pub(crate) plain: bool,

    /// The program to start, and its arguments. Without it, print commands for `eval` in a shell
    #[arg(trailing_var_arg = true, value_name = "APP [ARGS]")]
    pub(crate) app: Vec<OsString>,
}
