//! The command under test, and the compiler of the programs that it records.

use std::error::Error;
use std::path::Path;
use std::process::Command;

pub(crate) const TOOL: &str = env!("CARGO_BIN_EXE_ascend-trace");
const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/programs");

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Compiles the first word of `words`, a file of `benches/programs` or a path, with the rest as options.
pub(crate) fn compile(words: &[&str], output: &Path) -> Result<()> {
    let mut command = Command::new("cc");
    command.current_dir(PROGRAMS).arg("-O2").args(words);
    if !command.arg("-o").arg(output).status()?.success() {
        return Err(format!("{command:?} failed").into());
    }
    Ok(())
}
