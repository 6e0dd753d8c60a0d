//! The panels on screen.

use crate::command_choices::CommandChoice;
use crate::critical::CriticalPath;
use crate::flame::FlameGraph;
use crate::list::ListState;

/// The panels on screen, and their state.
#[derive(Debug, Default)]
pub(crate) struct OpenPanels {
    pub(crate) log_open: bool,
    /// Lines between the end of the log and the last one shown.
    pub(crate) log_back: usize,
    pub(crate) large_detail: bool,
    /// The list on screen; it gets the keys.
    pub(crate) list: Option<ListState>,
    /// The calls of a thread by nesting, if these are on screen; they get the keys.
    pub(crate) flame: Option<FlameGraph>,
    /// Choices of the command line.
    pub(crate) choices: Vec<CommandChoice>,
    /// Entries of the list are of a part that is not loaded any more.
    pub(crate) stale: bool,
    /// The critical path, while it is shown.
    pub(crate) path: Option<CriticalPath>,
}
