//! Chooses the folder that things are unpacked to.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use rustix::fs::{StatVfsMountFlags, statvfs};

use super::{folder, old_folders};

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
    if let Some(owner) = owner(base).filter(|owner| *owner != rustix::process::geteuid().as_raw()) {
        // As when root works with the home of another user, who could not use or remove the new files.
        bail!("{shown} would be in a folder of user {owner}");
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
    let is_new = !path.exists();
    folder::make_private(&path)?;
    folder::probe(&path).with_context(|| format!("cannot write to {}", path.display()))?;
    old_folders::hold(&path);
    if is_new {
        old_folders::remove(base, content);
    }
    Ok(path)
}

/// Whose folder this will be in; the shared one for temporary files is everybody's.
fn owner(base: &Path) -> Option<u32> {
    let above = base.ancestors().skip(1).find(|path| path.exists())?;
    let found = std::fs::metadata(above).ok()?;
    let is_shared = found.mode() & 0o1000 != 0;
    (!is_shared).then_some(found.uid())
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
    fn the_folder_of_another_user_is_not_used() {
        let root = tempfile::tempdir().unwrap();
        let own = rustix::process::geteuid().as_raw();
        assert_eq!(owner(&root.path().join("a/b/c")), Some(own));
        assert_eq!(owner(Path::new("/tmp/ascend-trace-0")), None);
        let home = root.path().join("home");
        std::fs::create_dir(&home).unwrap();
        if std::os::unix::fs::chown(&home, Some(own + 1), None).is_ok() {
            let message = prepare(&home.join(".cache/ascend-trace"), "0123").unwrap_err();
            assert!(message.to_string().contains("folder of user"), "{message}");
            assert_eq!(std::fs::read_dir(&home).unwrap().count(), 0);
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
