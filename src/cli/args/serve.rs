//! Options of `serve` and `env`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::program::ProgramArgs;
use super::record::{OutputFileArgs, RecorderArgs};
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
    pub(crate) recorder: RecorderArgs,

    #[command(flatten)]
    pub(crate) window: WindowArgs,
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

    #[command(flatten)]
    pub(crate) program: ProgramArgs,

    /// Print lines NAME=VALUE without `export`, as `docker run --env-file` reads them
    #[arg(long, conflicts_with = "app")]
    pub(crate) plain: bool,

    /// The program to start, and its arguments. Without it, print commands for `eval` in a shell
    #[arg(trailing_var_arg = true, value_name = "APP [ARGS]")]
    pub(crate) app: Vec<OsString>,
}
