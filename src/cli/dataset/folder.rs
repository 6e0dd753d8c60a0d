//! A dataset in a folder.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::dataset_store::{DatasetStore, DraftFile, ManifestClaim};
use super::files::cannot_write;

/// The folder of a dataset.
pub(super) struct DatasetFolder(PathBuf);

impl DatasetFolder {
    pub(super) fn new(root: &Path) -> Self {
        Self(root.to_owned())
    }

    fn path(&self, name: &str) -> PathBuf {
        match name {
            "" => self.0.clone(),
            name => self.0.join(name),
        }
    }
}

impl fmt::Display for DatasetFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.display().fmt(f)
    }
}

/// Nothing where there is no file.
fn existing<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

impl DatasetStore for DatasetFolder {
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        existing(fs::read(self.path(name)))
    }

    fn replace(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let path = self.path(name);
        make_folder_of(&path)?;
        let place = hidden(&path, &format!(".{}.new", std::process::id()));
        let mut file = File::create(&place)?;
        let written = file.write_all(content).and_then(|()| file.sync_all());
        let renamed = written.and_then(|()| fs::rename(&place, &path));
        if renamed.is_err() {
            // The rest of the attempt is of no use.
            let _ = fs::remove_file(&place);
        }
        renamed?;
        sync_folder_of(&path)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let Some(entries) = existing(fs::read_dir(self.path(folder)))? else {
            return Ok(Vec::new());
        };
        let names = entries.flatten().map(|it| it.file_name());
        let mut names: Vec<String> = names.map(|it| it.to_string_lossy().into_owned()).collect();
        names.sort();
        Ok(names)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        existing(fs::remove_file(self.path(name))).map(|_| ())
    }

    fn has_all(&self, files: &[(String, u64)]) -> io::Result<bool> {
        let is_whole = |(name, bytes): &(String, u64)| {
            fs::metadata(self.path(name)).is_ok_and(|it| it.is_file() && it.len() == *bytes)
        };
        Ok(files.iter().all(is_whole))
    }

    fn open(&self, name: &str) -> io::Result<File> {
        File::open(self.path(name))
    }

    fn draft(&self, name: &str) -> io::Result<DraftFile> {
        let path = self.path(name);
        make_folder_of(&path)?;
        Ok(DraftFile::Named(hidden(&path, ".new")))
    }

    fn publish(&self, files: &[(String, DraftFile)]) -> io::Result<()> {
        for (name, draft) in files {
            let path = self.path(name);
            // Those of a folder are all named.
            #[cfg_attr(
                not(feature = "object-store"),
                expect(
                    irrefutable_let_patterns,
                    reason = "there is no other kind without the feature"
                )
            )]
            if let DraftFile::Named(draft) = draft {
                fs::rename(draft, &path)?;
            }
            sync_folder_of(&path)?;
        }
        Ok(())
    }

    fn claim(&self, manifest: &str) -> anyhow::Result<Box<dyn ManifestClaim + '_>> {
        let target = self.path(manifest);
        let path = hidden(&target, ".new");
        let file = open(&path).with_context(|| cannot_write(self))?;
        let opened = file.metadata().map(|it| it.ino());
        let is_alone = file.try_lock().is_ok();
        let named = fs::metadata(&path).map(|it| it.ino());
        // Without its name it is one that another command has finished.
        if !is_alone || opened.ok() != named.ok() {
            bail!("another command adds this recording to {self}");
        }
        Ok(Box::new(LockedManifest { file, path, target }))
    }
}

/// The manifest to be. Its lock is the right to write it.
struct LockedManifest {
    file: File,
    path: PathBuf,
    target: PathBuf,
}

impl ManifestClaim for LockedManifest {
    fn noted(&self) -> io::Result<Option<Vec<u8>>> {
        let (mut file, mut text) = (&self.file, Vec::new());
        file.rewind()?;
        file.read_to_end(&mut text)?;
        Ok(Some(text))
    }

    fn note(&mut self, text: &[u8]) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(text)?;
        self.file.sync_all()
    }

    fn settle(self: Box<Self>, _text: &[u8]) -> io::Result<()> {
        fs::rename(&self.path, &self.target)?;
        sync_folder_of(&self.target)
    }
}

impl Drop for LockedManifest {
    fn drop(&mut self) {
        // A note is of use to the next attempt. One that has become the manifest has another name.
        let is_empty = self.file.metadata().is_ok_and(|it| it.len() == 0);
        if is_empty {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A name that readers of the dataset pass over, in the same folder.
fn hidden(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(end);
    path.with_file_name(name)
}

fn make_folder_of(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => fs::create_dir_all(folder),
        None => Ok(()),
    }
}

/// Makes names that were given or taken in the folder of a file last.
fn sync_folder_of(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

fn open(path: &Path) -> io::Result<File> {
    make_folder_of(path)?;
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create(true).truncate(false);
    options.open(path)
}
