//! Plays the manual's sessions, and compares the screens with the manual.

use super::harness::{LARGE, Player};
use super::scene::scene;

const MANUAL: &str = include_str!("../../../docs/VIEWER.md");

/// Keys in one line of a session, and the screen after them.
fn steps(session: &str) -> Vec<(&str, &str)> {
    let lines = session.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| line.split_once('#').unwrap_or((line, "")))
        .map(|(keys, text)| (keys.trim(), text.trim()))
        .collect()
}

/// The blocks of the manual that are marked as sessions.
fn sessions() -> Vec<&'static str> {
    let blocks = MANUAL.split("```keys\n").skip(1);
    blocks
        .map(|rest| rest.split("```").next().unwrap_or_default())
        .collect()
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_session_shows_its_documented_screen() {
    let sessions = sessions();
    assert!(sessions.len() >= 3, "the manual has {}", sessions.len());
    for session in sessions {
        let mut player = Player::of(scene(), LARGE);
        for (keys, shown) in steps(session) {
            player.play(keys);
            let picture = words(&player.picture());
            let message = format!("after “{keys}” of\n{session}\n{}", player.picture());
            assert!(picture.contains(&words(shown)), "{message}");
        }
    }
}

/// The manual's three questions take fewer than ten key presses each.
#[test]
fn sessions_are_short() {
    for session in sessions() {
        let typed = |word: &str| match crate::keymap::key(word) {
            Some(_) => 1,
            None => word.chars().count(),
        };
        let words = steps(session)
            .into_iter()
            .flat_map(|(keys, _)| keys.split(' '));
        let presses: usize = words.filter(|word| !word.is_empty()).map(typed).sum();
        assert!(
            (1..10).contains(&presses),
            "{presses} key presses in\n{session}"
        );
    }
}

#[test]
fn every_panel_with_its_own_key_is_in_the_table_of_the_manual() {
    for entry in crate::panels::KEYS {
        let row = format!("| `{}` | {} |", entry.shown, entry.help);
        assert!(MANUAL.contains(&row), "docs/VIEWER.md lacks the row {row}");
    }
}

#[test]
fn every_key_and_action_is_in_the_manual() {
    for (action, name) in crate::action::COMMANDS {
        let keys = crate::keymap::keys_of(*action);
        let documented = keys.iter().any(|key| MANUAL.contains(&format!("`{key}`")));
        assert!(
            documented,
            "no key of “{name}” is in docs/VIEWER.md: {keys:?}"
        );
    }
}
