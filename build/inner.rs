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

/// The engine: package, and file that the build leaves.
const ENGINE: [&str; 2] = [
    "ascend-trace-engine-frida",
    "libascend_trace_engine_frida.so",
];

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
    let mut packages = Vec::new();
    for [_, package, _] in &libraries {
        packages.extend(["--package", package]);
    }
    if env::var_os("CARGO_FEATURE_BINDGEN").is_some() {
        packages.extend(["--features", "ascend-trace-interposer/bindgen"]);
    }
    let built = cargo(out, &packages, &[])?;
    Ok(libraries
        .iter()
        .map(|[name, _, file]| (*name, built.join(file)))
        .collect())
}

/// Builds the engine that patches functions. With features of its own, so in a run of its own: they
/// must not reach what the other libraries are made of.
pub(crate) fn build_engine(out: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let download = env::var_os("CARGO_FEATURE_FRIDA_DOWNLOAD").is_some();
    let feature = if download { "download" } else { "gum" };
    let built = cargo(
        out,
        &["--package", ENGINE[0], "--features", feature],
        &devkit()?,
    )?;
    Ok(built.join(ENGINE[1]))
}

/// Variables that lead the engine's build, and that of the bindings to Gum, to the user's devkit.
fn devkit() -> Result<Vec<(&'static str, String)>, Box<dyn Error>> {
    const DEVKIT: &str = "FRIDA_GUM_DEVKIT";
    println!("cargo:rerun-if-env-changed={DEVKIT}");
    println!("cargo:rerun-if-env-changed=BINDGEN_EXTRA_CLANG_ARGS");
    let Some(folder) = env::var_os(DEVKIT).filter(|folder| !folder.is_empty()) else {
        return Ok(Vec::new());
    };
    let folder = fs::canonicalize(&folder)
        .map_err(|error| format!("{DEVKIT} names {}: {error}", folder.display()))?;
    let folder = folder.display().to_string();
    let given = env::var("BINDGEN_EXTRA_CLANG_ARGS").unwrap_or_default();
    let arguments = format!("-I{folder} {given}");
    Ok(vec![
        (DEVKIT, folder),
        ("BINDGEN_EXTRA_CLANG_ARGS", arguments),
    ])
}

/// Builds some libraries and answers the folder that they are in.
fn cargo(
    out: &Path,
    words: &[&str],
    variables: &[(&str, String)],
) -> Result<PathBuf, Box<dyn Error>> {
    let folder = out.join("embed-target");
    let target = env::var("TARGET")?;
    let profile = profile(out);
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--locked", "--lib"]).args(words);
    cargo
        .args(["--profile", &profile, "--target", &target, "--target-dir"])
        .arg(&folder);
    for name in OUTER_ONLY {
        cargo.env_remove(name);
    }
    // Empty switches off a wrapper that a configuration file names.
    cargo
        .env("RUSTC_WRAPPER", "")
        .env("RUSTC_WORKSPACE_WRAPPER", "")
        .envs(variables.iter().map(|(name, value)| (name, value)));
    run(&mut cargo)?;
    let directory = if profile == "dev" { "debug" } else { &profile };
    Ok(folder.join(target).join(directory))
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
