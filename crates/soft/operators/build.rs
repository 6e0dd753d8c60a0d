//! Gives the library the name that programs ask for, and lets it need the runtime.

use std::error::Error;
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    stand_in(&out)?;
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-arg=-lascendcl");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libopapi.so");
    // The runtime is in the same folder. It keeps addresses of this library's code.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-rpath,$ORIGIN");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    Ok(())
}

/// Makes an empty runtime for the linker: the real library may not exist yet. It has the runtime's name and the one
/// function that this library calls.
fn stand_in(out: &std::path::Path) -> Result<(), Box<dyn Error>> {
    let name = env::var("DEP_SOFTACL_BASE_RUNTIME")?;
    let source = out.join("runtime.c");
    fs::write(&source, format!("void {name}(void) {{}}\n"))?;
    let linker = env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let status = Command::new(linker)
        .args([
            "-shared",
            "-fPIC",
            "-nostdlib",
            "-Wl,-soname,libascendcl.so",
            "-o",
        ])
        .arg(out.join("libascendcl.so"))
        .arg(&source)
        .status()?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("the compiler ended with {status}").into()),
    }
}
