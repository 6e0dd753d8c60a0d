//! Generates the hook table and what else is made of it, once for the whole command.

use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    println!("cargo:rerun-if-changed=build.rs");
    ascend_trace_hookgen::write_all(&out)?;
    // `DEP_ASCEND_TRACE_TABLES_GENERATED` for the build script of the command.
    println!("cargo:generated={}", out.display());
    Ok(())
}
