//! Chooses the folder that things are unpacked to.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use rustix::fs::{StatVfsMountFlags, statvfs};

use super::folder;

const NAME: &str = "ascend-trace";

/// A private folder for this content, on a file system that programs can be run from.
pub(crate) fn find(content: &str) -> anyhow::Result<PathBuf> {
    let mut reasons = Vec::new();
    for base in candidates() {
        match prepare(&base, content) {
            Ok(path) => return Ok(path),
            Err(error) => reasons.push(format!("{error:#}")),
        }
    }
    bail!(
        "no folder to unpack the tracer's library to: {}; set XDG_CACHE_HOME to one that is yours",
        reasons.join("; ")
    )
}

fn candidates() -> Vec<PathBuf> {
    let absolute = |name| {
        let path = std::env::var_os(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    let user = rustix::process::geteuid().as_raw();
    let shared = PathBuf::from(format!("/tmp/{NAME}-{user}"));
    cache
        .map(|path| path.join(NAME))
        .into_iter()
        .chain([shared])
        .collect()
}

fn prepare(base: &Path, content: &str) -> anyhow::Result<PathBuf> {
    let shown = base.display();
    if !loader_can_name(base) {
        bail!("{shown} has a space or a colon in it, which LD_PRELOAD cannot hold");
    }
    if let Some(parent) = base.parent() {
        std::fs::create_dir_all(parent)
            .with_context(|| format!("cannot make {}", parent.display()))?;
    }
    folder::make_private(base)?;
    let stat = statvfs(base).with_context(|| format!("cannot look at {shown}"))?;
    if stat.f_flag.contains(StatVfsMountFlags::NOEXEC) {
        bail!("{shown} is on a file system mounted noexec");
    }
    let path = base.join(content);
    folder::make_private(&path)?;
    folder::check_writable(&path)?;
    Ok(path)
}

/// `LD_PRELOAD` and `LD_LIBRARY_PATH` split at spaces, colons and semicolons, and expand dollars.
pub(crate) fn loader_can_name(path: &Path) -> bool {
    let special = |byte: &u8| byte.is_ascii_whitespace() || b":;$".contains(byte);
    !path.as_os_str().as_bytes().iter().any(special)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_the_loader_would_split_are_refused() {
        assert!(loader_can_name(Path::new("/home/user/.cache/ascend-trace")));
        for path in ["/home/a b", "/home/a:b", "/home/$LIB", "/a;b"] {
            assert!(!loader_can_name(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn a_fresh_base_becomes_a_private_folder() {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().join("deep/cache");
        let path = prepare(&base, "0123").unwrap();
        assert_eq!(path, base.join("0123"));
        assert_eq!(prepare(&base, "0123").unwrap(), path, "and is found again");
    }
}
