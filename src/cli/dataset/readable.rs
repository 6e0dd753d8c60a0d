//! The tables that queries read: those of a dataset, or of a single recording.

use std::path::{Path, PathBuf};

use super::dataset_store::{self, DatasetStore};
use super::folder::DatasetFolder;
use super::{address, schema};

/// Tables in folders or in an object store.
pub(crate) struct ReadableTables {
    store: Box<dyn DatasetStore>,
    #[cfg(feature = "object-store")]
    url: Option<String>,
}

impl ReadableTables {
    /// The dataset of this name. A file is not a dataset.
    pub(crate) fn dataset(place: &Path) -> anyhow::Result<Option<Self>> {
        let url = address::url(place);
        if url.is_none() && !place.is_dir() {
            return Ok(None);
        }
        let found = Self {
            store: dataset_store::open(place)?,
            #[cfg(feature = "object-store")]
            url: url.map(ToOwned::to_owned),
        };
        schema::check_readable(&*found.store)?;
        Ok(Some(found))
    }

    /// Tables in a folder that is no dataset.
    pub(crate) fn folder(place: &Path) -> Self {
        Self {
            store: Box::new(DatasetFolder::new(place)),
            #[cfg(feature = "object-store")]
            url: None,
        }
    }

    /// What users call it.
    pub(crate) fn shown(&self) -> String {
        self.store.to_string()
    }

    /// Where the files of a table are, if there are any.
    pub(crate) fn place(&self, table: &str) -> anyhow::Result<Option<PathBuf>> {
        let store = &*self.store;
        let parts = store.list(table);
        let parts = parts.map_err(|error| anyhow::anyhow!("cannot read {store}/{table}: {error}"));
        let place = PathBuf::from(format!("{store}/{table}"));
        Ok((!parts?.is_empty()).then_some(place))
    }

    /// The object store that it is in, by its URL.
    #[cfg(feature = "object-store")]
    pub(crate) fn store(&self) -> anyhow::Result<Option<ascend_trace_store::Connection>> {
        let url = self.url.as_deref();
        Ok(url.map(ascend_trace_store::connect).transpose()?)
    }
}
