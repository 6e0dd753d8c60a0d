//! Exports of a trace to other tools: one [`Exporter`] per format, one file per exporter.
//!
//! An exporter turns a [`Source`] into bytes; it opens no files itself. Where they go, and whether
//! something may be overwritten, is decided by the caller through a [`Sink`].

mod arguments;
mod chrome;
mod constants;
mod counters;
mod csv;
mod digits;
mod fields;
mod json;
mod labels;
#[cfg(feature = "parquet")]
mod parquet;
mod perfetto;
mod selection;
mod tables;
mod tracks;

use std::io::{self, Write};

use ascend_trace_analysis::{Dependencies, Graphs, Lane, Stall, Stalls};
use ascend_trace_format::api::Untimed;
use ascend_trace_model::{CallId, StreamId, Task, TaskId, ThreadId, Trace};

use constants::Constants;
use selection::Selection;

pub use chrome::Chrome;
pub use csv::Csv;
#[cfg(feature = "parquet")]
pub use parquet::Parquet;
pub use perfetto::Perfetto;
pub use selection::{Only, OnlyError, Wanted};

/// What an export is made from.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    pub trace: &'a Trace,
    pub dependencies: Dependencies,
    pub stalls: Stalls,
    pub graphs: Graphs,
    selection: Selection,
    constants: Constants<'a>,
}

impl<'a> Source<'a> {
    /// Analyses a trace for exports of all of it.
    pub fn new(trace: &'a Trace) -> Self {
        Self::of(trace, &Wanted::default())
    }

    /// Analyses a trace for exports of a part of it.
    pub fn of(trace: &'a Trace, wanted: &Wanted) -> Self {
        let dependencies = Dependencies::of(trace);
        Self {
            trace,
            stalls: Stalls::with(trace, &dependencies),
            dependencies,
            graphs: Graphs::of(trace),
            selection: Selection::of(trace, wanted),
            constants: Constants::of(trace),
        }
    }
}

impl Source<'_> {
    /// The calls of a thread that are wanted, by begin time.
    fn calls(&self, thread: ThreadId) -> impl Iterator<Item = CallId> {
        let calls = self.trace.thread_calls(thread).iter().copied();
        calls.filter(|id| self.selection.call(*id))
    }

    /// The tasks of a stream that are wanted, in the order of submission.
    fn tasks(&self, stream: StreamId) -> impl Iterator<Item = TaskId> {
        let tasks = self.trace.stream_tasks(stream).iter().copied();
        tasks.filter(|id| self.selection.task(*id))
    }
}

impl Source<'_> {
    /// The stretches in which a stream did nothing, unless that is as it should be.
    fn idle(&self, stream: StreamId) -> impl Iterator<Item = &Stall> {
        let stalls = self.stalls.lane(Lane::Stream(stream)).iter();
        stalls.filter(|stall| stall.is_notable() && self.selection.stall(stall))
    }
}

/// What an exporter writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One file, usually named with this extension.
    File { extension: &'static str },
    /// A directory that holds these files.
    Directory { files: &'static [&'static str] },
}

/// Where an exporter writes.
pub trait Sink {
    /// The file of this name; for [`Layout::File`] the name is empty. A file is complete when its
    /// writer has been flushed and dropped.
    fn open(&mut self, name: &str) -> io::Result<Box<dyn Write + '_>>;
}

/// The sink of a [`Layout::File`] export: everything goes to one writer.
pub struct Single<'a>(pub &'a mut dyn Write);

impl Sink for Single<'_> {
    fn open(&mut self, _name: &str) -> io::Result<Box<dyn Write + '_>> {
        Ok(Box::new(&mut *self.0))
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

    fn layout(&self) -> Layout;

    /// Writes everything in `source`. A trace without calls gives a valid, empty export.
    fn export(&self, source: &Source<'_>, sink: &mut dyn Sink) -> Result<(), ExportError>;
}

/// Every format there is.
pub const FORMATS: &[&dyn Exporter] = &[
    &Chrome,
    &Perfetto,
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
fn open<'a>(sink: &'a mut dyn Sink, name: &str) -> Result<Box<dyn Write + 'a>, ExportError> {
    sink.open(name).map_err(|error| ExportError::Open {
        name: name.to_owned(),
        error,
    })
}
