//! Programs of `benches/programs`, compiled for the software runtime.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

const TOOL: &str = env!("CARGO_BIN_EXE_ascend-trace");
const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/programs");

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn soft(option: &str) -> Result<String> {
    let output = Command::new(TOOL).args(["soft", option]).output()?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// Compiles a program into a folder.
pub(crate) fn compile(name: &str, folder: &Path) -> Result<PathBuf> {
    let program = folder.join(name);
    let mut command = Command::new("cc");
    command
        .args(["-O2", "-pthread", "-I", &soft("--include-dir")?, "-L"])
        .arg(soft("--lib-dir")?)
        .arg(Path::new(PROGRAMS).join(format!("{name}.c")))
        .arg("-o")
        .arg(&program)
        .arg("-lascendcl");
    if !command.status()?.success() {
        return Err(format!("{command:?} failed").into());
    }
    Ok(program)
}
