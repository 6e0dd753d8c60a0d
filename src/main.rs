//! The `ascend-trace` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(ascend_trace::run(std::env::args_os()))
}
