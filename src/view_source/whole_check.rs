//! Whether all of a file is sound, found out while it is shown.

use std::thread::JoinHandle;

use anyhow::Context;

use crate::cli::open_trace::{Completeness, settle};
use crate::cli::trace_files::TraceFiles;

/// A file that is read through on a separate thread.
pub(super) struct WholeCheck {
    files: TraceFiles,
    thread: Option<JoinHandle<anyhow::Result<CheckedLength>>>,
}

/// Completeness of a file of this length.
struct CheckedLength {
    bytes: u64,
    condition: Completeness,
}

impl WholeCheck {
    pub(super) fn start(files: &TraceFiles) -> anyhow::Result<Self> {
        let files = files.clone();
        let own = files.clone();
        let thread = std::thread::Builder::new()
            .name("check".into())
            .spawn(move || check(&own))
            .context("cannot check the file in the background")?;
        Ok(Self {
            files,
            thread: Some(thread),
        })
    }

    /// Completeness of the present file: one that has grown meanwhile is read again.
    pub(super) fn finish(mut self) -> anyhow::Result<Completeness> {
        let now = length(&self.files)?;
        // A thread that panicked has no result for the file.
        let checked = self.thread.take().and_then(|thread| thread.join().ok());
        match checked.transpose()? {
            Some(checked) if checked.bytes == now => Ok(checked.condition),
            _ => Ok(check(&self.files)?.condition),
        }
    }
}

fn length(files: &TraceFiles) -> anyhow::Result<u64> {
    let found = files.bytes();
    found.with_context(|| format!("cannot check {}", files.name().display()))
}

fn check(files: &TraceFiles) -> anyhow::Result<CheckedLength> {
    let context = || format!("cannot check {}", files.name().display());
    let bytes = length(files)?;
    let mut recording = files.read(|_, _| true).with_context(context)?;
    settle(files.last(), &mut recording).with_context(context)?;
    recording.check().with_context(context)?;
    let condition = Completeness::of_recording(&recording);
    Ok(CheckedLength { bytes, condition })
}
