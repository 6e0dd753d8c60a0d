//! The file that a command writes its result to.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::output::print_status;

/// Refuses a folder, and without `force` a file that exists.
pub(super) fn check(path: &Path, force: bool) -> anyhow::Result<()> {
    let shown = path.display();
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => bail!("{shown} is a folder: name a file"),
        Ok(metadata) if metadata.is_file() && !force => {
            bail!("{shown} exists: --force replaces it")
        }
        _ => Ok(()),
    }
}

/// Writes to a temporary file first, so that a failure does not change an existing file.
pub(super) fn write(
    path: &Path,
    content: impl FnOnce(File) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let shown = path.display();
    let is_special = fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
    let place = match is_special {
        true => path.to_owned(),
        false => temporary(path),
    };
    let file = File::create(&place).with_context(|| format!("cannot write {shown}"))?;
    let written = content(file).with_context(|| format!("cannot write {shown}"));
    if is_special {
        return written;
    }
    let renamed = written
        .and_then(|()| fs::rename(&place, path).with_context(|| format!("cannot write {shown}")));
    match &renamed {
        Ok(()) => print_status(format!("wrote {shown}")),
        // The rest of the attempt is of no use.
        Err(_) => drop(fs::remove_file(&place)),
    }
    renamed
}

/// A name in the same folder that no other process takes.
pub(super) fn temporary(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or(OsStr::new("")).to_owned();
    name.push(format!(".{}.new", std::process::id()));
    path.with_file_name(name)
}

/// Whether two paths lead to the same file.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    let id = |path: &Path| fs::metadata(path).ok().map(|it| (it.dev(), it.ino()));
    id(one).is_some_and(|it| id(other) == Some(it))
}
