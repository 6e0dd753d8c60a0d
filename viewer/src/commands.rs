//! Every action by a name that one can search for.

use crate::action::Action;

/// All actions, in the order in which the palette lists them.
pub(crate) const COMMANDS: &[(Action, &str)] = &[
    (Action::NextStall, "next stall"),
    (Action::PreviousStall, "previous stall"),
    (Action::ListStalls, "list the longest stalls"),
    (Action::ListBlames, "list stalls by culprit"),
    (Action::ListFindings, "list the findings of checks"),
    (Action::LeastStall, "set the least duration of stalls"),
    (Action::ListStatistics, "statistics of the visible range"),
    (Action::Flame, "calls of the thread by nesting"),
    (Action::Search, "find by name, argument, duration, failure"),
    (Action::NextMatch, "next match"),
    (Action::PreviousMatch, "previous match"),
    (Action::NextFailure, "next call that failed"),
    (Action::ToCause, "go to what the selection waited for"),
    (Action::ToEffect, "go to what waited for the selection"),
    (Action::Alternative, "go to another cause or effect"),
    (Action::Back, "undo the last jump or move"),
    (Action::Forward, "redo what was undone"),
    (Action::NextItem, "select the next slice of the lane"),
    (
        Action::PreviousItem,
        "select the previous slice of the lane",
    ),
    (Action::LaneDown, "go to the lane below"),
    (Action::LaneUp, "go to the lane above"),
    (Action::PageDown, "scroll the lanes down"),
    (Action::PageUp, "scroll the lanes up"),
    (Action::Escape, "select nothing"),
    (Action::ZoomIn, "zoom in"),
    (Action::ZoomOut, "zoom out"),
    (Action::ZoomInFast, "zoom in fast"),
    (Action::ZoomOutFast, "zoom out fast"),
    (Action::Pan(-20), "move left"),
    (Action::Pan(20), "move right"),
    (Action::Pan(-90), "move left by a screen"),
    (Action::Pan(90), "move right by a screen"),
    (Action::FitAll, "show everything"),
    (Action::FitSelection, "zoom to the selection"),
    (Action::FitMarks, "zoom to the range between the marks"),
    (Action::Begin, "go to the beginning"),
    (Action::End, "go to the end"),
    (Action::GoTo, "go to a time"),
    (Action::Mark, "set a mark and measure"),
    (Action::ClearMarks, "clear the marks"),
    (Action::Bookmark, "bookmark what is on screen"),
    (Action::ListBookmarks, "list the bookmarks"),
    (Action::ExportRange, "export what is on screen to a file"),
    (Action::ExportAll, "export everything to a file"),
    (Action::Fold, "fold or unfold the lanes here"),
    (Action::UnfoldAll, "unfold all lanes"),
    (Action::Pin, "pin or unpin the lane"),
    (Action::Hide, "hide the lane"),
    (Action::ShowAll, "show all lanes again"),
    (
        Action::FilterLanes,
        "show only lanes whose name contains a text",
    ),
    (Action::SaveLayout, "keep this layout"),
    (Action::Follow, "follow the newest data"),
    (Action::Pause, "pause the view, not the recording"),
    (Action::ToggleLog, "show or hide the program's output"),
    (Action::LogUp, "scroll the output up"),
    (Action::LogDown, "scroll the output down"),
    (Action::Copy, "copy the details to the clipboard"),
    (Action::ToggleDetail, "larger or smaller details"),
    (
        Action::ToggleArrows,
        "arrows of everything, or of the selection",
    ),
    (Action::Palette, "every action by name"),
    (Action::Help, "help"),
    (Action::Redraw, "redraw the screen"),
    (Action::Suspend, "suspend"),
    (Action::Quit, "quit"),
];

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
