//! `_manifest/ID.json`: the files of a recording in a dataset. It is written last: without it, the
//! recording is not in the dataset.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use ascend_trace_export::DATASET_VERSION;

use super::dataset_store::{DatasetStore, ManifestClaim};
use super::files::cannot_write;
use super::identity::FileState;
use super::partition_path::{PartitionPath, is_plain};
use crate::cli::open_trace::{Completeness, LossCounts};

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
    pub(super) content: FileState,
    pub(super) run: String,
    pub(super) host: String,
    /// Completeness of the recording.
    pub(super) damage: Vec<String>,
    pub(super) ended: bool,
    #[serde(default)]
    pub(super) growing: bool,
    /// Calls and other records.
    pub(super) lost: u64,
    pub(super) files: Vec<TableFile>,
}

/// A file of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TableFile {
    pub(super) table: String,
    pub(super) rank: String,
    pub(super) rows: u64,
    pub(super) bytes: u64,
}

fn name(id: &str) -> String {
    format!("{FOLDER}/{id}.json")
}

fn parse(text: &[u8]) -> Option<Manifest> {
    serde_json::from_slice(text).ok()
}

impl Manifest {
    pub(super) fn new(
        place: PartitionPath<'_>,
        (source, content): (&Path, FileState),
        condition: &Completeness,
        files: Vec<TableFile>,
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
            growing: condition.growing,
            lost: condition.lost.total(),
            files,
        }
    }

    /// That of a recording, if the dataset has one.
    pub(super) fn read(store: &dyn DatasetStore, id: &str) -> io::Result<Option<Self>> {
        let text = store.read(&name(id))?;
        Ok(text.and_then(|text| parse(&text)))
    }

    /// Those of all recordings of a dataset, by their names.
    pub(super) fn all(store: &dyn DatasetStore) -> anyhow::Result<Vec<Self>> {
        let cannot_read = || format!("cannot read {store}/{FOLDER}");
        let names = store.list(FOLDER).with_context(cannot_read)?;
        let ids = names.iter().filter_map(|it| it.strip_suffix(".json"));
        let ids = ids.filter(|id| !id.starts_with('.'));
        let texts = store.read_all(&ids.map(name).collect::<Vec<_>>());
        let texts = texts.with_context(cannot_read)?;
        Ok(texts.iter().filter_map(|it| parse(it)).collect())
    }

    /// Its files, each with its name. A manifest that names others than a dataset has, names none.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&TableFile, String)> {
        let place = PartitionPath {
            run: &self.run,
            host: &self.host,
            id: &self.id,
        };
        let common = [place.run, place.host, place.id].into_iter().all(is_plain);
        let files = self.files.iter();
        let own = files.filter(move |it| common && is_plain(&it.table) && is_plain(&it.rank));
        own.map(move |it| (it, place.file(&it.table, &it.rank)))
    }

    pub(super) fn condition(&self) -> Completeness {
        Completeness {
            damage: self.damage.clone(),
            damaged_inside: 0,
            ended: self.ended,
            growing: self.growing,
            // Which of them they are is not kept.
            lost: LossCounts {
                calls: 0,
                others: self.lost,
            },
        }
    }

    pub(super) fn rows(&self) -> u64 {
        self.files.iter().map(|it| it.rows).sum()
    }

    /// Whether the dataset has all of this content, in this place.
    pub(super) fn agrees(
        &self,
        store: &dyn DatasetStore,
        content: &FileState,
        place: PartitionPath<'_>,
    ) -> io::Result<bool> {
        let is_same = self.version == DATASET_VERSION
            && self.content == *content
            && (&*self.run, &*self.host, &*self.id) == (place.run, place.host, place.id);
        if !is_same || self.files.is_empty() {
            return Ok(false);
        }
        let files = self.parts().map(|(part, name)| (name, part.bytes));
        store.has_all(&files.collect::<Vec<_>>())
    }
}

/// The manifest to be.
pub(super) struct PendingManifest<'a> {
    store: &'a dyn DatasetStore,
    id: &'a str,
    claim: Box<dyn ManifestClaim + 'a>,
}

impl<'a> PendingManifest<'a> {
    pub(super) fn begin(store: &'a dyn DatasetStore, id: &'a str) -> anyhow::Result<Self> {
        let claim = store.claim(&name(id))?;
        Ok(Self { store, id, claim })
    }

    /// Notes the future files, then gives them their names, and makes this the manifest.
    pub(super) fn finish(
        mut self,
        manifest: &Manifest,
        name_files: impl FnOnce() -> io::Result<()>,
    ) -> anyhow::Result<()> {
        let store = self.store;
        let mut text = serde_json::to_vec_pretty(manifest)?;
        text.push(b'\n');
        let named = self.before().and_then(|before| {
            self.claim.note(&text)?;
            name_files()?;
            Ok(before)
        });
        let before = named.with_context(|| cannot_write(store))?;
        let rival = self.rival().with_context(|| cannot_write(store))?;
        if let Some(rival) = rival.filter(|it| it != manifest) {
            // Its files stay, and all others are removed.
            let _ = remove_others(store, std::slice::from_ref(manifest), &rival);
            bail!("another command adds this recording to {store}");
        }
        let finished =
            remove_others(store, &before, manifest).and_then(|()| self.claim.settle(&text));
        finished.with_context(|| cannot_write(store))
    }

    /// What attempts before have noted or finished: their files may be there.
    fn before(&self) -> io::Result<Vec<Manifest>> {
        let noted = self.claim.noted()?.and_then(|text| parse(&text));
        let there = Manifest::read(self.store, self.id)?;
        let both = noted.into_iter().chain(there);
        Ok(both.filter(|it| it.id == self.id).collect())
    }

    /// The present note, which is another command's if that was faster. When it has finished, its note
    /// is removed.
    fn rival(&self) -> io::Result<Option<Manifest>> {
        match self.claim.noted()? {
            Some(text) => Ok(parse(&text)),
            None => Manifest::read(self.store, self.id),
        }
    }
}

/// Removes files of a recording that are not among its new ones.
fn remove_others(store: &dyn DatasetStore, old: &[Manifest], new: &Manifest) -> io::Result<()> {
    let new: HashSet<String> = new.parts().map(|it| it.1).collect();
    for (_, name) in old.iter().flat_map(Manifest::parts) {
        if !new.contains(&name) {
            store.remove(&name)?;
        }
    }
    Ok(())
}

#[cfg(all(test, feature = "object-store"))]
mod tests {
    use ascend_trace_store::Bucket;

    use super::*;

    fn manifest(run: &str) -> Manifest {
        let part = TableFile {
            table: "tasks".to_owned(),
            rank: "0".to_owned(),
            rows: 1,
            bytes: 3,
        };
        Manifest {
            version: DATASET_VERSION,
            tool: String::new(),
            id: "1".to_owned(),
            source: String::new(),
            content: FileState {
                parts: None,
                length: 0,
                digest: String::new(),
            },
            run: run.to_owned(),
            host: "h".to_owned(),
            damage: Vec::new(),
            ended: true,
            growing: false,
            lost: 0,
            files: vec![part],
        }
    }

    /// Adds a recording to a run. `meanwhile` happens before its file has its name.
    fn add(store: &dyn DatasetStore, run: &str, meanwhile: impl FnOnce()) -> anyhow::Result<()> {
        let manifest = manifest(run);
        let pending = PendingManifest::begin(store, "1")?;
        pending.finish(&manifest, || {
            meanwhile();
            manifest
                .parts()
                .try_for_each(|(_, name)| store.replace(&name, b"abc"))
        })
    }

    #[test]
    fn of_two_commands_that_differ_one_is_refused_and_leaves_nothing() {
        let store = Bucket::in_memory().unwrap();
        let refused = add(&store, "one", || add(&store, "two", || ()).unwrap());
        let text = refused.unwrap_err().to_string();
        assert!(
            text.contains("another command adds this recording"),
            "{text}"
        );
        assert_eq!(DatasetStore::list(&store, "tasks").unwrap(), ["run=two"]);
        assert_eq!(DatasetStore::list(&store, "_manifest").unwrap(), ["1.json"]);
        let there = Manifest::read(&store, "1").unwrap();
        assert_eq!(there, Some(manifest("two")));
    }

    #[test]
    fn two_commands_that_do_the_same_both_succeed() {
        let store = Bucket::in_memory().unwrap();
        add(&store, "one", || add(&store, "one", || ()).unwrap()).unwrap();
        // Files of another run are removed, also after an interruption.
        let refused = add(&store, "two", || broken_off(&store));
        assert!(refused.is_err());
        add(&store, "three", || ()).unwrap();
        assert_eq!(DatasetStore::list(&store, "tasks").unwrap(), ["run=three"]);
    }

    /// Another command notes a third run, and does not come further.
    fn broken_off(store: &dyn DatasetStore) {
        let mut claim = store.claim(&name("1")).expect("memory");
        let text = serde_json::to_vec(&manifest("four")).expect("memory");
        claim.note(&text).expect("memory");
        let parts = manifest("four");
        for (_, name) in parts.parts() {
            store.replace(&name, b"abc").expect("memory");
        }
    }
}
