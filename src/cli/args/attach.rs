//! The words of `arm`, `attach` and `detach`.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;

use super::program::ProgramArgs;
use super::record::{OutputFileArgs, RecorderArgs};
use super::window::{AttachedWindowArgs, parse_positive_duration};

#[derive(Debug, Args)]
#[command(override_usage = "ascend-trace arm [OPTIONS] [--] APP [ARGS]...")]
pub(crate) struct ArmArgs {
    #[command(flatten)]
    pub(crate) program: ProgramArgs,

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
    pub(crate) window: AttachedWindowArgs,

    #[command(flatten)]
    pub(crate) recorder: RecorderArgs,

    /// Put the library into a program that was started without it. Where that is not safe, the program stays as it is
    #[arg(long)]
    pub(crate) inject: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DetachArgs {
    /// The number of the process, or of its recorder
    pub(crate) pid: u32,
}
