//! The tables of a single recording, laid out like those of a dataset.

use std::path::Path;

use anyhow::Error;

use ascend_trace_recording::Recording;

use super::add::{self, AddError};
use super::files::UnfinishedFiles;
use super::folder::DatasetFolder;
use super::partition_path::{PartitionPath, plain};

/// Writes the tables of these names into a folder.
pub(crate) fn write_tables(
    recording: &mut Recording,
    root: &Path,
    tables: &[String],
    progress: &mut dyn FnMut(u64, u64),
) -> anyhow::Result<()> {
    let session = recording.entities().session().clone();
    let (run, host) = (add::run(&session), plain(&session.host));
    let place = PartitionPath {
        run: &run,
        host: &host,
        id: "recording",
    };
    let folder = DatasetFolder::new(root);
    let mut files = UnfinishedFiles::new(&folder, place);
    add::export(recording, Some(tables), &mut files, progress).map_err(
        |trouble| match trouble {
            AddError::Recording(error) => error.context("cannot read the recording"),
            AddError::Dataset(error) => cannot_keep(error, root),
        },
    )?;
    files
        .name()
        .map_err(|error| cannot_keep(error.into(), root))
}

fn cannot_keep(error: Error, root: &Path) -> Error {
    error.context(format!("cannot keep the tables in {}", root.display()))
}
