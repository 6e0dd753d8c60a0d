//! A dataset in an object store. Files are written locally, and sent when they are finished.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::sync::Arc;

use ascend_trace_store::Bucket;

use super::dataset_store::{DatasetStore, DraftFile, ManifestClaim};

pub(super) fn open(url: &str) -> anyhow::Result<Bucket> {
    Ok(Bucket::open(url)?)
}

/// A local file without a name.
fn unnamed() -> io::Result<File> {
    tempfile::tempfile().map_err(no_place)
}

fn no_place(error: io::Error) -> io::Error {
    let place = std::env::temp_dir();
    io::Error::other(format!(
        "no place for a file in {}: {error}",
        place.display()
    ))
}

/// Writes to a local file. Its failures are not the store's fault.
pub(super) struct LocalFile(pub(super) Arc<File>);

impl Write for LocalFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            written => written.map_err(no_place),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl DatasetStore for Bucket {
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        Ok(Self::read(self, name)?)
    }

    fn read_all(&self, names: &[String]) -> io::Result<Vec<Vec<u8>>> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Ok(Self::read_all(self, &names)?
            .into_iter()
            .flatten()
            .collect())
    }

    fn replace(&self, name: &str, content: &[u8]) -> io::Result<()> {
        Ok(self.write(name, content)?)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        Ok(Self::list(self, folder)?)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        Ok(Self::remove(self, name)?)
    }

    fn has_all(&self, files: &[(String, u64)]) -> io::Result<bool> {
        let names: Vec<&str> = files.iter().map(|it| it.0.as_str()).collect();
        let sizes = self.sizes(&names)?;
        let wanted = files.iter().map(|it| Some(it.1));
        Ok(sizes.into_iter().eq(wanted))
    }

    fn open(&self, name: &str) -> io::Result<File> {
        let mut file = unnamed()?;
        self.download(name, &file)?;
        file.rewind()?;
        Ok(file)
    }

    fn draft(&self, _name: &str) -> io::Result<DraftFile> {
        Ok(DraftFile::Unnamed(Arc::new(unnamed()?)))
    }

    fn publish(&self, files: &[(String, DraftFile)]) -> io::Result<()> {
        let files = files.iter().filter_map(|(name, draft)| match draft {
            DraftFile::Unnamed(file) => Some((name.as_str(), &**file)),
            // Those of a store are all without names.
            DraftFile::Named(_) => None,
        });
        Ok(self.upload(&files.collect::<Vec<_>>())?)
    }

    fn claim(&self, manifest: &str) -> anyhow::Result<Box<dyn ManifestClaim + '_>> {
        let (folder, name) = manifest.rsplit_once('/').unwrap_or(("", manifest));
        Ok(Box::new(NotedManifest {
            bucket: self,
            note: format!("{folder}/.{name}.new"),
            manifest: manifest.to_owned(),
        }))
    }
}

/// Stores have no locks. The command that noted its manifest last may write it: others find that their
/// note was replaced.
struct NotedManifest<'a> {
    bucket: &'a Bucket,
    note: String,
    manifest: String,
}

impl ManifestClaim for NotedManifest<'_> {
    fn noted(&self) -> io::Result<Option<Vec<u8>>> {
        Ok(self.bucket.read(&self.note)?)
    }

    fn note(&mut self, text: &[u8]) -> io::Result<()> {
        Ok(self.bucket.write(&self.note, text)?)
    }

    fn settle(self: Box<Self>, text: &[u8]) -> io::Result<()> {
        self.bucket.write(&self.manifest, text)?;
        Ok(self.bucket.remove(&self.note)?)
    }
}
