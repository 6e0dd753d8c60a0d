//! Provides the hook table and the wrappers.

#![allow(
    clippy::disallowed_macros,
    reason = "the fence is for what runs in traced programs"
)]

use std::error::Error;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    println!("cargo:rerun-if-changed=build.rs");
    sources(&out)
}

#[cfg(feature = "generate")]
fn sources(out: &Path) -> Result<(), Box<dyn Error>> {
    Ok(ascend_trace_hookgen::write_all(out)?)
}

/// Takes them from a folder where they have been generated.
#[cfg(not(feature = "generate"))]
fn sources(out: &Path) -> Result<(), Box<dyn Error>> {
    const FOLDER: &str = "ASCEND_TRACE_GENERATED";
    println!("cargo:rerun-if-env-changed={FOLDER}");
    let folder = std::env::var_os(FOLDER).map(PathBuf::from).ok_or_else(|| {
        format!("{FOLDER} is not set: build with the feature `generate`, or the whole command")
    })?;
    for name in ["hooks.rs", "shapes.rs", "api_table.rs", "operator_words.rs"] {
        let path = folder.join(name);
        println!("cargo:rerun-if-changed={}", path.display());
        std::fs::copy(&path, out.join(name))
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}
