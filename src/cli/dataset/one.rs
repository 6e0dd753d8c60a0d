//! The tables of a single recording, laid out like those of a dataset.

use std::path::Path;

use anyhow::Error;

use ascend_trace_recording::Recording;

use super::add::{self, Trouble};
use super::files::Files;
use super::folder::Folder;
use super::place::{Place, plain};

/// Writes the tables of these names into a folder.
pub(crate) fn write_tables(
    recording: &mut Recording,
    root: &Path,
    tables: &[String],
    progress: &mut dyn FnMut(u64, u64),
) -> anyhow::Result<()> {
    let session = recording.things().session().clone();
    let (run, host) = (add::run(&session), plain(&session.host));
    let place = Place {
        run: &run,
        host: &host,
        id: "recording",
    };
    let folder = Folder::new(root);
    let mut files = Files::new(&folder, place);
    add::export(recording, Some(tables), &mut files, progress).map_err(
        |trouble| match trouble {
            Trouble::Recording(error) => error.context("cannot read the recording"),
            Trouble::Dataset(error) => cannot_keep(error, root),
        },
    )?;
    files
        .name()
        .map_err(|error| cannot_keep(error.into(), root))
}

fn cannot_keep(error: Error, root: &Path) -> Error {
    error.context(format!("cannot keep the tables in {}", root.display()))
}
