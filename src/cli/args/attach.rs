//! The words of `arm`, `attach` and `detach`.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;

use ascend_trace_format::session::Timing;

use super::filters::FilterArgs;
use super::record::{Budget, OutputFileArgs, budget};
use super::window::parse_positive_duration;
use crate::recorder::timing::timing_of;

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

    /// Record what PyTorch does in Python programs while a recorder is attached, as `record --python` does
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

    /// How tasks are timed, as for `record`: auto, events, chained, sample=N or off
    #[arg(long, value_name = "HOW", value_parser = timing_of, default_value = "auto")]
    pub(crate) timing: Timing,

    /// With `--timing auto`: the part of a stream's time that events may take, in percent. Tasks beyond it have
    /// no events. `off` sets no limit
    #[arg(long, value_name = "PERCENT", value_parser = budget, default_value = "2")]
    pub(crate) budget: Budget,

    /// Record the stack of each call, N frames at most
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "32",
        value_parser = clap::value_parser!(u32).range(1..=100)
    )]
    pub(crate) stacks: Option<u32>,

    /// Memory for data that is not written yet, in MiB. Bursts beyond it are lost and counted
    #[arg(long, value_name = "MIB", default_value_t = 24, value_parser = clap::value_parser!(u32).range(4..=65536))]
    pub(crate) buffer: u32,

    #[command(flatten)]
    pub(crate) filters: FilterArgs,

    /// Put the library into a program that was started without it. Where that is not safe, the program stays as it is
    #[arg(long)]
    pub(crate) inject: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DetachArgs {
    /// The number of the process, or of its recorder
    pub(crate) pid: u32,
}
