//! Exports of a trace to other tools: one [`Exporter`] per format, one file per exporter.
//! Formats of timelines share one walk over a trace (`timeline.rs`).
//!
//! An exporter turns a [`ExportSource`] into bytes; it opens no files itself. Where they go, and whether
//! something may be overwritten, is decided by the caller through a [`ExportSink`].

mod arg_detail;
mod arguments;
mod ascend;
mod base_time;
mod by_name;
mod chrome;
mod constants;
mod counters;
mod csv;
#[cfg(feature = "parquet")]
mod dataset;
mod dependency_end;
mod dependency_slices;
mod digits;
mod export_source;
mod fields;
mod json;
mod kineto;
mod lane_labels;
#[cfg(feature = "parquet")]
mod parquet;
mod perfetto;
mod row_store;
mod selection;
mod stream;
mod timeline;
mod trace_facts;
mod trace_tables;
mod tracks;

use std::io::{self, Write};

use ascend_trace_analysis::AnalysisNeeds;
use ascend_trace_format::api::Untimed;
use ascend_trace_recording::Task;

pub use arg_detail::ArgDetail;
pub use ascend::{Ascend, RankDatabase, RankDatabases, RankTable, RankValue};
pub use chrome::Chrome;
pub use csv::Csv;
#[cfg(feature = "parquet")]
pub use dataset::{
    ClockRow, CollectedRecording, DATASET_VERSION, Dataset, dataset_schema, dataset_tables,
    table_rows, write_clocks,
};
pub use kineto::{EventNames, Kineto};
#[cfg(feature = "parquet")]
pub use parquet::Parquet;
pub use perfetto::Perfetto;
pub use row_store::{FunctionRow, RowBatch, RowStore, StoredTable, begin_rows};
pub use selection::{NamePattern, OnlyConditions, OnlyError, WantedPart};

pub use ascend_trace_analysis::{RecordingPart, WindowSize};
pub use export_source::ExportSource;
pub use stream::{StreamError, stream};
pub use trace_tables::{CellValue, ColumnKind};

/// Output of an exporter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputLayout {
    /// One file, usually named with this extension.
    File { extension: &'static str },
    /// A directory that holds these files.
    Directory { files: &'static [&'static str] },
    /// A directory that holds a file for each rank of a distributed run, with this at the end of its name; see
    /// [`rank_file`].
    Ranks { ending: &'static str },
    /// A directory that holds a directory for each rank of a distributed run, with this at the end of its name.
    Folders { ending: &'static str },
}

/// The file of a rank, for [`OutputLayout::Ranks`].
pub fn rank_file(rank: u64, ending: &str) -> String {
    format!("rank-{rank}{ending}")
}

/// Whether a file has the name of a rank's.
pub fn is_rank_file(name: &str, ending: &str) -> bool {
    let rank = name
        .strip_prefix("rank-")
        .and_then(|it| it.strip_suffix(ending));
    rank.is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Where an exporter writes.
pub trait ExportSink<'w> {
    /// The file of this name; for [`OutputLayout::File`] the name is empty. Each is requested once, and
    /// several can be open at a time. Data is written in large pieces. A file is complete when its
    /// writer has been flushed and dropped.
    fn open(&mut self, name: &str) -> io::Result<Box<dyn Write + 'w>>;
}

/// The sink of a [`OutputLayout::File`] export: everything goes to one writer.
pub struct SingleFile<'w>(Option<&'w mut dyn Write>);

impl<'w> SingleFile<'w> {
    pub fn new(writer: &'w mut dyn Write) -> Self {
        Self(Some(writer))
    }
}

impl<'w> ExportSink<'w> for SingleFile<'w> {
    fn open(&mut self, _name: &str) -> io::Result<Box<dyn Write + 'w>> {
        let writer = self.0.take();
        let writer = writer.ok_or_else(|| io::Error::other("the only file is in use"))?;
        Ok(Box::new(writer))
    }
}

/// Why an export stopped.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("cannot open {name}: {error}")]
    Open { name: String, error: io::Error },
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
}

/// One format.
pub trait Exporter: Sync {
    /// The word for it on the command line.
    fn name(&self) -> &'static str;

    fn layout(&self) -> OutputLayout;

    /// Whether it has slices, with more or less detail. Tables have all of it.
    fn has_slices(&self) -> bool {
        !matches!(self.layout(), OutputLayout::Directory { .. })
    }

    /// The analyses that it writes in addition to calls and tasks.
    fn needs(&self) -> AnalysisNeeds {
        AnalysisNeeds::All
    }

    /// Begins an export, which takes a trace part by part.
    fn begin<'w>(
        &self,
        sink: &mut dyn ExportSink<'w>,
    ) -> Result<Box<dyn ExportPass<'w> + 'w>, ExportError>;

    /// Writes everything in `source`. A trace without calls gives a valid, empty export.
    fn export<'w>(
        &self,
        source: &ExportSource<'_>,
        sink: &mut dyn ExportSink<'w>,
    ) -> Result<(), ExportError> {
        let mut pass = self.begin(sink)?;
        pass.step(source, sink)?;
        pass.finish()
    }
}

/// An export on its way through a trace: it takes the parts in their order, the last one included,
/// and is finished then. Files that the beginning did not know of are opened on the way.
pub trait ExportPass<'w> {
    fn step(
        &mut self,
        source: &ExportSource<'_>,
        sink: &mut dyn ExportSink<'w>,
    ) -> Result<(), ExportError>;

    fn finish(self: Box<Self>) -> Result<(), ExportError>;
}

/// Every format there is.
pub const FORMATS: &[&dyn Exporter] = &[
    &Chrome,
    &Perfetto,
    &Kineto::OWN,
    &Ascend::PLAIN,
    #[cfg(feature = "parquet")]
    &Parquet,
    &Csv,
];

/// The format with this name.
pub fn format(name: &str) -> Option<&'static dyn Exporter> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}

/// Why a task without times has none.
fn untimed_reason(task: &Task) -> &'static str {
    match task.untimed {
        // Its time was still to be read when the trace was exported.
        Untimed::Timed => Untimed::Lost.name(),
        reason => reason.name(),
    }
}

/// Opens a file of an export, naming it in the error.
fn open<'w>(sink: &mut dyn ExportSink<'w>, name: &str) -> Result<Box<dyn Write + 'w>, ExportError> {
    sink.open(name).map_err(|error| ExportError::Open {
        name: name.to_owned(),
        error,
    })
}
