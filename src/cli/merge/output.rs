//! The merged file: it has its name once it is complete and on the disk.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::cli::args::MergeArgs;

/// Traces hold command lines and addresses: they are their maker's.
const MODE: u32 = 0o600;

/// Message for an output that cannot be written.
pub(super) fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

/// Refuses outputs that the merged file must not replace.
pub(super) fn check(args: &MergeArgs) -> anyhow::Result<()> {
    let path = &args.output;
    let shown = path.display();
    let Ok(there) = fs::metadata(path) else {
        return Ok(());
    };
    let is_input = |file: &PathBuf| {
        let own = fs::metadata(file).map(|it| (it.dev(), it.ino()));
        own.is_ok_and(|own| own == (there.dev(), there.ino()))
    };
    match () {
        () if args.files.iter().any(is_input) => {
            bail!("{shown} is one of the recordings: name another file")
        }
        () if there.is_dir() => bail!("{shown} is a folder: name a file"),
        () if !args.force => bail!("{shown} exists: --force replaces it"),
        () => refuse_recorded(path),
    }
}

/// A recorder holds the lock of its file.
fn refuse_recorded(path: &Path) -> anyhow::Result<()> {
    let is_taken = File::open(path).is_ok_and(|it| it.try_lock_shared().is_err());
    if is_taken {
        bail!("{} is being recorded: name another file", path.display());
    }
    Ok(())
}

/// A temporary file next to the wanted one. It is removed unless it is finished.
pub(super) struct MergeOutput<'a> {
    file: File,
    place: PathBuf,
    wanted: &'a Path,
    is_finished: bool,
}

impl<'a> MergeOutput<'a> {
    pub(super) fn create(wanted: &'a Path) -> anyhow::Result<Self> {
        let mut name = OsString::from(".");
        name.push(wanted.file_name().unwrap_or_default());
        name.push(format!(".{}.new", std::process::id()));
        let place = wanted.with_file_name(name);
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(true).mode(MODE);
        let file = options.open(&place).with_context(|| cannot_write(wanted))?;
        Ok(Self {
            file,
            place,
            wanted,
            is_finished: false,
        })
    }

    pub(super) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives the file its name.
    pub(super) fn finish(mut self, force: bool) -> anyhow::Result<()> {
        let finished = self
            .file
            .sync_all()
            .and_then(|()| rename(&self.place, self.wanted, force))
            .and_then(|()| sync_folder(self.wanted));
        finished.with_context(|| cannot_write(self.wanted))?;
        self.is_finished = true;
        Ok(())
    }
}

impl Drop for MergeOutput<'_> {
    fn drop(&mut self) {
        if !self.is_finished {
            // The rest of the attempt is of no use.
            let _ = fs::remove_file(&self.place);
        }
    }
}

/// A file that was created meanwhile is not replaced, where the file system supports that.
fn rename(from: &Path, to: &Path, force: bool) -> io::Result<()> {
    if force {
        return fs::rename(from, to);
    }
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => fs::rename(from, to),
        renamed => Ok(renamed?),
    }
}

fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) if folder != Path::new("") => File::open(folder)?.sync_all(),
        _ => File::open(".")?.sync_all(),
    }
}
