//! The tables in the place of the details. A panel is one file behind the trait [`Panel`]: it has the rows, their
//! staleness, the text without rows, and the keys. [`crate::update`] has the common parts: open, filter, sort, follow a row.

mod blames;
mod bookmarks;
mod changes;
mod commands;
mod communication;
mod critical;
mod findings;
mod memory;
mod stalls;
mod statistics;
mod steps;

use std::fmt::Debug;

use crate::action::{Action, SourceRequest};
use crate::app::{App, ViewData};
use crate::event::KeyEvent;
use crate::keymap::HelpEntry;
use crate::list::{ListColumn, ListEntry, ListState};
use crate::view_position::ViewPosition;

pub(crate) use blames::Blames;
pub(crate) use bookmarks::{Bookmarks, go as go_to_bookmark};
pub(crate) use changes::Changes;
pub(crate) use commands::{Commands, fill, paste, perform};
pub(crate) use communication::Communication;
pub(crate) use critical::PathListing;
pub(crate) use findings::Findings;
pub(crate) use memory::Memory;
pub(crate) use stalls::StallPanel;
pub(crate) use statistics::StatsPage;
pub(crate) use steps::found as found_step;

/// The list of panels. Each has the state that selects its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PanelKind {
    Stalls(StallPanel),
    Blames(Blames),
    Findings(Findings),
    Critical(PathListing),
    Changes(Changes),
    Statistics(StatsPage),
    Bookmarks(Bookmarks),
    Commands(Commands),
    Memory(Memory),
    Communication(Communication),
}

/// The keys of panels that state their own, for the help and the key map.
pub(crate) const KEYS: &[HelpEntry] = &[memory::KEYS, communication::KEYS];

/// The names of these panels in the command line and the configuration.
pub(crate) const COMMANDS: &[(Action, &str)] = &[memory::COMMAND, communication::COMMAND];

impl PanelKind {
    pub(crate) fn panel(&self) -> &dyn Panel {
        match self {
            Self::Stalls(panel) => panel,
            Self::Blames(panel) => panel,
            Self::Findings(panel) => panel,
            Self::Critical(panel) => panel,
            Self::Changes(panel) => panel,
            Self::Statistics(panel) => panel,
            Self::Bookmarks(panel) => panel,
            Self::Commands(panel) => panel,
            Self::Memory(panel) => panel,
            Self::Communication(panel) => panel,
        }
    }

    /// Whether both are the same panel, perhaps with other rows.
    pub(crate) fn is_same_panel(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

/// The rows of a panel.
pub(crate) struct PanelContent {
    pub(crate) columns: Vec<ListColumn>,
    pub(crate) entries: Vec<ListEntry>,
    /// Text after the title.
    pub(crate) note: String,
}

/// When the rows of a panel are made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Staleness {
    /// Only when the panel itself asks for it.
    Never,
    /// When another part of the recording is loaded.
    OtherPart,
    /// Also when the recording has grown, at most once a second.
    Growth,
    /// When another range is on screen, or the recording has grown.
    Range,
}

/// What tab does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TabTarget {
    Nothing,
    /// Opens another panel.
    Open(PanelKind),
    /// Shows another page of the same panel, even an empty one.
    Turn(PanelKind),
}

/// The outcome of a key in a panel.
#[derive(Debug)]
pub(crate) enum KeyOutcome {
    /// The key has the meaning that it has in every panel.
    Unknown,
    Handled,
    /// The source has to do this.
    Request(SourceRequest),
}

/// A table in the place of the details. What enter does is the target of each row.
pub(crate) trait Panel: Debug {
    /// The action that opens the panel, and closes it again.
    fn opener(&self) -> Action;

    fn title(&self, list: &ListState) -> String;

    /// The keys of the panel.
    fn hint(&self) -> &'static str;

    /// The rows. `typed` is the text that the user has typed.
    fn content(&self, app: &mut App, world: ViewData<'_>, typed: &str) -> PanelContent;

    fn staleness(&self) -> Staleness;

    /// The message in the place of a panel without rows; `None` where it opens without any.
    fn empty_text(&self, app: &App, world: ViewData<'_>) -> Option<String>;

    /// Begins a query for data outside of the loaded part.
    fn query(&self, _app: &mut App, _world: ViewData<'_>) {}

    /// Prepares the data of the rows, before the first rows.
    fn begin(&self, _app: &mut App, _world: ViewData<'_>) {}

    /// Whether the typed text leaves rows out, rather than making them.
    fn filters(&self) -> bool {
        true
    }

    fn on_tab(&self, _forward: bool) -> TabTarget {
        TabTarget::Nothing
    }

    /// Handles a key of this panel alone.
    fn on_key(&self, _app: &mut App, _world: ViewData<'_>, _key: &KeyEvent) -> KeyOutcome {
        KeyOutcome::Unknown
    }

    /// The message when enter finds no row.
    fn no_row_text(&self, _typed: &str) -> Option<String> {
        None
    }

    /// Runs when the panel is closed.
    fn on_close(&self, _app: &mut App) {}

    /// Whether the rows depend on the least duration of stalls.
    fn has_stalls(&self) -> bool {
        false
    }

    /// Goes back to where the panel was opened, after it was closed by escape.
    fn on_escape(&self, _app: &mut App, _world: ViewData<'_>, _origin: ViewPosition) {}
}
