//! `OUT_DIR` has the tables, as everywhere.

use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    ascend_trace_hookgen::write_all(&out)?;
    println!("cargo:rerun-if-changed=../crates/inject/hookgen");
    Ok(())
}
