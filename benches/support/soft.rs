//! The software runtime of the command.

use std::process::Command;

use super::command::{Result, TOOL};

/// The folder that an option of `ascend-trace soft` prints.
pub(crate) fn folder(option: &str) -> Result<String> {
    let output = Command::new(TOOL).args(["soft", option]).output()?;
    Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
}
