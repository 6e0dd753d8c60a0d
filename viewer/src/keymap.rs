//! Which key asks for what. The help is made from this table.

use crate::action::Action;
use crate::event::{KeyCode, KeyEvent, KeyModifiers};
use crate::panels;

/// A line of the help, with the keys it is about.
pub(crate) struct HelpEntry {
    pub(crate) help: &'static str,
    /// The keys that the help shows.
    pub(crate) shown: &'static str,
    pub(crate) keys: &'static [(&'static str, Action)],
}

/// Entries that belong together.
pub(crate) struct HelpGroup {
    pub(crate) title: &'static str,
    pub(crate) entries: &'static [HelpEntry],
}

/// An entry has the keys as the help shows them, its help text, and the action of each key.
macro_rules! keys {
    ($($title:literal { $(
        $shown:literal, $help:literal: $($key:literal => $action:ident),+;
    )+ })+) => {
        /// Every key.
        pub(crate) const KEYS: &[HelpGroup] = &[
            $(HelpGroup {
            title: $title,
            entries: &[$(HelpEntry {
                help: $help,
                shown: $shown,
                keys: &[$(($key, Action::$action)),+],
            }),+],
        },)+
            // Panels with their own keys.
            HelpGroup {
                title: "Tables",
                entries: panels::KEYS,
            },
        ];
    };
}

keys! {
    "Time" {
        "w s  + -", "zoom in, out (W S: faster)":
            "w" => ZoomIn, "s" => ZoomOut, "+" => ZoomIn, "=" => ZoomIn, "-" => ZoomOut,
            "W" => ZoomInFast, "S" => ZoomOutFast;
        "a d", "move left, right (A D: by a screen)":
            "a" => PanLeft, "d" => PanRight, "A" => PanScreenLeft, "D" => PanScreenRight,
            "shift-left" => PanLeft, "shift-right" => PanRight;
        "0 F Z", "show everything, the selection, between the marks":
            "0" => FitAll, "F" => FitSelection, "z" => FitSelection, "Z" => FitMarks;
        "g", "go to a time and mark it": "g" => GoTo;
        "home end", "to the beginning, the end": "home" => Begin, "end" => End;
    }
    "Selection" {
        "← →  h l", "previous, next slice of the lane":
            "left" => PreviousItem, "right" => NextItem, "h" => PreviousItem, "l" => NextItem,
            "," => PreviousItem, "." => NextItem;
        "↑ ↓  k j", "lane above, below":
            "up" => LaneUp, "down" => LaneDown, "k" => LaneUp, "j" => LaneDown;
        "pgup pgdn", "scroll the lanes": "pgup" => PageUp, "pgdn" => PageDown;
        "[ ]", "what it waited for, what waited for it": "[" => ToCause, "]" => ToEffect;
        "tab", "another one of these": "tab" => Alternative;
        "u U", "undo, redo a jump or move (also backspace)":
            "u" => Back, "backspace" => Back, "U" => Forward;
        "esc", "select nothing": "esc" => Escape;
    }
    "Find" {
        "n N", "next, previous stall": "n" => NextStall, "N" => PreviousStall;
        "i I", "the longest stalls, stalls by culprit": "i" => ListStalls, "I" => ListBlames;
        "P", "mistakes and costs that checks found": "P" => ListFindings;
        "R", "critical path of what is on screen": "R" => CriticalPath;
        "T", "least duration of stalls to go to and list": "T" => LeastStall;
        "t", "statistics of the visible range": "t" => ListStatistics;
        "H", "calls of the host thread by nesting": "H" => Flame;
        "/", "find: name /regex/ arg=value >1ms !": "/" => Search;
        "> <", "next, previous match": ">" => NextMatch, "<" => PreviousMatch;
        "!", "next call that failed (then also > <)": "!" => NextFailure;
    }
    "Marks" {
        "m M", "mark and measure, clear the marks": "m" => Mark, "M" => ClearMarks;
        "b B", "bookmark this, list the bookmarks": "b" => Bookmark, "B" => ListBookmarks;
    }
    "Export" {
        "e E", "export what is on screen, everything": "e" => ExportRange, "E" => ExportAll;
    }
    "Lanes" {
        "c C", "fold the lanes here, unfold all": "c" => Fold, "C" => UnfoldAll;
        "v x X", "pin, hide this lane, show all": "v" => Pin, "x" => Hide, "X" => ShowAll;
        "\\", "show only lanes whose name contains a text": "\\" => FilterLanes;
    }
    "Two recordings" {
        "} {", "next, previous step of both": "}" => NextStep, "{" => PreviousStep;
        "G", "what changed from A to B": "G" => ListChanges;
        "O @", "go to the other one, align the selections":
            "O" => OtherRecording, "@" => AlignSelections;
    }
    "View" {
        "f", "follow the newest data (not live: F)": "f" => Follow;
        "p space", "pause the view, not the recording": "p" => Pause, "space" => Pause;
        "ctrl-p", "pause or resume the recording": "ctrl-p" => PauseRecording;
        "ctrl-s", "snapshot of a recording with --ring": "ctrl-s" => TakeSnapshot;
        "ctrl-k", "put a mark into the recording": "ctrl-k" => MarkRecording;
        "o L", "output of the program (J K: scroll)":
            "o" => ToggleLog, "L" => ToggleLog, "J" => LogDown, "K" => LogUp;
        "enter", "larger or smaller details": "enter" => ToggleDetail;
        "V", "keep this layout in the configuration": "V" => SaveLayout;
        "y Y", "copy the details (OSC 52), write a picture":
            "y" => Copy, "Y" => SavePicture;
        "r", "arrows: all, only the selection's": "r" => ToggleArrows;
        ":", "commands, and names to go to": ":" => Palette;
        "?", "this help": "?" => Help, "f1" => Help;
        "q ctrl-z", "quit, suspend":
            "q" => Quit, "ctrl-c" => Quit, "ctrl-z" => Suspend, "ctrl-l" => Redraw;
    }
}

/// The keys that ask for an action, as they are written in the help.
pub(crate) fn keys_of(action: Action) -> Vec<&'static str> {
    let entries = KEYS.iter().flat_map(|group| group.entries);
    let keys = entries.flat_map(|entry| entry.keys);
    keys.filter(|(_, it)| *it == action)
        .map(|(name, _)| *name)
        .collect()
}

/// The action of the key with this name.
pub(crate) fn action(name: &str) -> Option<Action> {
    let entries = KEYS.iter().flat_map(|group| group.entries);
    let mut keys = entries.flat_map(|entry| entry.keys);
    keys.find(|(known, _)| *known == name)
        .map(|(_, action)| *action)
}

/// The name of a key, without an allocation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeyName {
    bytes: [u8; 32],
    len: usize,
}

impl KeyName {
    /// Appends a text. A text without room is left out: the longest name has 24 bytes.
    fn push_str(&mut self, text: &str) {
        let end = self.len + text.len();
        if let Some(room) = self.bytes.get_mut(self.len..end) {
            room.copy_from_slice(text.as_bytes());
            self.len = end;
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.len]).unwrap_or_default()
    }
}

impl std::fmt::Write for KeyName {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.push_str(text);
        Ok(())
    }
}

/// The name of a key: its character or word, after `ctrl-`, `alt-` or `shift-`. Shift is part of
/// a character already.
pub(crate) fn name(key: &KeyEvent) -> Option<KeyName> {
    use std::fmt::Write as _;
    let mut name = KeyName::default();
    let is_character = matches!(key.code, KeyCode::Char(_));
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        name.push_str("ctrl-");
    }
    if key.modifiers.contains(KeyModifiers::ALT) {
        name.push_str("alt-");
    }
    if key.modifiers.contains(KeyModifiers::SHIFT) && !is_character {
        name.push_str("shift-");
    }
    match key.code {
        KeyCode::Char(' ') => name.push_str("space"),
        KeyCode::Char(character) => name.push_str(character.encode_utf8(&mut [0; 4])),
        KeyCode::F(number) => write!(name, "f{number}").ok()?,
        code => name.push_str(WORDS.iter().find(|(_, it)| *it == code)?.0),
    }
    Some(name)
}

const WORDS: &[(&str, KeyCode)] = &[
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pgup", KeyCode::PageUp),
    ("pgdn", KeyCode::PageDown),
    ("tab", KeyCode::Tab),
    ("backtab", KeyCode::BackTab),
    ("enter", KeyCode::Enter),
    ("esc", KeyCode::Esc),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
];

/// The key with a name; the opposite of [`name`].
pub(crate) fn key(name: &str) -> Option<KeyEvent> {
    let mut modifiers = KeyModifiers::NONE;
    let mut rest = name;
    for (prefix, modifier) in [
        ("ctrl-", KeyModifiers::CONTROL),
        ("alt-", KeyModifiers::ALT),
        ("shift-", KeyModifiers::SHIFT),
    ] {
        if let Some(after) = rest.strip_prefix(prefix) {
            modifiers |= modifier;
            rest = after;
        }
    }
    let word = WORDS.iter().find(|(word, _)| *word == rest);
    let mut characters = rest.chars();
    let code = match (word, characters.next(), characters.next()) {
        (Some((_, code)), ..) => *code,
        (None, Some(character), None) => KeyCode::Char(character),
        (None, Some('f'), Some(_)) => KeyCode::F(rest[1..].parse().ok()?),
        _ if rest == "space" => KeyCode::Char(' '),
        _ => return None,
    };
    Some(KeyEvent::new(code, modifiers))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn names() -> impl Iterator<Item = (&'static str, Action)> {
        let entries = KEYS.iter().flat_map(|group| group.entries);
        entries.flat_map(|entry| entry.keys.iter().copied())
    }

    fn action(key: &KeyEvent) -> Option<Action> {
        super::action(name(key)?.as_str())
    }

    #[test]
    fn every_key_of_the_table_asks_for_its_action() {
        for (name, wanted) in names() {
            let key = key(name).unwrap_or_else(|| panic!("no such key: {name}"));
            assert_eq!(action(&key), Some(wanted), "{name}");
        }
    }

    #[test]
    fn no_key_is_given_twice() {
        let all: Vec<_> = names().map(|(name, _)| name).collect();
        let different: BTreeSet<_> = all.iter().collect();
        assert_eq!(all.len(), different.len());
    }

    #[test]
    fn capitals_come_with_and_without_the_shift_flag() {
        let bare = KeyEvent::new(KeyCode::Char('N'), KeyModifiers::NONE);
        let shifted = KeyEvent::new(KeyCode::Char('N'), KeyModifiers::SHIFT);
        assert_eq!(action(&bare), Some(Action::PreviousStall));
        assert_eq!(action(&shifted), Some(Action::PreviousStall));
    }

    #[test]
    fn a_key_that_means_nothing_does_nothing() {
        assert_eq!(
            action(&KeyEvent::new(KeyCode::Char('ß'), KeyModifiers::NONE)),
            None
        );
        assert_eq!(
            action(&KeyEvent::new(KeyCode::Insert, KeyModifiers::NONE)),
            None
        );
    }
}
