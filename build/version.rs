//! What `--version --verbose` says of the build.

use std::env;
use std::path::Path;
use std::process::Command;

/// Names the commit where the sources are not a checkout, as in a package.
const COMMIT: &str = "ASCEND_TRACE_COMMIT";

pub(crate) fn tell() {
    println!("cargo:rerun-if-env-changed={COMMIT}");
    let commit = env::var(COMMIT).ok().or_else(checked_out);
    let commit = commit.unwrap_or_else(|| "not recorded".to_owned());
    println!("cargo:rustc-env={COMMIT}={commit}");
    let target = env::var("TARGET").unwrap_or_default();
    println!("cargo:rustc-env=ASCEND_TRACE_TARGET={target}");
}

/// The commit of this checkout. Only for releases: each commit would cause a new build of other
/// profiles.
fn checked_out() -> Option<String> {
    if env::var("PROFILE").ok()? != "release" || !Path::new(".git").exists() {
        return None;
    }
    for file in ["HEAD", "logs/HEAD"] {
        println!("cargo:rerun-if-changed=.git/{file}");
    }
    let hash = git(&["rev-parse", "--short=12", "HEAD"])?;
    let is_changed = !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    Some(if is_changed { hash + ", changed" } else { hash })
}

fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
