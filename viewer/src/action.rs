//! The actions of a user, independent of keys.

use crate::panels::{self, PanelKind};
use crate::source::RecordingOrder;

/// Declares every action with its name for search and configuration, in the order of the palette.
macro_rules! actions {
    ($($(#[$meaning:meta])* $action:ident = $command:literal,)+) => {
        /// A request of the user.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Action {
            $($(#[$meaning])* $action,)+
            /// Opens a panel that states its own key, or closes it.
            Panel(PanelKind),
            /// Shows the panels and lanes of a layout of the configuration.
            Layout(usize),
        }

        /// The actions that are no panel's own.
        const OWN_COMMANDS: &[(Action, &str)] = &[$((Action::$action, $command)),+];
    };
}

actions! {
    NextStall = "next stall",
    PreviousStall = "previous stall",
    ListStalls = "list the longest stalls",
    ListBlames = "list stalls by culprit",
    ListFindings = "list the findings of checks",
    /// Of the selected range, if there is one.
    CriticalPath = "critical path of what is on screen",
    /// Duration from which stalls are listed and visited.
    LeastStall = "set the least duration of stalls",
    ListStatistics = "statistics of the visible range",
    Flame = "calls of the thread by nesting",
    Search = "find by name, argument, duration, failure",
    NextMatch = "next match",
    PreviousMatch = "previous match",
    /// To the next call that failed; the others are then matches.
    NextFailure = "next call that failed",
    ToCause = "go to what the selection waited for",
    ToEffect = "go to what waited for the selection",
    /// To another cause or effect of the last step.
    Alternative = "go to another cause or effect",
    Back = "undo the last jump or move",
    /// Does again what [`Self::Back`] undid.
    Forward = "redo what was undone",
    NextItem = "select the next slice of the lane",
    PreviousItem = "select the previous slice of the lane",
    LaneDown = "go to the lane below",
    LaneUp = "go to the lane above",
    PageDown = "scroll the lanes down",
    PageUp = "scroll the lanes up",
    Escape = "select nothing",
    ZoomIn = "zoom in",
    ZoomOut = "zoom out",
    ZoomInFast = "zoom in fast",
    ZoomOutFast = "zoom out fast",
    PanLeft = "move left",
    PanRight = "move right",
    PanScreenLeft = "move left by a screen",
    PanScreenRight = "move right by a screen",
    FitAll = "show everything",
    FitSelection = "zoom to the selection",
    FitMarks = "zoom to the range between the marks",
    Begin = "go to the beginning",
    End = "go to the end",
    GoTo = "go to a time",
    Mark = "set a mark and measure",
    ClearMarks = "clear the marks",
    Bookmark = "bookmark what is on screen",
    ListBookmarks = "list the bookmarks",
    ExportRange = "export what is on screen to a file",
    ExportAll = "export everything to a file",
    /// Puts the lanes around the current one together in one line, or takes them apart again.
    Fold = "fold or unfold the lanes here",
    UnfoldAll = "unfold all lanes",
    Pin = "pin or unpin the lane",
    Hide = "hide the lane",
    ShowAll = "show all lanes again",
    FilterLanes = "show only lanes whose name contains a text",
    /// Keeps the present panels and lanes as a layout of the configuration.
    SaveLayout = "keep this layout",
    /// Of two recordings: in both.
    NextStep = "next step of both recordings",
    PreviousStep = "previous step of both recordings",
    ListChanges = "list the changes of both recordings",
    OtherRecording = "go to the other recording",
    AlignSelections = "align the selections of both recordings",
    Follow = "follow the newest data",
    Pause = "pause the view, not the recording",
    PauseRecording = "pause or resume the recording",
    TakeSnapshot = "take a snapshot of a recording with --ring",
    MarkRecording = "put a mark into the recording",
    ToggleLog = "show or hide the program's output",
    LogUp = "scroll the output up",
    LogDown = "scroll the output down",
    /// Gives the details to the terminal's clipboard.
    Copy = "copy the details to the clipboard",
    SavePicture = "write a picture of the screen to a file",
    ToggleDetail = "larger or smaller details",
    ToggleArrows = "arrows of everything, or of the selection",
    Palette = "every action by name",
    Help = "help",
    Redraw = "redraw the screen",
    Suspend = "suspend",
    Quit = "quit",
}

/// All actions by name; those of panels come last.
pub(crate) const COMMANDS: &[(Action, &str)] = &all_commands();

const fn all_commands() -> [(Action, &'static str); OWN_COMMANDS.len() + panels::COMMANDS.len()] {
    let mut all = [(Action::Quit, ""); OWN_COMMANDS.len() + panels::COMMANDS.len()];
    let mut place = 0;
    while place < all.len() {
        all[place] = match place < OWN_COMMANDS.len() {
            true => OWN_COMMANDS[place],
            false => panels::COMMANDS[place - OWN_COMMANDS.len()],
        };
        place += 1;
    }
    all
}

/// A request to the world outside the view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ViewRequest {
    Quit,
    /// Give the terminal back until the user returns.
    Suspend,
    /// Draw every cell again.
    Redraw,
    /// Give the details to the terminal's clipboard.
    Copy,
    /// Do this with both recordings.
    Pair(PairAction),
    /// For the source of the recording with the focus.
    Source(SourceRequest),
}

/// A request to a source that is carried out at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SourceRequest {
    /// Save the bookmarks next to the trace.
    SaveBookmarks,
    /// Save a layout in the configuration, as text.
    SaveLayout { name: String, text: String },
    /// Write a picture of the screen to a file.
    SavePicture { path: String },
    /// Change the recording that is being made.
    Order(RecordingOrder),
}

/// Actions on two recordings at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PairAction {
    NextStep,
    PreviousStep,
    OtherRecording,
    AlignSelections,
    /// To the change with this place in the list.
    ToChange(usize),
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::keymap::{KEYS, keys_of};

    #[test]
    fn every_key_has_a_command_and_every_command_a_key() {
        let entries = KEYS.iter().flat_map(|group| group.entries);
        for (key, action) in entries.flat_map(|entry| entry.keys) {
            let known = COMMANDS.iter().any(|(command, _)| command == action);
            assert!(known, "{key} asks for {action:?}, which the palette lacks");
        }
        for (action, name) in COMMANDS {
            assert!(!keys_of(*action).is_empty(), "no key for “{name}”");
        }
    }

    #[test]
    fn no_name_is_given_twice() {
        let names: BTreeSet<_> = COMMANDS.iter().map(|(_, name)| name).collect();
        assert_eq!(names.len(), COMMANDS.len());
    }
}
