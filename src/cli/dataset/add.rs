//! Adds one recording to a dataset.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Error, anyhow};
use chrono::{DateTime, Utc};

use ascend_trace_analysis::critical::Critical;
use ascend_trace_analysis::{steps, steps_and_path};
use ascend_trace_export::{Dataset, ExportSink, StreamError, WantedPart, WindowSize, stream};
use ascend_trace_recording::rows::SessionRow;
use ascend_trace_recording::{OpenError, Recording, TimeRange};

use super::dataset_store::DatasetStore;
use super::files::{UnfinishedFiles, cannot_write};
use super::identity::{self, FileState};
use super::manifest::{Manifest, PendingManifest};
use super::partition_path::{PartitionPath, plain};
use crate::cli::open_trace::{self, Completeness};
use crate::cli::trace_files::TraceFiles;
use crate::output::{print_detail, print_message, print_status};
use crate::text_table::count;

/// Where recordings are added, and how.
pub(super) struct AddTarget<'a> {
    pub(super) store: &'a dyn DatasetStore,
    pub(super) run: Option<&'a str>,
    pub(super) strict: bool,
    /// The recordings that are being added or have been, with their files.
    pub(super) taken: Mutex<HashMap<String, PathBuf>>,
}

/// Why a recording was not added.
pub(super) enum AddError {
    /// It cannot be read: others may be.
    Recording(Error),
    /// The dataset takes no files.
    Dataset(Error),
}

/// Result for a file.
pub(super) struct AddResult {
    pub(super) is_new: bool,
    /// The status to end with for this file.
    pub(super) status: u8,
}

impl AddTarget<'_> {
    pub(super) fn add(&self, files: &TraceFiles) -> Result<AddResult, AddError> {
        let content = FileState::of(files).map_err(AddError::Recording)?;
        let mut recording = files.open().map_err(AddError::Recording)?;
        let name = files.name();
        let file = name.as_path();
        let session = recording.entities().session().clone();
        let id = identity::id(&session, &content);
        if let Some(other) = self.other(&id, file) {
            let (file, other) = (file.display(), other.display());
            print_message(format!(
                "{file} is the same recording as {other}: it is left out"
            ));
            return Ok(AddResult {
                is_new: false,
                status: 0,
            });
        }
        let own_run = run(&session);
        let host = plain(&session.host);
        let place = PartitionPath {
            run: self.run.unwrap_or(&own_run),
            host: &host,
            id: &id,
        };
        let there = Manifest::read(self.store, place.id).map_err(|error| self.refused(error))?;
        if let Some(there) = &there
            && content.lacks_files_of(&there.content)
        {
            return Err(AddError::Recording(fewer(file, &content, &there.content)));
        }
        let there = self.complete(there, &content, place);
        if let Some(there) = there.map_err(|error| self.refused(error))? {
            print_status(format!("{}: already there", file.display()));
            return Ok(AddResult {
                is_new: false,
                status: there.condition().status(self.strict),
            });
        }
        self.write(&mut recording, (file, content), place)
    }

    /// The manifest of a recording, if the dataset has all of it.
    fn complete(
        &self,
        manifest: Option<Manifest>,
        content: &FileState,
        place: PartitionPath<'_>,
    ) -> io::Result<Option<Manifest>> {
        match manifest {
            Some(there) if there.agrees(self.store, content, place)? => Ok(Some(there)),
            _ => Ok(None),
        }
    }

    fn refused(&self, error: io::Error) -> AddError {
        AddError::Dataset(Error::new(error).context(cannot_write(self.store)))
    }

    /// The earlier file of the same recording.
    fn other(&self, id: &str, file: &Path) -> Option<PathBuf> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.insert(id.to_owned(), file.to_owned())
    }

    fn write(
        &self,
        recording: &mut Recording,
        (file, content): (&Path, FileState),
        place: PartitionPath<'_>,
    ) -> Result<AddResult, AddError> {
        let pending = PendingManifest::begin(self.store, place.id).map_err(AddError::Dataset)?;
        let mut files = UnfinishedFiles::new(self.store, place);
        export(recording, None, &mut files, &mut |_, _| ())
            .map_err(|trouble| trouble.of(file, self.store))?;
        open_trace::check(recording, self.strict).map_err(AddError::Recording)?;
        let condition = Completeness::of_recording(recording);
        // Warnings about missing parts, as in `export`.
        open_trace::say_warnings(file, recording);
        let parts = files.parts().map_err(AddError::Dataset)?;
        let manifest = Manifest::new(place, (file, content), &condition, parts);
        pending
            .finish(&manifest, || files.name())
            .map_err(AddError::Dataset)?;
        let rows = count(manifest.rows());
        print_status(format!("{}: added {rows} rows", file.display()));
        print_detail(format!(
            "run={} host={} part-{}",
            place.run, place.host, place.id
        ));
        Ok(AddResult {
            is_new: true,
            status: condition.status(self.strict),
        })
    }
}

/// Refuses to replace a recording by fewer of its files.
fn fewer(file: &Path, content: &FileState, there: &FileState) -> Error {
    let shown = |it: &FileState| {
        it.parts
            .map_or_else(String::new, |[first, last]| format!("{first} to {last}"))
    };
    let (own, there) = (shown(content), shown(there));
    anyhow!(
        "{}: the dataset has the files {there} of this recording, and these are {own}: name all of them, or another dataset",
        file.display()
    )
}

impl AddError {
    /// The same with the names of the file and the dataset.
    fn of(self, file: &Path, store: &dyn DatasetStore) -> Self {
        match self {
            Self::Recording(error) => {
                Self::Recording(error.context(format!("cannot read {}", file.display())))
            }
            Self::Dataset(error) => Self::Dataset(error.context(cannot_write(store))),
        }
    }
}

/// Writes the tables: what `export --format parquet --critical --steps` writes, or of it the tables of these names.
pub(super) fn export<'w>(
    recording: &mut Recording,
    tables: Option<&[String]>,
    sink: &mut dyn ExportSink<'w>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(), AddError> {
    let has = |name: &str| tables.is_none_or(|it| it.iter().any(|table| table == name));
    let mut wanted = WantedPart::default();
    let path = recording.span().filter(|_| has("critical"));
    let (report, path) = analysed(recording, path, has("steps"))
        .map_err(|error| AddError::Recording(Error::new(error)))?;
    wanted.steps = report.map(|it| Arc::from(it.steps));
    wanted.critical = Arc::new(path.segments);
    let mut exporter = Dataset::of(recording.entities());
    if let Some(tables) = tables {
        exporter = exporter.with_only(tables);
    }
    let what = (&exporter as _, &wanted);
    match stream(recording, what, WindowSize::default(), sink, progress) {
        Ok(_) => Ok(()),
        Err(StreamError::Open(error)) => Err(AddError::Recording(Error::new(error))),
        // Its text has the reason already.
        Err(StreamError::Export(error)) => Err(AddError::Dataset(Error::msg(error.to_string()))),
    }
}

/// The steps, if they are wanted, and the critical path of a range.
fn analysed(
    recording: &mut Recording,
    path: Option<TimeRange>,
    has_steps: bool,
) -> Result<(Option<steps::Report>, Critical), OpenError> {
    let (step, any) = (WindowSize::default(), steps::StepDefinition::Any);
    Ok(match (path, has_steps) {
        (Some(range), true) => {
            let (report, path) = steps_and_path(recording, step, any, range)?;
            (Some(report), path)
        }
        (Some(range), false) => (None, Critical::of_recording(recording, step, range)?),
        (None, true) => {
            let report = steps::Report::of_recording(recording, step, any)?;
            (Some(report), Critical::default())
        }
        (None, false) => Default::default(),
    })
}

/// The name of a run that was given none: when it began, and the program.
pub(super) fn run(session: &SessionRow) -> String {
    let program = session.command.first().map(Path::new);
    let program = program.and_then(|it| it.file_name()).unwrap_or_default();
    let begin = match session.start_realtime_ns {
        0 => "unknown".to_owned(),
        ns => DateTime::<Utc>::from_timestamp_nanos(ns)
            .format("%Y%m%dT%H%M%SZ")
            .to_string(),
    };
    plain(&format!("{begin}-{}", plain(&program.to_string_lossy())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_named_by_begin_and_program() {
        let mut session = SessionRow {
            command: vec!["/opt/a b/train.py".to_owned(), "x".to_owned()],
            start_realtime_ns: 1_700_000_000_123_456_789,
            ..SessionRow::default()
        };
        assert_eq!(run(&session), "20231114T221320Z-train.py");
        session.start_realtime_ns = 0;
        session.command.clear();
        assert_eq!(run(&session), "unknown-unknown");
    }
}
