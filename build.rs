//! Makes the command self-contained: the libraries that it loads into programs, the software
//! runtime, its demo programs and the C headers are built here and embedded.
//!
//! `OUT_DIR/embedded.rs` contains the embedded files.

#[path = "build/demo.rs"]
mod demo;
#[path = "build/headers.rs"]
mod headers;
#[path = "build/inner.rs"]
mod inner;
#[path = "build/version.rs"]
mod version;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Sources of the embedded files.
const INPUTS: [&str; 17] = [
    "build.rs",
    "build",
    "Cargo.toml",
    "Cargo.lock",
    "interposer",
    "include",
    "crates/inject/format",
    "crates/inject/ring",
    "crates/inject/hookgen",
    "crates/inject/tables",
    "crates/soft/base",
    "crates/soft/runtime",
    "crates/soft/operators",
    "crates/soft/options",
    "crates/inject/engine",
    "crates/outside/engine-frida",
    "examples/demo",
];
/// Environment variable with the folder of the sources that `crates/inject/tables` generated.
const GENERATED: &str = "DEP_ASCEND_TRACE_TABLES_GENERATED";
/// Constants that `embedded.rs` always has. One of them is empty if its file was not built.
const NAMES: [&str; 5] = ["INTERPOSER", "SOFTACL", "OPERATORS", "DEMO", "ENGINE"];

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let folder = inner::folder(&out)?;
    let generated = folder.join("generated");
    copy_generated(Path::new(&env::var(GENERATED)?), &generated)?;
    version::tell();
    for input in INPUTS {
        println!("cargo:rerun-if-changed={input}");
    }
    let soft = env::var_os("CARGO_FEATURE_SOFTACL").is_some();
    let mut built = inner::build(&folder, &generated, soft)?;
    if let Some((_, library)) = built.get(1) {
        link_examples(library);
        built.push(("DEMO", demo::build(&out, library)?));
    }
    if env::var_os("CARGO_FEATURE_FRIDA").is_some() {
        built.push(("ENGINE", inner::build_engine(&folder)?));
    }
    fs::write(out.join("embedded.rs"), embedded_source(&built, soft)?)?;
    Ok(())
}

/// Copies the generated files to a folder that is the same for all features, where the inner build
/// finds them. Files without a change keep their time stamp, so that cargo does not rebuild.
fn copy_generated(from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (new, path) = (fs::read(entry.path())?, to.join(entry.file_name()));
        if fs::read(&path).map_or(true, |old| old != new) {
            fs::write(path, new)?;
        }
    }
    Ok(())
}

/// Lets the examples link to the software runtime. Uses an argument of the linker, since
/// cargo would put its own search path before the user's runtime in `cargo run`.
fn link_examples(library: &Path) {
    if let Some(folder) = library.parent() {
        println!("cargo:rustc-link-arg-examples=-L{}", folder.display());
    }
}

/// The source of `embedded.rs`: each file by name, empty where nothing was built.
fn embedded_source(built: &[(&str, PathBuf)], soft: bool) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    let mut contents = Vec::new();
    for name in NAMES {
        let value = match built.iter().find(|(built, _)| *built == name) {
            Some((_, path)) => {
                contents.push(fs::read(path)?);
                format!("include_bytes!({path:?})")
            }
            None => "&[]".to_owned(),
        };
        text.push_str(&format!("pub(super) static {name}: &[u8] = {value};\n"));
    }
    let headers = if soft {
        headers::list(Path::new("include"))?
    } else {
        Vec::new()
    };
    text.push_str("pub(super) static HEADERS: &[(&str, &[u8])] = &[\n");
    for (name, path) in &headers {
        contents.push([name.as_bytes(), &fs::read(path)?].concat());
        text.push_str(&format!("    ({name:?}, include_bytes!({path:?})),\n"));
    }
    let hash = hash(contents.iter().map(Vec::as_slice));
    text.push_str(&format!(
        "];\npub(super) const CONTENT_HASH: &str = \"{hash:016x}\";\n"
    ));
    Ok(text)
}

/// 64-bit FNV-1a over contents and their lengths.
fn hash<'a>(contents: impl Iterator<Item = &'a [u8]>) -> u64 {
    let add = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    contents.fold(0xcbf2_9ce4_8422_2325, |hash, bytes| {
        let hash = bytes.iter().fold(hash, add);
        bytes.len().to_le_bytes().iter().fold(hash, add)
    })
}
