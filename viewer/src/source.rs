//! Where the trace comes from: the viewer never opens files itself.

use std::borrow::Cow;
use std::error::Error;
use std::time::Duration;

use ascend_trace_recording::{TimeRange, Trace};

use crate::derived_data::DerivedData;
use crate::job::{Job, JobNews};
use crate::marks::Bookmark;
use crate::overview::RecordingOverview;
use crate::picture::Picture;

/// A finished trace, or one that is still being recorded.
pub trait TraceSource {
    /// Takes new records. Must return soon for any amount of data: another thread reads it.
    ///
    /// # Errors
    /// When the trace cannot be read any further. The view shows the message and stays.
    fn poll(&mut self) -> Result<SourceProgress, Box<dyn Error + Send + Sync>>;

    /// The trace as of the last [`TraceSource::next_part`].
    fn trace(&self) -> &Trace;

    /// Facts about the whole recording; [`TraceSource::trace`] has its loaded part.
    fn overview(&self) -> &RecordingOverview;

    /// Sets the range on screen. The source begins to load it, and does not wait.
    fn look_at(&mut self, _range: TimeRange) {}

    /// Whether more of the range on screen is being loaded.
    fn is_loading(&self) -> bool {
        false
    }

    /// Makes the newly read part the trace, if there is one, and returns its derived data. Until then
    /// [`TraceSource::trace`] does not change.
    fn next_part(&mut self) -> Option<DerivedData> {
        None
    }

    /// Takes back the previous data, so that the drawing thread need not free it.
    fn take_back(&mut self, _old: DerivedData) {}

    /// Begins a job, and does not wait. A job that cannot begin reports it in its news.
    fn start(&mut self, _job: Job) {}

    /// Stops a job that is under way.
    fn stop(&mut self, _number: u64) {}

    /// News of jobs, one after the other.
    fn news(&mut self) -> Option<JobNews> {
        None
    }

    /// An urgent message for the user.
    fn notice(&mut self) -> Option<String> {
        None
    }

    /// The name that is proposed for the file of an export; `None` when there can be none.
    fn export_name(&self) -> Option<&str> {
        None
    }

    /// Bookmarks that were kept with this trace.
    fn bookmarks(&self) -> Vec<Bookmark> {
        Vec::new()
    }

    /// Keeps bookmarks with the trace, instead of those that were.
    ///
    /// # Errors
    /// When they cannot be written. The view shows the message and goes on.
    fn keep_bookmarks(
        &mut self,
        _bookmarks: &[Bookmark],
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(())
    }

    /// Keeps a layout, as text in the form of a configuration file. Answers where.
    ///
    /// # Errors
    /// When it cannot be written. The view shows the message and goes on.
    fn keep_layout(&mut self, _text: &str) -> Result<String, Box<dyn Error + Send + Sync>> {
        Err("there is no configuration file".into())
    }

    /// Writes a picture of the screen to a file of this name, in the format that its ending says.
    ///
    /// # Errors
    /// When it cannot be written, or would replace something. The view shows the message and goes on.
    fn keep_picture(
        &mut self,
        _path: &str,
        _picture: &Picture,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        Err("pictures cannot be written from here".into())
    }

    /// Changes the recording that is being made, and does not wait: the outcome is a later [`TraceSource::notice`].
    ///
    /// # Errors
    /// When the source cannot change it. The view shows the message.
    fn order(&mut self, _order: RecordingOrder) -> Result<(), Box<dyn Error + Send + Sync>> {
        Err("the recording cannot be changed from here".into())
    }

    /// Output of the traced program, if it runs under the view.
    fn log(&self) -> Option<&dyn ProgramLog> {
        None
    }
}

/// A change of a recording that is being made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordingOrder {
    /// Pauses it, or resumes it if it is paused.
    PauseOrResume,
    /// Puts a mark with this text into it.
    Mark(String),
    /// Takes a snapshot of a ring.
    Snapshot,
}

/// Lines that a program wrote.
pub trait ProgramLog {
    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The line with this number, without its end; nothing when it is no longer kept.
    fn line(&self, index: usize) -> Option<Cow<'_, str>>;
}

/// Result of a [`TraceSource::poll`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceProgress {
    /// Whether the trace is another than before.
    pub changed: bool,
    pub recording: RecordingState,
    /// How far the trace is behind the program.
    pub lag: Option<Duration>,
    /// Counts of the recorder, where it can be asked.
    pub counted: Option<RecorderCounts>,
    /// Bytes of the file that have not been read.
    pub unread: u64,
    /// Whether the recorder has paused the recording, as far as it can be asked.
    pub is_paused: bool,
}

/// Counts of a recorder up to now, which its file may not contain yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecorderCounts {
    pub calls: u64,
    /// Calls and other records that could not be recorded.
    pub lost: u64,
}

/// Whether the trace still grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordingState {
    #[default]
    Running,
    /// The program ended with this status.
    Ended { status: i32 },
    /// There will be no more, and how the program ended is not known.
    Stopped,
}
