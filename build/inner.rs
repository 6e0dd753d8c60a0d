//! The inner build: a separate cargo run makes libraries and programs for the target.

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
const OPERATORS: [&str; 3] = ["OPERATORS", "softacl-operators", "libopapi.so"];

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

/// Names the folder with the sources that are generated from the hook table.
const GENERATED: &str = "ASCEND_TRACE_GENERATED";

/// Builds the libraries from the sources in `generated`, and returns their paths.
pub(crate) fn build(
    folder: &Path,
    generated: &Path,
    soft: bool,
) -> Result<Vec<(&'static str, PathBuf)>, Box<dyn Error>> {
    let mut libraries = vec![INTERPOSER];
    if soft {
        libraries.push(SOFTACL);
    }
    if soft && env::var_os("CARGO_FEATURE_OPERATORS").is_some() {
        libraries.push(OPERATORS);
    }
    // The generator has run: it and its parsers are not built again.
    let mut packages = vec!["--no-default-features"];
    for [_, package, _] in &libraries {
        packages.extend(["--package", package]);
    }
    let generated = fs::canonicalize(generated)?.display().to_string();
    let built = cargo(folder, &packages, &[(GENERATED, generated)])?;
    Ok(libraries
        .iter()
        .map(|[name, _, file]| (*name, built.join(file)))
        .collect())
}

/// Builds the engine that patches functions. It has separate features, so it needs a separate run: they
/// must not reach the dependencies of the other libraries.
pub(crate) fn build_engine(folder: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let download = env::var_os("CARGO_FEATURE_FRIDA_DOWNLOAD").is_some();
    let feature = if download { "download" } else { "gum" };
    let built = cargo(
        folder,
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

/// The target folder of the inner build, next to those of the outer profiles: it stays when the
/// script's folder changes, so that a change of features builds nothing twice.
pub(crate) fn folder(out: &Path) -> Result<PathBuf, Box<dyn Error>> {
    // `TARGET_FOLDER/PROFILE/build/PACKAGE/out`
    let target = out.ancestors().nth(4);
    Ok(target
        .ok_or("OUT_DIR is not in a target folder")?
        .join("embedded"))
}

/// Builds some libraries and returns their folder.
fn cargo(
    folder: &Path,
    words: &[&str],
    variables: &[(&str, String)],
) -> Result<PathBuf, Box<dyn Error>> {
    let target = env::var("TARGET")?;
    let profile = profile()?;
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--locked", "--lib"]).args(words);
    cargo
        .args(["--profile", profile, "--target", &target, "--target-dir"])
        .arg(folder);
    for name in OUTER_ONLY {
        cargo.env_remove(name);
    }
    // Empty switches off a wrapper that a configuration file names.
    cargo
        .env("RUSTC_WRAPPER", "")
        .env("RUSTC_WORKSPACE_WRAPPER", "")
        .envs(variables.iter().map(|(name, value)| (name, value)));
    run(&mut cargo)?;
    Ok(folder.join(target).join(profile))
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

/// Code that runs in programs has separate profiles, one for each kind of outer profile.
fn profile() -> Result<&'static str, env::VarError> {
    Ok(match env::var("PROFILE")?.as_str() {
        "release" => "embedded",
        _ => "embedded-debug",
    })
}
