//! `_schema.json`: which version of the tables a dataset has.

use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context, bail};
use serde_json::Value;

use ascend_trace_export::{DATASET_VERSION, dataset_schema};

use super::files::{cannot_write, replace};

const NAME: &str = "_schema.json";

/// Whether a folder is a dataset of which this tool knows the tables.
#[cfg(feature = "query")]
pub(crate) fn check_readable(root: &Path) -> anyhow::Result<()> {
    let shown = root.display();
    let text = match fs::read(root.join(NAME)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            bail!("{shown} is no dataset: ascend-trace dataset add FILE… --to DIR makes one")
        }
        Err(error) => return Err(error).with_context(|| format!("cannot read {shown}/{NAME}")),
    };
    check(root, &text)
}

/// Makes a dataset, or looks whether one that exists takes what this tool writes.
pub(super) fn prepare(root: &Path) -> anyhow::Result<()> {
    let path = root.join(NAME);
    match fs::read(&path) {
        Ok(text) => check(root, &text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(root, &path),
        Err(error) => Err(error).with_context(|| cannot_write(root)),
    }
}

/// Looks for a dataset whose tables are those of this tool.
pub(super) fn find(root: &Path) -> anyhow::Result<()> {
    let text = fs::read(root.join(NAME));
    let text = text.with_context(|| format!("{} is no dataset", root.display()))?;
    check(root, &text)
}

fn make(root: &Path, path: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(root).with_context(|| cannot_write(root))?;
    let entries = fs::read_dir(root).with_context(|| cannot_write(root))?;
    for entry in entries.flatten() {
        let name = entry.file_name();
        // Of another command that makes the same dataset now.
        let is_ours = name == NAME || name.as_encoded_bytes().starts_with(b".");
        if !is_ours {
            bail!(
                "{} has files, and is no dataset: name a new folder",
                root.display()
            );
        }
    }
    let mut text = serde_json::to_string_pretty(&dataset_schema())?;
    text.push('\n');
    replace(path, text.as_bytes()).with_context(|| cannot_write(root))
}

fn check(root: &Path, text: &[u8]) -> anyhow::Result<()> {
    let shown = root.display();
    let there: Value = serde_json::from_slice(text).with_context(|| {
        format!("{shown}/{NAME} is damaged: name a new folder, and add all recordings to it")
    })?;
    let ours = dataset_schema();
    if there.get("version") != ours.get("version") {
        let version = there
            .get("version")
            .map_or_else(String::new, Value::to_string);
        bail!(
            "{shown} has tables of version {version}, this tool has version {DATASET_VERSION}: use another \
             folder, or the ascend-trace that made this one"
        );
    }
    if there != ours {
        bail!(
            "{shown} has other columns than this tool writes: use another folder, or the ascend-trace that made \
             this one"
        );
    }
    Ok(())
}
