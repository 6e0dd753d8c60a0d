//! Where the trace comes from: the viewer never opens files itself.

use std::borrow::Cow;
use std::error::Error;
use std::time::Duration;

use ascend_trace_model::Trace;

/// A trace that is there, or is still being recorded.
pub trait Source {
    /// Takes in what has been recorded since the last time. Must return soon.
    ///
    /// # Errors
    /// When the trace cannot be read any further. The view shows the message and stays.
    fn poll(&mut self) -> Result<Progress, Box<dyn Error + Send + Sync>>;

    /// The trace as of the last [`Source::poll`].
    fn trace(&self) -> &Trace;

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
