//! Gives the library the name that programs link against, keeps it loaded, and writes the functions that have no
//! behaviour.

#[path = "build/stubs.rs"]
mod stubs;

use std::error::Error;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libascendcl.so");
    // The engine thread runs until the process ends, so the code must never be unmapped by `dlclose`.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    for folder in stubs::SOURCES {
        println!("cargo:rerun-if-changed={folder}");
    }
    for table in stubs::TABLES {
        println!("cargo:rerun-if-changed={}/{table}", stubs::DATA);
    }
    // The name under which other libraries ask for this one.
    let name = std::env::var("DEP_SOFTACL_BASE_RUNTIME")?;
    println!("cargo:rustc-env=SOFTACL_RUNTIME={name}");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    std::fs::write(out.join("stubs.rs"), stubs::source(Path::new("."))?)?;
    Ok(())
}
