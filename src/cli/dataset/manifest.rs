//! `_manifest/ID.json`: what a dataset has of a recording. It is written last: without it, there is nothing.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use ascend_trace_export::DATASET_VERSION;

use super::files::{cannot_write, sync_folder_of};
use super::identity::Content;
use super::place::{Place, is_plain};
use crate::cli::trace::Condition;

const FOLDER: &str = "_manifest";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// That of the tables.
    pub(super) version: u32,
    /// The version of the tool that wrote this.
    pub(super) tool: String,
    pub(super) id: String,
    /// The name of the file, without its folder.
    pub(super) source: String,
    #[serde(flatten)]
    pub(super) content: Content,
    pub(super) run: String,
    pub(super) host: String,
    /// How much of the recording is there.
    pub(super) damage: Vec<String>,
    pub(super) ended: bool,
    pub(super) lost: u64,
    pub(super) files: Vec<Part>,
}

/// A file of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) table: String,
    pub(super) rank: String,
    pub(super) rows: u64,
    pub(super) bytes: u64,
}

fn path(root: &Path, id: &str) -> PathBuf {
    root.join(FOLDER).join(format!("{id}.json"))
}

fn parse(text: &[u8]) -> Option<Manifest> {
    serde_json::from_slice(text).ok()
}

impl Manifest {
    pub(super) fn new(
        place: Place<'_>,
        (source, content): (&Path, Content),
        condition: &Condition,
        files: Vec<Part>,
    ) -> Self {
        let source = source.file_name().unwrap_or_default();
        Self {
            version: DATASET_VERSION,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            id: place.id.to_owned(),
            source: source.to_string_lossy().into_owned(),
            content,
            run: place.run.to_owned(),
            host: place.host.to_owned(),
            damage: condition.damage.clone(),
            ended: condition.ended,
            lost: condition.lost,
            files,
        }
    }

    /// That of a recording, if the dataset has one.
    pub(super) fn read(root: &Path, id: &str) -> Option<Self> {
        parse(&fs::read(path(root, id)).ok()?)
    }

    /// Those of all recordings of a dataset, by their names.
    pub(super) fn all(root: &Path) -> anyhow::Result<Vec<Self>> {
        let folder = root.join(FOLDER);
        let mut names = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            entries => {
                let entries = entries.with_context(|| format!("cannot read {}", folder.display()));
                entries?.flatten().map(|it| it.file_name()).collect()
            }
        };
        names.sort();
        let ids = names
            .iter()
            .filter_map(|it| it.to_str()?.strip_suffix(".json"));
        let ids = ids.filter(|id| !id.starts_with('.'));
        Ok(ids.filter_map(|id| Self::read(root, id)).collect())
    }

    /// Its files, each with the table and the rank.
    pub(super) fn tables(&self, root: &Path) -> impl Iterator<Item = (&str, &str, PathBuf)> {
        let place = Place {
            run: &self.run,
            host: &self.host,
            id: &self.id,
        };
        let common = [place.run, place.host, place.id].into_iter().all(is_plain);
        let files = self.files.iter();
        let own = files.filter(move |it| common && is_plain(&it.table) && is_plain(&it.rank));
        own.map(move |it| {
            let folder = root.join(place.folder(&it.table, &it.rank));
            (&*it.table, &*it.rank, folder.join(place.file()))
        })
    }

    pub(super) fn condition(&self) -> Condition {
        Condition {
            damage: self.damage.clone(),
            ended: self.ended,
            lost: self.lost,
        }
    }

    pub(super) fn rows(&self) -> u64 {
        self.files.iter().map(|it| it.rows).sum()
    }

    /// Whether the dataset has all of this content, in this place.
    pub(super) fn agrees(&self, root: &Path, content: &Content, place: Place<'_>) -> bool {
        let is_same = self.version == DATASET_VERSION
            && self.content == *content
            && (&*self.run, &*self.host, &*self.id) == (place.run, place.host, place.id);
        let is_whole = |(path, bytes): (PathBuf, u64)| {
            fs::metadata(path).is_ok_and(|it| it.is_file() && it.len() == bytes)
        };
        is_same && !self.files.is_empty() && self.paths(root).all(is_whole)
    }

    /// The files, and how long each is. A manifest that names others than a dataset has, names none.
    fn paths(&self, root: &Path) -> impl Iterator<Item = (PathBuf, u64)> {
        let place = Place {
            run: &self.run,
            host: &self.host,
            id: &self.id,
        };
        let common = [place.run, place.host, place.id].into_iter().all(is_plain);
        let files = self.files.iter();
        let own = files.filter(move |it| common && is_plain(&it.table) && is_plain(&it.rank));
        own.map(move |it| {
            let folder = root.join(place.folder(&it.table, &it.rank));
            (folder.join(place.file()), it.bytes)
        })
    }
}

/// The manifest to be, which no other command can have at the same time.
pub(super) struct Pending<'a> {
    root: &'a Path,
    file: File,
    path: PathBuf,
    target: PathBuf,
    /// Of attempts before: what they named may be there.
    before: Vec<Manifest>,
    /// It is of use to the next attempt.
    is_kept: bool,
}

impl<'a> Pending<'a> {
    pub(super) fn begin(root: &'a Path, id: &str) -> anyhow::Result<Self> {
        let target = path(root, id);
        let path = target.with_file_name(format!(".{id}.json.new"));
        let mut file = open(&path).with_context(|| cannot_write(root))?;
        let opened = file.metadata().map(|it| it.ino());
        let is_alone = file.try_lock().is_ok();
        let named = fs::metadata(&path).map(|it| it.ino());
        // Without its name it is one that another command has finished.
        if !is_alone || opened.ok() != named.ok() {
            bail!("another command adds this recording to {}", root.display());
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text)
            .with_context(|| cannot_write(root))?;
        let broken_off = parse(&text);
        let is_kept = broken_off.is_some();
        let before = broken_off.into_iter().chain(Manifest::read(root, id));
        Ok(Self {
            root,
            file,
            path,
            target,
            before: before.collect(),
            is_kept,
        })
    }

    /// Notes what the files will be, then has them named, and makes this the manifest.
    pub(super) fn finish(
        mut self,
        manifest: &Manifest,
        name_files: impl FnOnce() -> io::Result<()>,
    ) -> anyhow::Result<()> {
        let root = self.root;
        let mut text = serde_json::to_vec_pretty(manifest)?;
        text.push(b'\n');
        let finished = self.note(&text).and_then(|()| {
            self.is_kept = true;
            name_files()?;
            self.remove_others(manifest)?;
            fs::rename(&self.path, &self.target)?;
            sync_folder_of(&self.target)
        });
        finished.with_context(|| cannot_write(root))
    }

    fn note(&mut self, text: &[u8]) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(text)?;
        self.file.sync_all()
    }

    /// Removes files of the recording that are not among its new ones.
    fn remove_others(&self, manifest: &Manifest) -> io::Result<()> {
        let new: HashSet<PathBuf> = manifest.paths(self.root).map(|it| it.0).collect();
        let old = self.before.iter().filter(|it| it.id == manifest.id);
        for (path, _) in old.flat_map(|it| it.paths(self.root)) {
            if !new.contains(&path) {
                match fs::remove_file(&path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create(true).truncate(false);
    options.open(path)
}
