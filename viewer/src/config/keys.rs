//! Keys that mean something else than in the key map.

use std::collections::BTreeMap;

use toml::Spanned;

use crate::action::{Action, COMMANDS};
use crate::event::{KeyCode, KeyEvent, KeyModifiers};
use crate::keymap;

use super::{ConfigMistake, SavedLayout};

/// The action of a key without an effect.
const NOTHING: &str = "none";
/// Prefix of a layout's name.
const LAYOUT: &str = "layout ";

/// The keys that the user has changed; all others follow the key map.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyBindings {
    changed: BTreeMap<String, (Option<Action>, String)>,
}

impl KeyBindings {
    pub(super) fn of(
        written: &BTreeMap<Spanned<String>, Spanned<String>>,
        layouts: &[SavedLayout],
    ) -> Result<Self, ConfigMistake> {
        let mut changed = BTreeMap::new();
        // Reports follow the order of the text.
        let mut written: Vec<_> = written.iter().collect();
        written.sort_by_key(|(key, _)| key.span().start);
        for (key, wanted) in written {
            let wrong = |at: &Spanned<String>, what| ConfigMistake {
                at: at.span().start,
                what,
            };
            let name = key_name(key.get_ref()).map_err(|what| wrong(key, what))?;
            let text = wanted.get_ref().trim().to_lowercase();
            let action = action(&text, layouts).map_err(|what| wrong(wanted, what))?;
            changed.insert(name, (action, text));
        }
        Ok(Self { changed })
    }

    /// The action of a key.
    pub(crate) fn action(&self, key: &KeyEvent) -> Option<Action> {
        let name = keymap::name(key)?;
        match self.changed.get(name.as_str()) {
            Some((action, _)) => *action,
            None => keymap::action(name.as_str()),
        }
    }

    /// The keys that ask for an action, those of the user first.
    pub(crate) fn of_action(&self, wanted: Action) -> Vec<&str> {
        let own = self.changed.iter();
        let own = own.filter(|(_, (action, _))| *action == Some(wanted));
        let known = keymap::keys_of(wanted).into_iter();
        let known = known.filter(|name| !self.is_changed(name));
        own.map(|(name, _)| name.as_str()).chain(known).collect()
    }

    pub(crate) fn is_changed(&self, name: &str) -> bool {
        self.changed.contains_key(name)
    }

    /// Every changed key with its action.
    pub(crate) fn changed(&self) -> impl Iterator<Item = (&str, &str)> {
        let changed = self.changed.iter();
        changed.map(|(name, (_, text))| (name.as_str(), text.as_str()))
    }
}

/// A key by the name that it has in the key map.
fn key_name(text: &str) -> Result<String, String> {
    let event = keymap::key(text).ok_or_else(|| {
        format!("there is no key “{text}”: write a character, or a name such as ctrl-x, f5, pgup")
    })?;
    let (is_shifted, is_with) = (
        event.modifiers.contains(KeyModifiers::SHIFT),
        event
            .modifiers
            .intersects(KeyModifiers::CONTROL | KeyModifiers::ALT),
    );
    if let KeyCode::Char(letter) = event.code {
        // Terminals report large letters directly, and only small ones with ctrl.
        let (large, small) = (letter.to_uppercase(), letter.to_lowercase());
        if is_shifted && letter != ' ' {
            return Err(format!(
                "a key with shift is its own character: “{large}” instead of “{text}”"
            ));
        }
        if is_with && letter.is_uppercase() {
            let begin = text.strip_suffix(letter).unwrap_or(text);
            return Err(format!("there is no key “{text}”: write “{begin}{small}”"));
        }
    }
    let name = keymap::name(&event).unwrap_or_default();
    match name.as_str() {
        "ctrl-c" => Err("ctrl-c always quits: take another key".to_owned()),
        "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" => {
            Err(format!("{text} counts, as in 5n: take another key"))
        }
        name => Ok(name.to_owned()),
    }
}

/// The action of a name, in small letters.
fn action(text: &str, layouts: &[SavedLayout]) -> Result<Option<Action>, String> {
    if text == NOTHING {
        return Ok(None);
    }
    if let Some(name) = text.strip_prefix(LAYOUT) {
        let found = layouts.iter().position(|it| it.name.to_lowercase() == name);
        let unknown = || format!("there is no layout “{name}”: write one as [layouts.{name}]");
        return found
            .map(|place| Some(Action::Layout(place)))
            .ok_or_else(unknown);
    }
    let known = COMMANDS.iter().find(|(_, name)| *name == text);
    known.map(|(action, _)| Some(*action)).ok_or_else(|| {
        let nearest = COMMANDS.iter().min_by_key(|(_, name)| distance(text, name));
        let nearest = nearest.map_or("", |(_, name)| *name);
        format!("there is no action “{text}”, perhaps “{nearest}”: `:` lists all of them")
    })
}

/// How many letters must be put in, taken out or changed to make one text of the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut costs: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut costs[0], row + 1);
        for (column, its) in other.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *its);
            diagonal = costs[column + 1];
            costs[column + 1] = changed.min(diagonal + 1).min(costs[column] + 1);
        }
    }
    costs.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;

    fn keys(text: &str) -> KeyBindings {
        Config::parse(text).expect("it is right").keys
    }

    fn refused(text: &str) -> String {
        Config::parse(text).expect_err("it is wrong").to_string()
    }

    fn asks(keys: &KeyBindings, name: &str) -> Option<Action> {
        keys.action(&keymap::key(name).expect("a key"))
    }

    #[test]
    fn a_bound_key_has_its_new_action_and_others_keep_theirs() {
        let keys = keys("[keys]\nx = \"Zoom in\"\nctrl-x = \"show everything\"\nf5 = \"quit\"\n");
        assert_eq!(asks(&keys, "x"), Some(Action::ZoomIn));
        assert_eq!(asks(&keys, "ctrl-x"), Some(Action::FitAll));
        assert_eq!(asks(&keys, "f5"), Some(Action::Quit));
        assert_eq!(asks(&keys, "w"), Some(Action::ZoomIn));
        assert_eq!(asks(&keys, "v"), Some(Action::Pin));
        assert_eq!(keys.of_action(Action::ZoomIn), ["x", "w", "+", "="]);
        assert!(keys.of_action(Action::Hide).is_empty());
    }

    #[test]
    fn a_key_can_be_without_a_meaning() {
        let keys = keys("[keys]\nq = \"none\"\n\"\\\\\" = \"none\"\n");
        assert_eq!(asks(&keys, "q"), None);
        assert_eq!(asks(&keys, "\\"), None);
        assert_eq!(asks(&keys, "ctrl-c"), Some(Action::Quit));
    }

    #[test]
    fn every_action_can_be_bound_by_its_name() {
        for (wanted, name) in COMMANDS {
            let keys = keys(&format!("[keys]\nf9 = \"{name}\"\n"));
            assert_eq!(asks(&keys, "f9"), Some(*wanted));
        }
    }

    #[test]
    fn every_key_of_the_key_map_can_be_bound() {
        let entries = keymap::KEYS.iter().flat_map(|group| group.entries);
        let names = entries.flat_map(|entry| entry.keys).map(|(name, _)| *name);
        for name in names.filter(|name| *name != "ctrl-c") {
            let keys = keys(&format!("[keys]\n'{name}' = \"help\"\n"));
            assert_eq!(asks(&keys, name), Some(Action::Help), "{name}");
        }
    }

    #[test]
    fn mistakes_name_their_line_and_what_to_do() {
        assert_eq!(
            refused("[keys]\na = \"zoom in\"\nb = \"zom in\"\n"),
            "3: there is no action “zom in”, perhaps “zoom in”: `:` lists all of them"
        );
        assert!(
            refused("[keys]\nhyper-x = \"quit\"\n").starts_with("2: there is no key “hyper-x”")
        );
        assert!(refused("[keys]\n5 = \"quit\"\n").starts_with("2: 5 counts"));
        assert!(refused("[keys]\nctrl-c = \"help\"\n").starts_with("2: ctrl-c always quits"));
        assert!(refused("[keys]\nl = \"layout x\"\n").starts_with("2: there is no layout “x”"));
        let shifted = refused("[keys]\nshift-a = \"help\"\n");
        assert!(shifted.ends_with("“A” instead of “shift-a”"), "{shifted}");
        let large = refused("[keys]\nctrl-X = \"help\"\n");
        assert!(large.ends_with("write “ctrl-x”"), "{large}");
        // Of two mistakes the first.
        assert!(refused("[keys]\nz = \"a\"\nb = \"c\"\n").starts_with("2: "));
    }

    #[test]
    fn texts_are_as_far_apart_as_letters_must_be_changed() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("zom in", "zoom in"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
