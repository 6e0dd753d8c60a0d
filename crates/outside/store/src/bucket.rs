//! A place in an object store.

use std::fmt;
use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt};
use tokio::runtime::{Builder, Runtime};

use crate::StoreError;
use crate::address::Address;
use crate::connect::StoreRoute;
use crate::upload::{UploadError, upload};

/// Files that are sent at the same time.
const UPLOADS: usize = 4;
/// Requests for small things that are under way at the same time.
const LOOKS: usize = 16;

/// All objects with names that begin with a prefix. Several threads may use it at the same time.
pub struct Bucket {
    address: Address,
    way: StoreRoute,
    store: Arc<dyn ObjectStore>,
    runtime: Runtime,
}

impl Bucket {
    /// The place that a URL names. The environment says where the store is, and gives the credentials.
    ///
    /// # Errors
    /// When the URL or the environment is wrong. No request is made.
    pub fn open(url: &str) -> Result<Self, StoreError> {
        let (address, way) = (Address::parse(url)?, StoreRoute::of_environment());
        let store = way.connect(&address.bucket)?;
        Self::of(address, way, store)
    }

    /// A place in memory.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn in_memory() -> Result<Self, StoreError> {
        let way = StoreRoute {
            endpoint: "memory".to_owned(),
            has_credentials: true,
        };
        let address = Address::parse("s3://memory/fleet")?;
        Self::of(address, way, Arc::new(InMemory::new()))
    }

    fn of(
        address: Address,
        way: StoreRoute,
        store: Arc<dyn ObjectStore>,
    ) -> Result<Self, StoreError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build();
        Ok(Self {
            address,
            way,
            store,
            runtime: runtime.map_err(StoreError::NoThread)?,
        })
    }

    /// The content of an object, if there is one.
    ///
    /// # Errors
    /// When the store cannot be asked, as for all of these.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.run(self.content(self.path(name)))
    }

    /// The contents of objects, in the order of the names.
    ///
    /// # Errors
    /// When the store cannot be asked.
    pub fn read_all(&self, names: &[&str]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let reads = names.iter().map(|name| self.content(self.path(name)));
        self.run(stream::iter(reads).buffered(LOOKS).try_collect())
    }

    async fn content(&self, path: Path) -> Result<Option<Vec<u8>>, Error> {
        match existing(self.store.get(&path).await)? {
            Some(object) => Ok(Some(object.bytes().await?.to_vec())),
            None => Ok(None),
        }
    }

    /// Gives an object a content, all of it or nothing.
    ///
    /// # Errors
    /// When the store does not take it.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), StoreError> {
        let content = content.to_vec().into();
        self.run(async { self.store.put(&self.path(name), content).await.map(|_| ()) })
    }

    /// Names directly below a name, in order: objects and the beginnings of names.
    ///
    /// # Errors
    /// When the store cannot be asked.
    pub fn list(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        let path = self.path(folder);
        let found = self.run(self.store.list_with_delimiter(Some(&path)))?;
        let objects = found.objects.into_iter().map(|it| it.location);
        let paths = objects.chain(found.common_prefixes);
        let mut names: Vec<String> = paths
            .filter_map(|it| it.filename().map(ToOwned::to_owned))
            .collect();
        names.sort();
        Ok(names)
    }

    /// Removes an object, if there is one.
    ///
    /// # Errors
    /// When the store does not do it.
    pub fn remove(&self, name: &str) -> Result<(), StoreError> {
        self.run(async {
            let removed = self.store.delete(&self.path(name)).await;
            existing(removed).map(|_| ())
        })
    }

    /// How many bytes each object has, in the order of the names.
    ///
    /// # Errors
    /// When the store cannot be asked.
    pub fn sizes(&self, names: &[&str]) -> Result<Vec<Option<u64>>, StoreError> {
        let looks = names.iter().map(|name| {
            let path = self.path(name);
            async move {
                let found = existing(self.store.head(&path).await)?;
                Ok::<_, Error>(found.map(|it| it.size))
            }
        });
        self.run(stream::iter(looks).buffered(LOOKS).try_collect())
    }

    /// Writes the content of an object to a file.
    ///
    /// # Errors
    /// When the store does not give it, or the file does not take it.
    pub fn download(&self, name: &str, mut to: &File) -> Result<(), StoreError> {
        let done = self.runtime.block_on(async {
            let object = self.store.get(&self.path(name)).await?;
            let mut pieces = object.into_stream();
            while let Some(piece) = pieces.try_next().await? {
                to.write_all(&piece)?;
            }
            Ok(())
        });
        done.map_err(|failed| self.failed(failed))
    }

    /// Makes objects of files.
    ///
    /// # Errors
    /// When a file cannot be read, or the store does not take it. Then some of the objects may be there.
    pub fn upload(&self, files: &[(&str, &File)]) -> Result<(), StoreError> {
        let uploads = files.iter().map(|(name, file)| {
            let path = self.path(name);
            async move { upload(&*self.store, &path, file).await }
        });
        let all = stream::iter(uploads).buffer_unordered(UPLOADS);
        let done = self.runtime.block_on(all.try_collect());
        done.map_err(|failed| self.failed(failed))
    }

    fn path(&self, name: &str) -> Path {
        let own = self.address.prefix.as_ref();
        // Empty parts between slashes are left out.
        Path::from(format!("{own}/{name}"))
    }

    fn run<T>(&self, request: impl Future<Output = Result<T, Error>>) -> Result<T, StoreError> {
        let done = self.runtime.block_on(request);
        done.map_err(|error| StoreError::of(error, &self.way))
    }

    fn failed(&self, failed: UploadError) -> StoreError {
        match failed {
            UploadError::Store(error) => StoreError::of(error, &self.way),
            UploadError::Local(error) => StoreError::Local(error),
        }
    }
}

/// A connection for a program that makes requests by itself.
///
/// # Errors
/// When the URL or the environment is wrong. No request is made.
pub fn connect(url: &str) -> Result<Connection, StoreError> {
    let bucket = Address::parse(url)?.bucket;
    Ok(Connection {
        store: StoreRoute::of_environment().connect(&bucket)?,
        url: format!("s3://{bucket}"),
    })
}

/// All of a bucket.
pub struct Connection {
    pub url: String,
    pub store: Arc<dyn ObjectStore>,
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.address.shown())
    }
}

/// Nothing where there is no object. A bucket that does not exist is something else.
fn existing<T>(found: Result<T, Error>) -> Result<Option<T>, Error> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Error::NotFound { source, .. }) if !source.to_string().contains("NoSuchBucket") => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek};

    use super::*;

    fn file(content: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        file
    }

    #[test]
    fn objects_are_written_listed_and_removed() {
        let bucket = Bucket::in_memory().unwrap();
        assert_eq!(bucket.read("a").unwrap(), None);
        assert!(bucket.list("").unwrap().is_empty());
        bucket.write("b/c=1/d", b"one").unwrap();
        bucket.write("a", b"two").unwrap();
        bucket.write("a", b"three").unwrap();
        assert_eq!(bucket.read("a").unwrap().unwrap(), b"three");
        let all = bucket.read_all(&["b/c=1/d", "b", "a"]).unwrap();
        assert_eq!(all, [Some(b"one".to_vec()), None, Some(b"three".to_vec())]);
        assert_eq!(bucket.list("").unwrap(), ["a", "b"]);
        assert_eq!(bucket.list("b").unwrap(), ["c=1"]);
        let sizes = bucket.sizes(&["a", "b", "b/c=1/d"]).unwrap();
        assert_eq!(sizes, [Some(5), None, Some(3)]);
        bucket.remove("a").unwrap();
        bucket.remove("a").unwrap();
        assert_eq!(bucket.list("").unwrap(), ["b"]);
    }

    #[test]
    fn files_become_objects_and_files_again() {
        let bucket = Bucket::in_memory().unwrap();
        let long: Vec<u8> = (0..20_000_003_u32)
            .map(|it| it.wrapping_mul(it) as u8)
            .collect();
        let contents: [&[u8]; 4] = [b"", b"short", &long[..8 << 20], &long];
        let files: Vec<File> = contents.iter().map(|it| file(it)).collect();
        let names = ["0", "1", "2", "3"];
        let pairs: Vec<_> = names.into_iter().zip(&files).collect();
        bucket.upload(&pairs).unwrap();
        for (name, content) in names.iter().zip(contents) {
            let mut copy = tempfile::tempfile().unwrap();
            bucket.download(name, &copy).unwrap();
            copy.rewind().unwrap();
            let mut read = Vec::new();
            copy.read_to_end(&mut read).unwrap();
            assert!(read == content, "{name}");
        }
    }
}
