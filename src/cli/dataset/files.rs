//! Files of a dataset: readers see none that is not finished.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use ascend_trace_export::{Sink, table_rows};

use super::manifest::Part;
use super::place::Place;

/// What is said of a dataset that takes no files.
pub(super) fn cannot_write(root: &Path) -> String {
    format!("cannot write the dataset {}", root.display())
}

/// Gives a file a new content, all of it or nothing.
pub(super) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.new", std::process::id()));
    let place = path.with_file_name(name);
    let mut file = File::create(&place)?;
    let written = file.write_all(content).and_then(|()| file.sync_all());
    let renamed = written.and_then(|()| fs::rename(&place, path));
    if renamed.is_err() {
        // What is left of the attempt is of no use.
        let _ = fs::remove_file(&place);
    }
    renamed?;
    sync_folder_of(path)
}

/// Makes names that were given or taken in the folder of a file last.
pub(super) fn sync_folder_of(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// A file that is written.
struct Unfinished {
    table: String,
    rank: String,
    /// Its folder, from that of the dataset on.
    folder: PathBuf,
}

/// The files of one recording while they are written. Those that do not get their names are removed.
pub(super) struct Files<'a> {
    root: &'a Path,
    place: Place<'a>,
    files: Vec<Unfinished>,
}

impl<'a> Files<'a> {
    pub(super) fn new(root: &'a Path, place: Place<'a>) -> Self {
        let files = Vec::new();
        Self { root, place, files }
    }

    /// Where a file is until it is finished.
    fn own(&self, file: &Unfinished) -> PathBuf {
        self.root.join(&file.folder).join(self.place.unfinished())
    }

    /// What is written, once it is safe on the disk.
    pub(super) fn parts(&self) -> anyhow::Result<Vec<Part>> {
        let part = |file: &Unfinished| {
            let path = self.own(file);
            let written = File::open(&path).and_then(|it| {
                it.sync_all()?;
                let bytes = it.metadata()?.len();
                Ok((bytes, table_rows(it)?))
            });
            let (bytes, rows) = written.with_context(|| cannot_write(self.root))?;
            let (table, rank) = (file.table.clone(), file.rank.clone());
            Ok(Part {
                table,
                rank,
                rows,
                bytes,
            })
        };
        self.files.iter().map(part).collect()
    }

    /// Gives the files the names by which readers find them.
    pub(super) fn name(&self) -> io::Result<()> {
        for file in &self.files {
            let path = self.root.join(&file.folder).join(self.place.file());
            fs::rename(self.own(file), &path)?;
            sync_folder_of(&path)?;
        }
        Ok(())
    }
}

impl Drop for Files<'_> {
    fn drop(&mut self) {
        for file in &self.files {
            // Those that have their names are not there any more.
            let _ = fs::remove_file(self.own(file));
        }
    }
}

impl<'w> Sink<'w> for Files<'_> {
    /// Takes names such as `rank=3/tasks.parquet`.
    fn open(&mut self, name: &str) -> io::Result<Box<dyn Write + 'w>> {
        let (rank, table) = name.split_once('/').unwrap_or(("rank=none", name));
        let rank = rank.trim_start_matches("rank=");
        let table = table.trim_end_matches(".parquet");
        let file = Unfinished {
            table: table.to_owned(),
            rank: rank.to_owned(),
            folder: self.place.folder(table, rank),
        };
        fs::create_dir_all(self.root.join(&file.folder))?;
        let opened = File::create(self.own(&file))?;
        self.files.push(file);
        Ok(Box::new(opened))
    }
}
