//! Uploads local files as objects, a part at a time: an object exists when all its parts do.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use futures::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{Error, MultipartUpload, ObjectStore, ObjectStoreExt};

/// Bytes of a part. Smaller files are one request.
const PART: u64 = 8 << 20;
/// A store takes no more parts than 10,000.
const MOST_PARTS: u64 = 9_000;
/// Parts of a file that are on their way. They are all that is in memory of it.
const AT_ONCE: usize = 2;

/// Why a file has not become an object.
pub(crate) enum UploadError {
    Store(Error),
    Local(io::Error),
}

impl From<Error> for UploadError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<io::Error> for UploadError {
    fn from(error: io::Error) -> Self {
        Self::Local(error)
    }
}

pub(crate) async fn upload(
    store: &dyn ObjectStore,
    to: &Path,
    file: &File,
) -> Result<(), UploadError> {
    let length = file.metadata()?.len();
    let part = PART.max(length.div_ceil(MOST_PARTS));
    if length <= part {
        let bytes = read(file, 0, length)?;
        store.put(to, bytes.into()).await?;
        return Ok(());
    }
    let mut upload = store.put_multipart(to).await?;
    let sent = match send(&mut *upload, file, (length, part)).await {
        Ok(()) => upload.complete().await.map_err(UploadError::Store),
        Err(failed) => Err(failed),
    };
    if sent.is_err() {
        // The store keeps uploaded parts, and counts them, until the upload is aborted.
        let _ = upload.abort().await;
    }
    sent.map(|_| ())
}

async fn send(
    upload: &mut dyn MultipartUpload,
    file: &File,
    (length, part): (u64, u64),
) -> Result<(), UploadError> {
    let begins = (0..length.div_ceil(part)).map(|number| number * part);
    let sent = stream::iter(begins).map(|begin| {
        let read = read(file, begin, part.min(length - begin));
        let sent = read.map(|bytes| upload.put_part(bytes.into()));
        async move { Ok::<_, UploadError>(sent?.await?) }
    });
    sent.buffered(AT_ONCE).try_collect().await
}

fn read(file: &File, begin: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    file.read_exact_at(&mut bytes, begin)?;
    Ok(bytes)
}
