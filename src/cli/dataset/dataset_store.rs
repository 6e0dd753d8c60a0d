//! The storage of a dataset. Names of files are paths from the top of the dataset, with slashes.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
#[cfg(feature = "object-store")]
use std::sync::Arc;

use super::folder::DatasetFolder;

/// A folder, or a part of an object store. Its text is the name that users have for it.
pub(super) trait DatasetStore: Display + Sync {
    /// The content of a small file, if there is one.
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>>;

    /// The contents of small files, if they exist.
    fn read_all(&self, names: &[String]) -> io::Result<Vec<Vec<u8>>> {
        let contents = names.iter().filter_map(|name| self.read(name).transpose());
        contents.collect()
    }

    /// Gives a small file a new content, all of it or nothing.
    fn replace(&self, name: &str, content: &[u8]) -> io::Result<()>;

    /// The names in a folder, in order. A folder that does not exist has none.
    fn list(&self, folder: &str) -> io::Result<Vec<String>>;

    /// Removes a file, if there is one.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Whether files of these names and sizes exist.
    fn has_all(&self, files: &[(String, u64)]) -> io::Result<bool>;

    /// A file of the dataset, to read from.
    fn open(&self, name: &str) -> io::Result<File>;

    /// A place for a file of the dataset while it is written.
    fn draft(&self, name: &str) -> io::Result<DraftFile>;

    /// Gives files that are written the names by which readers find them.
    fn publish(&self, files: &[(String, DraftFile)]) -> io::Result<()>;

    /// The right to write this manifest.
    ///
    /// # Errors
    /// When another command has it.
    fn claim(&self, manifest: &str) -> anyhow::Result<Box<dyn ManifestClaim + '_>>;
}

/// The right to write a manifest, until it is dropped.
pub(super) trait ManifestClaim {
    /// The note of an earlier attempt, or of this one.
    fn noted(&self) -> io::Result<Option<Vec<u8>>>;

    /// Notes the future manifest.
    fn note(&mut self, text: &[u8]) -> io::Result<()>;

    /// Makes this text, which was noted, the manifest.
    fn settle(self: Box<Self>, text: &[u8]) -> io::Result<()>;
}

/// A file that readers of the dataset do not see.
#[derive(Clone, Debug)]
pub(super) enum DraftFile {
    Named(PathBuf),
    /// It goes when the command ends, in any way.
    #[cfg(feature = "object-store")]
    Unnamed(Arc<File>),
}

impl DraftFile {
    pub(super) fn writer(&self) -> io::Result<Box<dyn Write + 'static>> {
        match self {
            Self::Named(path) => Ok(Box::new(File::create(path)?)),
            #[cfg(feature = "object-store")]
            Self::Unnamed(file) => Ok(Box::new(super::bucket::LocalFile(Arc::clone(file)))),
        }
    }

    /// The written bytes, from the begin.
    pub(super) fn reader(&self) -> io::Result<File> {
        match self {
            Self::Named(path) => File::open(path),
            #[cfg(feature = "object-store")]
            Self::Unnamed(file) => {
                use std::io::Seek;
                let mut file = file.try_clone()?;
                file.rewind()?;
                Ok(file)
            }
        }
    }

    /// Writes the last bytes to the disk, where that is of use.
    pub(super) fn sync(&self) -> io::Result<()> {
        match self {
            Self::Named(path) => File::open(path)?.sync_all(),
            #[cfg(feature = "object-store")]
            Self::Unnamed(_) => Ok(()),
        }
    }

    /// Removes the rest of it.
    pub(super) fn discard(&self) {
        match self {
            // One that has its name is not there any more.
            Self::Named(path) => drop(std::fs::remove_file(path)),
            #[cfg(feature = "object-store")]
            Self::Unnamed(_) => (),
        }
    }
}

/// Opens a dataset that a user has named.
pub(super) fn open(place: &Path) -> anyhow::Result<Box<dyn DatasetStore>> {
    match super::address::url(place) {
        Some(url) => bucket(url),
        None => Ok(Box::new(DatasetFolder::new(place))),
    }
}

#[cfg(feature = "object-store")]
fn bucket(url: &str) -> anyhow::Result<Box<dyn DatasetStore>> {
    Ok(Box::new(super::bucket::open(url)?))
}

#[cfg(not(feature = "object-store"))]
fn bucket(url: &str) -> anyhow::Result<Box<dyn DatasetStore>> {
    Err(super::address::not_built(url))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(store: &dyn DatasetStore, name: &str, content: &[u8]) -> DraftFile {
        let draft = store.draft(name).unwrap();
        draft.writer().unwrap().write_all(content).unwrap();
        draft.sync().unwrap();
        draft
    }

    fn content(mut file: File) -> Vec<u8> {
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut file, &mut bytes).unwrap();
        bytes
    }

    /// What holds for each kind.
    fn check(store: &dyn DatasetStore) {
        let none = [""; 0];
        assert_eq!(store.list("").unwrap(), none);
        assert_eq!(store.read("a/b").unwrap(), None);
        store.remove("a/b").unwrap();
        store.replace("a/b", b"1").unwrap();
        store.replace("a/b", b"two").unwrap();
        assert_eq!(store.read("a/b").unwrap().unwrap(), b"two");
        let names = ["a/b".to_owned(), "a/c".to_owned()];
        assert_eq!(store.read_all(&names).unwrap(), [b"two"]);
        // A file has its name when it is finished.
        let name = "t/run=x/part.parquet";
        let draft = written(store, name, b"table");
        assert_eq!(content(draft.reader().unwrap()), b"table");
        assert!(!store.has_all(&[(name.to_owned(), 5)]).unwrap());
        store.publish(&[(name.to_owned(), draft)]).unwrap();
        assert!(store.has_all(&[(name.to_owned(), 5)]).unwrap());
        assert!(!store.has_all(&[(name.to_owned(), 4)]).unwrap());
        assert_eq!(content(store.open(name).unwrap()), b"table");
        assert_eq!(store.list("").unwrap(), ["a", "t"]);
        assert_eq!(store.list("t").unwrap(), ["run=x"]);
        // One that is discarded never has it.
        written(store, "u/other.parquet", b"x").discard();
        assert!(!store.has_all(&[("u/other.parquet".to_owned(), 1)]).unwrap());
        claims(store);
        store.remove(name).unwrap();
        assert_eq!(store.read(name).unwrap(), None);
    }

    fn claims(store: &dyn DatasetStore) {
        let manifest = "m/1.json";
        let mut claim = store.claim(manifest).unwrap();
        assert!(claim.noted().unwrap().is_none_or(|it| it.is_empty()));
        claim.note(b"broken off").unwrap();
        drop(claim);
        assert_eq!(store.read(manifest).unwrap(), None);
        let mut claim = store.claim(manifest).unwrap();
        assert_eq!(claim.noted().unwrap().unwrap(), b"broken off");
        claim.note(b"done").unwrap();
        claim.settle(b"done").unwrap();
        assert_eq!(store.read(manifest).unwrap().unwrap(), b"done");
        assert_eq!(store.list("m").unwrap(), ["1.json"]);
    }

    #[test]
    fn a_folder_is_a_store() {
        let folder = tempfile::tempdir().unwrap();
        let store = DatasetFolder::new(&folder.path().join("fleet"));
        check(&store);
        let _claim = store.claim("m/2.json").unwrap();
        let refused = store.claim("m/2.json").err().unwrap().to_string();
        assert!(refused.contains("another command"), "{refused}");
    }

    #[cfg(feature = "object-store")]
    #[test]
    fn a_bucket_is_a_store() {
        check(&ascend_trace_store::Bucket::in_memory().unwrap());
    }
}
