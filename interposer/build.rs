//! Generates the hook table and the wrappers.

#![allow(
    clippy::disallowed_macros,
    reason = "the fence is for what runs in traced programs"
)]

use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    ascend_trace_hookgen::write_all(&out)?;
    println!("cargo:rerun-if-changed=build.rs");
    Ok(())
}
