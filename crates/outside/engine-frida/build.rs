//! Passes the place of the devkit to the linker, and reports missing files.

use std::env;
use std::path::Path;

/// Names the folder with `libfrida-gum.a` and `frida-gum.h`.
const DEVKIT: &str = "FRIDA_GUM_DEVKIT";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed={DEVKIT}");
    let has = |name: &str| env::var_os(name).is_some();
    // Documentation builds are checked against the headers that the bindings bring, and not linked.
    if !has("CARGO_FEATURE_GUM") || has("CARGO_FEATURE_DOWNLOAD") {
        return;
    }
    match env::var_os(DEVKIT).filter(|folder| !folder.is_empty()) {
        Some(folder) => {
            let folder = Path::new(&folder);
            let names = ["libfrida-gum.a", "libfrida-gum.so"];
            if !names.iter().any(|name| folder.join(name).exists()) {
                println!(
                    "cargo:error={DEVKIT} names {}, where there is no libfrida-gum.a",
                    folder.display()
                );
            }
            println!("cargo:rustc-link-search=native={}", folder.display());
            // A devkit is an archive. Tests use a library in its place, in the same folder.
            if !folder.join(names[0]).exists() {
                println!(
                    "cargo:rustc-link-arg-cdylib=-Wl,-rpath,{}",
                    folder.display()
                );
            }
        }
        None if has("DOCS_RS") => {}
        None => println!(
            "cargo:error={DEVKIT} must name the folder of a devkit of Gum 17.9.5, or the feature \
             `download` be on: see docs/ENGINES.md"
        ),
    }
}
