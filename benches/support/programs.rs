//! Programs that are compiled for the software runtime.

use std::path::{Path, PathBuf};

use super::command::{self, Result};
use super::soft;

/// Compiles sources of `benches/programs`, or of paths from there, to a program of this name in a folder.
pub(crate) fn compile(sources: &[&str], name: &str, folder: &Path) -> Result<PathBuf> {
    let program = folder.join(name);
    let (include, libraries) = (soft::folder("--include-dir")?, soft::folder("--lib-dir")?);
    let options = [
        "-pthread",
        "-I",
        &include,
        "-L",
        &libraries,
        "-lascendcl",
        "-lm",
    ];
    command::compile(&[sources, &options].concat(), &program)?;
    Ok(program)
}
