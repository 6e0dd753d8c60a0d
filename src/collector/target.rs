//! Where a recording goes: the trace file's name, and what it may replace.

use std::fs::{self, File};
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use rustix::fs::{CWD, RenameFlags, renameat_with};

/// Where the recording goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A file that the user named; an existing one is replaced only with `force`.
    Named { path: PathBuf, force: bool },
    /// `NAME-PID.atrace` in the working directory, with a number when that exists.
    Default { name: String },
    /// The tool's standard output, which the program then does not get.
    Standard,
}

/// What is said when the trace cannot be begun.
pub(super) const ADVICE: &str = "cannot write the trace; name another file with --output";

impl Target {
    /// Opens the file for writing, with the name that it has for now: one with a default name has
    /// a provisional one until [`Target::settle`]. No name for standard output.
    pub(super) fn open(&self) -> anyhow::Result<(File, Option<PathBuf>)> {
        let path = match self {
            Self::Named { path, force } => {
                check_replaceable(path, *force)?;
                path.clone()
            }
            Self::Default { name } => {
                PathBuf::from(format!("./.{name}-{}.atrace.new", std::process::id()))
            }
            Self::Standard => return Ok((standard_output()?, None)),
        };
        let file = File::create(&path).with_context(|| format!("{ADVICE}: {}", path.display()))?;
        Ok((file, Some(path)))
    }

    /// Gives a file with a provisional name its final one, now that the program's pid is known.
    pub(super) fn settle(&self, path: &mut PathBuf, pid: u32) {
        let Self::Default { name } = self else {
            return;
        };
        let names = std::iter::once(format!("./{name}-{pid}.atrace"))
            .chain((2..10_000).map(|number| format!("./{name}-{pid}-{number}.atrace")));
        for candidate in names.map(PathBuf::from) {
            match rename_without_replacing(path, &candidate) {
                Ok(()) => {
                    *path = candidate;
                    return;
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                // The recording is not worth losing over its name.
                Err(_) => return,
            }
        }
    }
}

fn standard_output() -> anyhow::Result<File> {
    if io::stdout().is_terminal() {
        bail!("--output -: standard output is a terminal; name a file, or send it on with > or |");
    }
    let own = io::stdout().as_fd().try_clone_to_owned();
    Ok(own.context("--output -: no standard output")?.into())
}

fn check_replaceable(path: &Path, force: bool) -> anyhow::Result<()> {
    let shown = path.display();
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            bail!("{shown} is a folder: name a file for the trace")
        }
        Ok(metadata) if metadata.is_file() && !force => {
            bail!("{shown} exists: --force replaces it")
        }
        _ => Ok(()),
    }
}

fn rename_without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(rustix::io::Errno::EXIST) => Err(io::ErrorKind::AlreadyExists.into()),
        // Some network file systems know no such rename.
        Err(_) if to.exists() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
        Ok(()) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_taken_is_not_replaced() {
        let root = tempfile::tempdir().unwrap();
        let (from, to) = (root.path().join("a"), root.path().join("b"));
        fs::write(&from, "new").unwrap();
        fs::write(&to, "old").unwrap();
        let error = rename_without_replacing(&from, &to).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&to).unwrap(), "old");
        fs::remove_file(&to).unwrap();
        rename_without_replacing(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(&to).unwrap(), "new");
    }
}
