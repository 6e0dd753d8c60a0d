//! Whether all of a file is sound, found out while it is shown.

use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use anyhow::Context;

use ascend_trace_recording::Recording;

use crate::cli::open_trace::{Completeness, settle};

/// A file that is read through on a separate thread.
pub(super) struct WholeCheck {
    file: PathBuf,
    thread: Option<JoinHandle<anyhow::Result<CheckedLength>>>,
}

/// Completeness of a file of this length.
struct CheckedLength {
    bytes: u64,
    condition: Completeness,
}

impl WholeCheck {
    pub(super) fn start(file: &Path) -> anyhow::Result<Self> {
        let file = file.to_owned();
        let own = file.clone();
        let thread = std::thread::Builder::new()
            .name("check".into())
            .spawn(move || check(&own))
            .context("cannot check the file in the background")?;
        Ok(Self {
            file,
            thread: Some(thread),
        })
    }

    /// Completeness of the present file: one that has grown meanwhile is read again.
    pub(super) fn finish(mut self) -> anyhow::Result<Completeness> {
        let now = length(&self.file)?;
        // A thread that panicked has no result for the file.
        let checked = self.thread.take().and_then(|thread| thread.join().ok());
        match checked.transpose()? {
            Some(checked) if checked.bytes == now => Ok(checked.condition),
            _ => Ok(check(&self.file)?.condition),
        }
    }
}

fn length(file: &Path) -> anyhow::Result<u64> {
    let found = std::fs::metadata(file);
    Ok(found
        .with_context(|| format!("cannot check {}", file.display()))?
        .len())
}

fn check(file: &Path) -> anyhow::Result<CheckedLength> {
    let context = || format!("cannot check {}", file.display());
    let bytes = length(file)?;
    let mut recording = Recording::open(file, |_, _| true).with_context(context)?;
    settle(file, &mut recording).with_context(context)?;
    recording.check().with_context(context)?;
    let condition = Completeness::of_recording(&recording);
    Ok(CheckedLength { bytes, condition })
}
