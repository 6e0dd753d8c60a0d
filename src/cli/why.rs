//! `why`: why a program hangs, from a recording that has ended, was broken off, or goes on.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use ascend_trace_analysis::hang::{LateRank, Recorded, Report, late};
use ascend_trace_recording::Recording;

use super::args::WhyArgs;
use super::document_head::{DocumentHead, ReportDocument};
use super::open_trace::{self, Reported};
use super::trace_files::TraceFiles;
use crate::error::{TROUBLE, whole};
use crate::hang;
use crate::output::{print, print_json, print_message};
use crate::running_recording::recording_of;
use crate::stack_symbols;

/// Kind of the JSON document.
pub(super) const DOCUMENT: &str = "why";

/// The content of `why --json` for one recording.
pub(super) type WhyDocument<'w> = ReportDocument<'w, Report>;

pub(crate) fn run(args: &WhyArgs) -> anyhow::Result<u8> {
    match WhyTarget::all(&args.targets).as_slice() {
        [target] => one(target, args),
        targets => several(targets, args),
    }
}

/// Subject of a report.
enum WhyTarget {
    /// A process that is being recorded.
    Process(u32),
    Files(TraceFiles),
}

impl WhyTarget {
    /// The targets of the command line. Files of `--roll` of one recording are one target.
    fn all(words: &[PathBuf]) -> Vec<Self> {
        let is_process = |it: &PathBuf| process(it).is_some();
        let runs = words.chunk_by(|a, b| is_process(a) == is_process(b));
        runs.flat_map(|run| -> Vec<Self> {
            match run.iter().all(is_process) {
                true => run
                    .iter()
                    .filter_map(|it| process(it))
                    .map(Self::Process)
                    .collect(),
                false => TraceFiles::recordings(run)
                    .into_iter()
                    .map(Self::Files)
                    .collect(),
            }
        })
        .collect()
    }

    fn name(&self) -> String {
        match self {
            Self::Process(pid) => pid.to_string(),
            Self::Files(files) => files.name().display().to_string(),
        }
    }
}

fn one(target: &WhyTarget, args: &WhyArgs) -> anyhow::Result<u8> {
    let why = HangReport::of(target, args.strict)?;
    match args.json {
        true => print_json(DOCUMENT, &why.document())?,
        false => print(&why.text())?,
    }
    Ok(why.reported.condition.status(args.strict))
}

/// Reports on each in turn. An unreadable one is reported, and does not stop the others.
fn several(targets: &[WhyTarget], args: &WhyArgs) -> anyhow::Result<u8> {
    let mut status = 0;
    let mut found = Vec::new();
    for target in targets {
        match HangReport::of(target, args.strict) {
            Ok(why) => {
                status = status.max(why.reported.condition.status(args.strict));
                if !args.json {
                    let gap = if found.is_empty() { "" } else { "\n" };
                    print(&format!("{gap}{}:\n{}", why.file.display(), why.text()))?;
                }
                found.push(why);
            }
            Err(error) => {
                let (target, text) = (target.name(), whole(&error));
                match text.contains(&target) {
                    true => print_message(text),
                    false => print_message(format!("{target}: {text}")),
                }
                status = TROUBLE;
            }
        }
    }
    let late = late(&found.iter().map(HangReport::recorded).collect::<Vec<_>>());
    if !args.json {
        let name = |at: usize| found.get(at).map(|why| why.file.display().to_string());
        print(&hang::text::across(&late, name))?;
    }
    if args.json {
        let recordings = found.iter().map(|why| WhyEntry {
            file: why.file.display().to_string(),
            document: why.document(),
        });
        let recordings = recordings.collect();
        print_json(DOCUMENT, &WhyDocuments { recordings, late })?;
    }
    Ok(status)
}

/// The content of `why --json` for several recordings.
#[derive(Serialize, JsonSchema)]
pub(super) struct WhyDocuments<'w> {
    recordings: Vec<WhyEntry<'w>>,
    late: Vec<LateRank>,
}

#[derive(Serialize, JsonSchema)]
struct WhyEntry<'w> {
    file: String,
    #[serde(flatten)]
    document: WhyDocument<'w>,
}

/// The report on one recording.
struct HangReport {
    file: PathBuf,
    reported: Reported<Report>,
    host: String,
    since_1970_ns: i64,
}

impl HangReport {
    /// Of a file, or of a process that is being recorded.
    fn of(target: &WhyTarget, strict: bool) -> anyhow::Result<Self> {
        match target {
            WhyTarget::Process(pid) => {
                let recorded = recording_of(*pid)?;
                let now = Some(hang::now());
                let recording = open_trace::open_held(&recorded.file)?;
                Self::read(recorded.name, recording, now, strict)
            }
            WhyTarget::Files(files) => {
                let now = is_held(files.last()).then(hang::now);
                Self::read(files.name(), files.open()?, now, strict)
            }
        }
    }

    fn read(
        file: PathBuf,
        mut recording: Recording,
        now: Option<i64>,
        strict: bool,
    ) -> anyhow::Result<Self> {
        let hangs = hang::fold(&recording, now);
        let reported = open_trace::fold(&file, &mut recording, hangs, strict)?;
        stack_symbols::say_missing(&recording);
        let session = recording.entities().session();
        Ok(Self {
            file,
            reported,
            host: session.host.clone(),
            since_1970_ns: session.start_realtime_ns.saturating_sub(session.start_ns),
        })
    }

    /// For a look across several.
    fn recorded(&self) -> Recorded<'_> {
        Recorded {
            report: &self.reported.answer,
            host: &self.host,
            since_1970_ns: self.since_1970_ns,
        }
    }

    fn document(&self) -> WhyDocument<'_> {
        ReportDocument::of(
            &self.reported.answer,
            DocumentHead::of([&self.reported.condition]),
        )
    }

    fn text(&self) -> String {
        hang::text::text(&self.reported.answer, self.reported.begin)
    }
}

/// The process that a word means: it is a number, and no file of that name exists.
fn process(target: &Path) -> Option<u32> {
    let word = target.to_str()?;
    let is_number = !word.is_empty() && word.bytes().all(|it| it.is_ascii_digit());
    // No process has a number that is too large.
    (is_number && !target.exists()).then(|| word.parse().unwrap_or(u32::MAX))
}

/// Whether a recorder of this host writes to the file: it has the file's lock, and writes events within
/// a short time.
fn is_held(file: &Path) -> bool {
    // A pipe has no recorder to be asked, and must not be opened twice.
    if !file.is_file() {
        return false;
    }
    let locked = File::open(file).map(|file| file.try_lock_shared());
    matches!(locked, Ok(Err(TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_a_process_unless_it_is_a_file() {
        assert_eq!(process(Path::new("4711")), Some(4711));
        assert_eq!(process(Path::new("99999999999999999999")), Some(u32::MAX));
        for file in ["", "run.atrace", "47 11", "./4711", "-1"] {
            assert_eq!(process(Path::new(file)), None, "{file}");
        }
    }
}
