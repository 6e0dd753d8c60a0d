//! The recordings that are merged.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use ascend_trace_analysis::align::{Collect, Recorded};
use ascend_trace_analysis::{Fold, WindowSize};
use ascend_trace_recording::rows::SessionRow;

use super::reading;
use crate::cli::open_error;
use crate::cli::open_trace::{self, LossCounts};

/// A recording, as far as is known before its rows are read.
pub(super) struct MergedRecording {
    pub(super) path: PathBuf,
    pub(super) session: SessionRow,
    /// Its processes, by number.
    pub(super) processes: Vec<u32>,
    rank: Option<u64>,
    pub(super) ended: bool,
    pub(super) growing: bool,
    pub(super) lost: LossCounts,
}

impl MergedRecording {
    /// Its file, without the folder.
    pub(super) fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }
}

/// Opens the recordings in the order of their ranks, for any order of the arguments.
pub(super) fn open(files: &[PathBuf]) -> anyhow::Result<Vec<MergedRecording>> {
    refuse_twice(files)?;
    let inputs = files.iter().map(|path| input(path));
    let mut inputs = inputs.collect::<anyhow::Result<Vec<MergedRecording>>>()?;
    inputs.sort_by_cached_key(|it| {
        let session = &it.session;
        let start = (session.start_realtime_ns, session.start_ns);
        let host = session.host.clone();
        (it.rank.is_none(), it.rank, host, start, it.path.clone())
    });
    for pair in inputs.windows(2) {
        refuse_copy(&pair[0], &pair[1])?;
    }
    Ok(inputs)
}

pub(super) fn file(path: &Path) -> anyhow::Result<File> {
    File::open(path).with_context(|| format!("cannot open {}", path.display()))
}

fn refuse_twice(files: &[PathBuf]) -> anyhow::Result<()> {
    let mut seen: Vec<((u64, u64), &PathBuf)> = Vec::new();
    for path in files {
        let shown = path.display();
        let metadata = fs::metadata(path);
        let metadata = metadata.map_err(|error| open_error::explained(path, error.into()))?;
        if !metadata.is_file() {
            bail!("{shown} is not a file: name the files of recordings");
        }
        let key = (metadata.dev(), metadata.ino());
        if let Some((_, other)) = seen.iter().find(|(it, _)| *it == key) {
            let other = other.display();
            bail!("{shown} and {other} are one file: name it once");
        }
        seen.push((key, path));
    }
    Ok(())
}

/// Copies of a recording lie next to each other.
fn refuse_copy(one: &MergedRecording, other: &MergedRecording) -> anyhow::Result<()> {
    if one.session == other.session && one.session != SessionRow::default() {
        let (one, other) = (one.path.display(), other.path.display());
        bail!("{other} is the same recording as {one}: leave one out");
    }
    Ok(())
}

fn input(path: &Path) -> anyhow::Result<MergedRecording> {
    let recording = open_trace::open_any(path)?;
    let entities = recording.entities();
    let session = entities.session().clone();
    if !session.hosts.is_empty() {
        let shown = path.display();
        bail!("{shown} is a merged file: merge the recordings that it was made of");
    }
    if session.part.is_some() {
        let shown = path.display();
        bail!("{shown}: it is a file of --roll, and merge needs a recording in one file");
    }
    let mut processes: Vec<u32> = entities.processes().iter().map(|it| it.serial).collect();
    processes.sort_unstable();
    let ranks = entities
        .processes()
        .iter()
        .filter_map(|it| it.rank_number());
    Ok(MergedRecording {
        path: path.to_owned(),
        processes,
        rank: ranks.min(),
        ended: entities.end().is_some(),
        growing: recording.is_growing(),
        lost: LossCounts::of(entities),
        session,
    })
}

/// Reads what alignment needs of each recording: one after another, so that one is in memory at a time.
pub(super) fn collect(inputs: &mut [MergedRecording]) -> anyhow::Result<Vec<Recorded>> {
    let all = inputs.iter_mut().map(|input| {
        let mut recording = open_trace::open_any(&input.path)?;
        let collected =
            Collect::default().of_recording(&mut recording, WindowSize::default(), |_| true);
        Ok(reading(collected, &input.path)?.unwrap_or_default())
    });
    all.collect()
}
