//! Opens the trace that a command is about.

use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;

use ascend_trace_analysis::range_window::{Streams, part_of};
use ascend_trace_analysis::{Fold, WindowSize};
use ascend_trace_recording::file::LostContent;
use ascend_trace_recording::{OpenError, Recording, TimeRange, Trace, Warning};
use schemars::JsonSchema;
use serde::Serialize;

use super::open_error;
use crate::error::INCOMPLETE;
use crate::output::print_message;
use crate::stack_symbols;
use crate::text_table::count;
use crate::view_source::writer_lock;

/// Completeness of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Completeness {
    /// What cannot be read or is missing, in words.
    pub(crate) damage: Vec<String>,
    /// How many of these are not about the end of the file.
    pub(crate) damaged_inside: usize,
    pub(crate) ended: bool,
    /// Whether a recorder still writes the file. Nothing is missing at its end then.
    pub(crate) growing: bool,
    pub(crate) lost: LossCounts,
}

/// Calls and other records that the recorder lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct LossCounts {
    pub(crate) calls: u64,
    pub(crate) others: u64,
}

impl LossCounts {
    pub(crate) fn of(trace: &Trace) -> Self {
        let losses = trace.losses();
        Self {
            calls: losses.calls,
            others: losses.others,
        }
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_add(other.calls),
            others: self.others.saturating_add(other.others),
        }
    }

    pub(crate) fn total(self) -> u64 {
        self.calls.saturating_add(self.others)
    }
}

impl Completeness {
    /// Of a recording as far as it has been read.
    pub(crate) fn of_recording(recording: &Recording) -> Self {
        let condition = Self::of(recording.entities(), &recording.final_warnings());
        Self {
            growing: recording.is_growing(),
            ..condition
        }
    }

    pub(crate) fn of(trace: &Trace, warnings: &[Warning]) -> Self {
        let damage = warnings.iter().filter(|warning| warning.is_damage());
        let inside = warnings.iter().filter(|warning| !warning.is_of_end());
        Self {
            damage: damage.map(Warning::to_string).collect(),
            damaged_inside: inside.count(),
            ended: trace.end().is_some(),
            growing: warnings
                .iter()
                .any(|warning| warning.lost == LostContent::Rest),
            lost: LossCounts::of(trace),
        }
    }

    /// Whether it has an end, no damage and no losses.
    pub(crate) fn is_complete(&self) -> bool {
        self.ended && self.damage.is_empty() && self.lost.total() == 0
    }

    /// The status of a command that has succeeded.
    pub(crate) fn status(&self, strict: bool) -> u8 {
        let is_cut = !self.ended && !self.growing;
        match is_cut || !self.damage.is_empty() || (strict && !self.is_complete()) {
            true => INCOMPLETE,
            false => 0,
        }
    }
}

/// Message for a device with an unusual clock.
pub(crate) fn unusual_clock(device: u32, process: Option<u32>, drift_ppm: Option<f64>) -> String {
    let process = process.map_or_else(String::new, |it| format!(" of process {it}"));
    let drift = drift_ppm.map_or_else(String::new, |ppm| format!(" ({ppm:.0} ppm)"));
    format!(
        "device {device}{process} deviates unusually, by more than 200 ppm{drift}: \
         error bars allow for it"
    )
}

/// Rows of a part of a long recording that is read by the index, alone.
const MOST_OF_PART: u64 = 400_000;

/// A small part of a long recording, found by the index. `None` where the range holds much of it: then
/// all of it is read from its begin.
pub(crate) fn small_part(
    recording: &mut Recording,
    range: Option<TimeRange>,
    streams: Streams,
) -> anyhow::Result<Option<Trace>> {
    match range {
        Some(range) => Ok(part_of(recording, range, streams, MOST_OF_PART)?),
        None => Ok(None),
    }
}

/// Looks for damage in all of the file where that was asked for.
pub(crate) fn check(recording: &mut Recording, strict: bool) -> anyhow::Result<()> {
    match strict {
        true => recording.check().context("cannot check the file"),
        false => Ok(()),
    }
}

/// Opens a recording of any length. Damage is known only for the parts that have been read.
pub(crate) fn open_any(path: &Path) -> anyhow::Result<Recording> {
    // A pipe can only be read once, from begin to end.
    let spool = match std::fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir()) {
        true => Some(spooled(path).with_context(|| format!("cannot open {}", path.display()))?),
        false => None,
    };
    let opened = match &spool {
        Some(file) => opened(&descriptor_path(file)),
        None => opened(path),
    };
    opened.map_err(|error| open_error::explained(path, error))
}

/// As [`open_any`], of a file that is open already: it may have no name any more.
pub(crate) fn open_held(file: &File) -> anyhow::Result<Recording> {
    Ok(opened(&descriptor_path(file))?)
}

fn opened(path: &Path) -> Result<Recording, OpenError> {
    let mut recording = Recording::open(path, |_, _| true)?;
    settle(path, &mut recording)?;
    // For a growing recording, this is its present state.
    recording.close()?;
    recording.set_symbols(stack_symbols::of_this_machine());
    Ok(recording)
}

/// Finds out whether a recording without an end goes on. Its recorder may have ended it since it was read.
pub(crate) fn settle(path: &Path, recording: &mut Recording) -> Result<(), OpenError> {
    if recording.complete() {
        return Ok(());
    }
    let growing = writer_lock::is_writing(path);
    recording.set_growing(growing);
    if !growing {
        recording.poll()?;
    }
    Ok(())
}

/// Results about a recording.
pub(crate) struct Reported<A> {
    pub(crate) answer: A,
    pub(crate) condition: Completeness,
    /// Timestamps are counted from here.
    pub(crate) begin: i64,
}

/// Reads a whole recording, and reports its damaged and missing parts.
pub(crate) fn fold<F: Fold>(
    path: &Path,
    recording: &mut Recording,
    fold: F,
    strict: bool,
) -> anyhow::Result<Reported<F::Answer>> {
    let answer = fold
        .of_recording(recording, WindowSize::default(), |_| true)
        .with_context(|| format!("cannot read {}", path.display()))?
        .context("it was cancelled")?;
    check(recording, strict)?;
    say_warnings(path, recording);
    Ok(Reported {
        answer,
        condition: Completeness::of_recording(recording),
        begin: begin(recording),
    })
}

/// From where timestamps of a recording are counted.
pub(crate) fn begin(recording: &Recording) -> i64 {
    recording.span().map_or(0, |span| span.begin)
}

/// The data of a pipe, in an unnamed file that ends with this process: a trace is read by random
/// access, and not kept in memory.
fn spooled(pipe: &Path) -> anyhow::Result<File> {
    let mut pipe = File::open(pipe)?;
    let folder = std::env::temp_dir();
    let context = || format!("cannot keep the data of the pipe in {}", folder.display());
    let mut file = unnamed(&folder).with_context(context)?;
    std::io::copy(&mut pipe, &mut file).with_context(context)?;
    Ok(file)
}

/// A new file without a name.
pub(crate) fn unnamed(folder: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    let mut direct = options.clone();
    let flags = rustix::fs::OFlags::TMPFILE.bits();
    if let Ok(file) = direct.custom_flags(flags.cast_signed()).open(folder) {
        return Ok(file);
    }
    // Not all file systems have such files.
    let path = folder.join(format!("ascend-trace-{}.pipe", std::process::id()));
    let file = options.create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// A path to a file that has none, for this process.
pub(crate) fn descriptor_path(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Reports damage and losses after the view.
pub(crate) fn say_condition(path: &Path, condition: &Completeness) {
    for damage in &condition.damage {
        print_message(format!("{}: {damage}", path.display()));
    }
    say_losses(path, condition.lost);
}

/// Reports losses of the recording.
pub(crate) fn say_losses(path: &Path, losses: LossCounts) {
    if losses.total() > 0 {
        print_message(format!(
            "{}: {} calls and {} other records were lost while recording",
            path.display(),
            losses.calls,
            losses.others
        ));
    }
}

/// Reports damage, missing parts, losses and filters.
pub(crate) fn say_warnings(path: &Path, recording: &Recording) {
    for warning in recording.final_warnings() {
        print_message(format!("{}: {warning}", path.display()));
    }
    let trace = recording.entities();
    say_losses(path, LossCounts::of(trace));
    if let Some(text) = filters_in_words(trace) {
        print_message(format!("{}: {text}", path.display()));
    }
}

/// The filters of a recording, and the number of calls that they left out; none if they left out nothing.
pub(crate) fn filters_in_words(trace: &Trace) -> Option<String> {
    let rules = trace.session().filters.join(", ");
    let calls = match trace.filtered_calls() {
        0 => return None,
        1 => "1 call".to_owned(),
        number => format!("{} calls", count(number)),
    };
    trace
        .is_filtered()
        .then(|| format!("filters ({rules}) left out {calls}: tables are about the others, and the cause of a wait may be missing"))
}
