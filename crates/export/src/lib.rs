//! Exports of a trace to other tools: one [`Exporter`] per format, one file per exporter.
//!
//! An exporter turns a [`Source`] into bytes; it opens no files itself. Where they go, and whether
//! something may be overwritten, is decided by the caller through a [`Sink`].

mod arguments;
mod chrome;
mod counters;
mod csv;
mod digits;
mod fields;
mod json;
mod labels;
mod perfetto;
mod tables;
mod tracks;

use std::io::{self, Write};

use ascend_trace_analysis::{Dependencies, Graphs, Stalls};
use ascend_trace_format::api::Untimed;
use ascend_trace_model::{Task, Trace};

pub use chrome::Chrome;
pub use csv::Csv;
pub use perfetto::Perfetto;

/// What an export is made from.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    pub trace: &'a Trace,
    pub dependencies: Dependencies,
    pub stalls: Stalls,
    pub graphs: Graphs,
}

impl<'a> Source<'a> {
    /// Analyses a trace for exports.
    pub fn new(trace: &'a Trace) -> Self {
        let dependencies = Dependencies::of(trace);
        Self {
            trace,
            stalls: Stalls::with(trace, &dependencies),
            dependencies,
            graphs: Graphs::of(trace),
        }
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
pub const FORMATS: &[&dyn Exporter] = &[&Chrome, &Perfetto, &Csv];

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
