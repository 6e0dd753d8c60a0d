//! `_schema.json`: which version of the tables a dataset has.

use std::io;

use anyhow::{Context, bail};
use serde_json::Value;

use ascend_trace_export::{DATASET_VERSION, dataset_schema};

use super::dataset_store::DatasetStore;
use super::files::cannot_write;

const NAME: &str = "_schema.json";

/// Looks for a dataset that queries can name, with tables of this tool.
#[cfg(feature = "query")]
pub(super) fn check_readable(store: &dyn DatasetStore) -> anyhow::Result<()> {
    let text = store
        .read(NAME)
        .with_context(|| format!("cannot read {store}/{NAME}"))?;
    match text {
        Some(text) => check(store, &text),
        None => bail!("{store} is no dataset: ascend-trace dataset add FILE… --to DIR makes one"),
    }
}

/// Makes a dataset, or looks whether one that exists takes what this tool writes.
pub(super) fn prepare(store: &dyn DatasetStore) -> anyhow::Result<()> {
    match read(store)? {
        Some(text) => check(store, &text),
        None => make(store),
    }
}

/// Looks for a dataset with tables of this tool.
pub(super) fn find(store: &dyn DatasetStore) -> anyhow::Result<()> {
    let text = store.read(NAME).transpose();
    let text = text.unwrap_or_else(|| Err(io::ErrorKind::NotFound.into()));
    let text = text.with_context(|| format!("{store} is no dataset"))?;
    check(store, &text)
}

fn read(store: &dyn DatasetStore) -> anyhow::Result<Option<Vec<u8>>> {
    store.read(NAME).with_context(|| cannot_write(store))
}

fn make(store: &dyn DatasetStore) -> anyhow::Result<()> {
    let names = store.list("").with_context(|| cannot_write(store))?;
    // Another command makes the same dataset now, or has made it.
    if names.iter().any(|it| it == NAME) {
        return match read(store)? {
            Some(text) => check(store, &text),
            None => bail!("{store} changes while it is looked at: try again"),
        };
    }
    if !names.iter().all(|it| it.starts_with('.')) {
        bail!("{store} has files, and is no dataset: name a new folder");
    }
    let mut text = serde_json::to_string_pretty(&dataset_schema())?;
    text.push('\n');
    let made = store.replace(NAME, text.as_bytes());
    made.with_context(|| cannot_write(store))
}

fn check(store: &dyn DatasetStore, text: &[u8]) -> anyhow::Result<()> {
    let there: Value = serde_json::from_slice(text).with_context(|| {
        format!("{store}/{NAME} is damaged: name a new folder, and add all recordings to it")
    })?;
    let ours = dataset_schema();
    if there.get("version") != ours.get("version") {
        let version = there
            .get("version")
            .map_or_else(String::new, Value::to_string);
        bail!(
            "{store} has tables of version {version}, this tool has version {DATASET_VERSION}: use another \
             folder, or the ascend-trace that made this one"
        );
    }
    if there != ours {
        bail!(
            "{store} has other columns than this tool writes: use another folder, or the ascend-trace that made \
             this one"
        );
    }
    Ok(())
}
