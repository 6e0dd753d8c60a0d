//! The inner build: libraries and programs for the target, made by a cargo run of their own.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The libraries that are embedded: name in `embedded.rs`, package, file that the build leaves.
const INTERPOSER: [&str; 3] = [
    "INTERPOSER",
    "ascend-trace-interposer",
    "libascend_trace_interposer.so",
];
const SOFTACL: [&str; 3] = ["SOFTACL", "softacl", "libascendcl.so"];

/// Settings of the outer build that must not reach the inner one: a shared target folder would
/// make it wait for the outer cargo for ever, and a wrapper such as clippy would not build at all.
const OUTER_ONLY: [&str; 7] = [
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_BUILD_BUILD_DIR",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
];

/// Whether something will be linked: not when cargo only checks, lints or documents.
pub(crate) fn wanted() -> bool {
    let wrapper = env::var("RUSTC_WORKSPACE_WRAPPER").unwrap_or_default();
    let line = format!("/proc/{}/cmdline", std::os::unix::process::parent_id());
    let words = fs::read(line).unwrap_or_default();
    let words = String::from_utf8_lossy(&words).into_owned();
    !wrapper.contains("clippy") && !only_checks(words.split('\0').skip(1))
}

/// Whether the words after `cargo` ask for no code.
fn only_checks<'a>(mut words: impl Iterator<Item = &'a str>) -> bool {
    while let Some(word) = words.next() {
        match word {
            "--color" | "--config" | "-C" | "-Z" | "--manifest-path" => {
                words.next();
            }
            "check" | "c" | "clippy" | "doc" | "d" | "rustdoc" | "fix" => return true,
            word if word.starts_with(['-', '+']) => {}
            _ => return false,
        }
    }
    false
}

/// Builds the libraries and answers where they are.
pub(crate) fn build(
    out: &Path,
    soft: bool,
) -> Result<Vec<(&'static str, PathBuf)>, Box<dyn Error>> {
    let libraries = if soft {
        vec![INTERPOSER, SOFTACL]
    } else {
        vec![INTERPOSER]
    };
    let folder = out.join("embed-target");
    let target = env::var("TARGET")?;
    let profile = profile(out);
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--locked", "--lib"]);
    for [_, package, _] in &libraries {
        cargo.args(["--package", package]);
    }
    if env::var_os("CARGO_FEATURE_BINDGEN").is_some() {
        cargo.args(["--features", "ascend-trace-interposer/bindgen"]);
    }
    cargo
        .args(["--profile", &profile, "--target", &target, "--target-dir"])
        .arg(&folder);
    for name in OUTER_ONLY {
        cargo.env_remove(name);
    }
    // Empty switches off a wrapper that a configuration file names.
    cargo
        .env("RUSTC_WRAPPER", "")
        .env("RUSTC_WORKSPACE_WRAPPER", "");
    run(&mut cargo)?;
    let directory = if profile == "dev" { "debug" } else { &profile };
    let built = folder.join(target).join(directory);
    Ok(libraries
        .iter()
        .map(|[name, _, file]| (*name, built.join(file)))
        .collect())
}

/// Runs a command that must succeed.
pub(crate) fn run(command: &mut Command) -> Result<(), Box<dyn Error>> {
    let status = command
        .status()
        .map_err(|error| format!("cannot run {command:?}: {error}"))?;
    if !status.success() {
        return Err(format!("{command:?} ended with {status}").into());
    }
    Ok(())
}

/// The outer profile: the folder `…/PROFILE/build/PACKAGE/out` is named for it.
fn profile(out: &Path) -> String {
    let name = out.ancestors().nth(3).and_then(Path::file_name);
    match name.map(|name| name.to_string_lossy().into_owned()) {
        Some(name) if name != "debug" => name,
        _ => "dev".to_owned(),
    }
}
