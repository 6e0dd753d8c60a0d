//! The words of `arm`, `attach` and `detach`.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;

use super::filters::FilterArgs;
use super::record::{CaptureArgs, MetricsArgs, OutputFileArgs, WatchdogArgs};
use super::ring::RingArgs;
use super::roll::RollArgs;
use super::window::parse_positive_duration;

#[derive(Debug, Args)]
#[command(override_usage = "ascend-trace arm [OPTIONS] [--] APP [ARGS]...")]
pub(crate) struct ArmArgs {
    /// Run APP on the bundled software runtime instead of an installed CANN. Options are
    /// KEY=VALUE, separated by commas
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

    /// Record what PyTorch or MindSpore does in Python programs while a recorder is attached, as `record --python` does
    #[arg(long)]
    pub(crate) python: bool,

    /// The program to start, and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "APP [ARGS]")]
    pub(crate) app: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct AttachArgs {
    /// The number of the process. It was started by `ascend-trace arm`, or by a program that was, unless `--inject` is given
    pub(crate) pid: u32,

    #[command(flatten)]
    pub(crate) output: OutputFileArgs,

    /// Detach after this time, such as 5s. Without it, Ctrl-C detaches
    #[arg(long, value_name = "DURATION", value_parser = parse_positive_duration)]
    pub(crate) duration: Option<Duration>,

    #[command(flatten)]
    pub(crate) capture: CaptureArgs,

    #[command(flatten)]
    pub(crate) watchdog: WatchdogArgs,

    #[command(flatten)]
    pub(crate) filters: FilterArgs,

    #[command(flatten)]
    pub(crate) ring: RingArgs,

    #[command(flatten)]
    pub(crate) roll: RollArgs,

    #[command(flatten)]
    pub(crate) metrics: MetricsArgs,

    /// Put the library into a program that was started without it. Where that is not safe, the program stays as it is
    #[arg(long)]
    pub(crate) inject: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DetachArgs {
    /// The number of the process, or of its recorder
    pub(crate) pid: u32,
}
