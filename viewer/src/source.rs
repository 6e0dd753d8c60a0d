//! Where the trace comes from: the viewer never opens files itself.

use std::borrow::Cow;
use std::error::Error;
use std::time::Duration;

use ascend_trace_recording::{TimeRange, Trace};

use crate::job::{Job, News};
use crate::marks::Bookmark;
use crate::overview::Overview;
use crate::part::Derived;

/// A trace that is there, or is still being recorded.
pub trait Source {
    /// Learns what has been recorded since the last time. Must return soon, however much that is:
    /// another thread reads it.
    ///
    /// # Errors
    /// When the trace cannot be read any further. The view shows the message and stays.
    fn poll(&mut self) -> Result<Progress, Box<dyn Error + Send + Sync>>;

    /// The trace as of the last [`Source::next_part`].
    fn trace(&self) -> &Trace;

    /// What is known of all of the recording, of which [`Source::trace`] holds what is loaded.
    fn overview(&self) -> &Overview;

    /// Learns what is on screen. The source begins to load that, and does not wait.
    fn look_at(&mut self, _range: TimeRange) {}

    /// Whether more of what is on screen is on its way.
    fn is_loading(&self) -> bool {
        false
    }

    /// Makes what has been read the trace, if there is something new, and hands out what is derived from
    /// it. Until then [`Source::trace`] is what it was.
    fn next_part(&mut self) -> Option<Derived> {
        None
    }

    /// Takes back what was shown before, so that the thread that draws need not free it.
    fn take_back(&mut self, _old: Derived) {}

    /// Begins a job, and does not wait. Why one cannot even begin is told by its news.
    fn start(&mut self, _job: Job) {}

    /// Stops a job that is under way.
    fn stop(&mut self, _number: u64) {}

    /// What there is to say of jobs, one after the other.
    fn news(&mut self) -> Option<News> {
        None
    }

    /// What is to be said to the user now, whatever the view shows.
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

    /// What the traced program writes, if it runs under the view.
    fn log(&self) -> Option<&dyn Log> {
        None
    }
}

/// Lines that a program wrote.
pub trait Log {
    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The line with this number, without its end; nothing when it is no longer kept.
    fn line(&self, index: usize) -> Option<Cow<'_, str>>;
}

/// What a [`Source::poll`] brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Whether the trace is another than before.
    pub changed: bool,
    pub recording: Recording,
    /// How far the trace is behind the program.
    pub lag: Option<Duration>,
    /// What the recorder has counted, where it can be asked.
    pub counted: Option<Counted>,
    /// Bytes of the file that have not been read.
    pub unread: u64,
}

/// What a recorder has counted up to now, which may not be in its file yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    pub calls: u64,
    /// Calls and other records that could not be recorded.
    pub lost: u64,
}

/// Whether the trace still grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recording {
    #[default]
    Running,
    /// The program ended with this status.
    Ended { status: i32 },
    /// There will be no more, and how the program ended is not known.
    Stopped,
}
