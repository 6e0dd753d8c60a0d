//! Programs that are compiled for the software runtime.

use std::path::{Path, PathBuf};

use super::command::{self, Result};
use super::soft;

/// Compiles a program of `benches/programs`, or of a path from there, into a folder.
pub(crate) fn compile(source: &str, folder: &Path) -> Result<PathBuf> {
    let name = Path::new(source).file_stem().ok_or("no name of a file")?;
    let program = folder.join(name);
    let (include, libraries) = (soft::folder("--include-dir")?, soft::folder("--lib-dir")?);
    let words = [
        source,
        "-pthread",
        "-I",
        &include,
        "-L",
        &libraries,
        "-lascendcl",
    ];
    command::compile(&words, &program)?;
    Ok(program)
}
