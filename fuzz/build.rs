//! `OUT_DIR/api_table.rs` is the hook table, as everywhere.

use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let table = ascend_trace_hookgen::HookTable::embedded()?;
    std::fs::write(
        out.join("api_table.rs"),
        ascend_trace_hookgen::emit_table(&table),
    )?;
    println!("cargo:rerun-if-changed=../crates/inject/hookgen");
    Ok(())
}
