//! Names the build: the two libraries of one process exchange types of Rust, so both have to be from the same sources
//! and the same compiler.

use std::error::Error;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=src");
    println!("cargo:rerun-if-changed=build.rs");
    let mut hasher = DefaultHasher::new();
    let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    Command::new(compiler)
        .arg("-vV")
        .output()?
        .stdout
        .hash(&mut hasher);
    let mut files = Vec::new();
    sources(Path::new("src"), &mut files)?;
    files.sort();
    for file in files {
        fs::read(file)?.hash(&mut hasher);
    }
    let name = format!("softacl_runtime_{:016x}", hasher.finish());
    println!("cargo:rustc-env=SOFTACL_RUNTIME={name}");
    // For the build script of the operators.
    println!("cargo:runtime={name}");
    Ok(())
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            sources(&path, found)?;
        } else {
            found.push(path);
        }
    }
    Ok(())
}
