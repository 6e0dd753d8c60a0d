//! The demo programs: plain C, compiled against our headers and linked to the software runtime.

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCES: [&str; 7] = [
    "expected.c",
    "main.c",
    "measure.c",
    "overlap.c",
    "pipeline.c",
    "stall.c",
    "transformer.c",
];

/// Compiles the program and returns its path. `library` is the runtime to link to.
pub(crate) fn build(out: &Path, library: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let program = out.join("ascend-trace-demo");
    let folder = library.parent().ok_or("the runtime has no folder")?;
    let mut compiler = Command::new(compiler());
    // Debug information names the folder of the build, and some compilers add it unasked.
    compiler.args(["-std=c11", "-O2", "-Wall", "-s", "-Iinclude", "-o"]);
    compiler.arg(&program);
    compiler.args(SOURCES.map(|source| Path::new("examples/demo").join(source)));
    compiler.arg("-L").arg(folder).args(["-lascendcl", "-lm"]);
    super::inner::run(&mut compiler)?;
    Ok(program)
}

/// The C compiler for the target, by the usual variables; what links for it compiles for it too.
fn compiler() -> String {
    let target = env::var("TARGET").unwrap_or_default();
    let host = env::var("HOST").unwrap_or_default();
    let specific = env::var(format!("CC_{}", target.replace('-', "_"))).ok();
    let general = env::var("CC").ok().filter(|_| target == host);
    let linker = env::var("RUSTC_LINKER").ok();
    specific
        .or(general)
        .or(linker)
        .unwrap_or_else(|| "cc".to_owned())
}
