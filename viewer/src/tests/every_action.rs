//! Every action of the key map by its keys, and the screen after it, small and large.
//!
//! All scripts begin on the same two screens, which are stored whole; of the screen after a script, the
//! changed lines are stored. `INSTA_UPDATE=always cargo test -p ascend-trace-viewer every_action`
//! writes them again.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use ratatui::buffer::Buffer;

use crate::action::{Action, COMMANDS};
use crate::keymap::{self, KEYS};

use super::harness::{LARGE, OutputLines, Player, SMALL, line};
use super::scene::{running_scene, scene};

/// An action, the keys before it, and the keys that start it and fill in its prompt.
struct ActionCase(Action, &'static str, &'static str);

/// On a recording that has ended.
const ENDED: &[ActionCase] = &[
    ActionCase(Action::NextStall, "", "n"),
    ActionCase(Action::PreviousStall, "", "N"),
    ActionCase(Action::ListStalls, "", "i"),
    ActionCase(Action::ListBlames, "", "I"),
    ActionCase(Action::ListFindings, "", "P"),
    ActionCase(Action::CriticalPath, "", "R"),
    ActionCase(Action::NextStep, "", "}"),
    ActionCase(Action::PreviousStep, "", "{"),
    ActionCase(Action::ListChanges, "", "G"),
    ActionCase(Action::OtherRecording, "", "O"),
    ActionCase(Action::AlignSelections, "", "@"),
    ActionCase(Action::LeastStall, "", "T 5 0 0 u s enter"),
    ActionCase(Action::ListStatistics, "", "t"),
    ActionCase(Action::Flame, "", "H"),
    ActionCase(Action::Search, "", "/ layer enter"),
    ActionCase(Action::NextMatch, "/ matmul enter", ">"),
    ActionCase(Action::PreviousMatch, "/ matmul enter", "<"),
    ActionCase(Action::NextFailure, "", "!"),
    ActionCase(Action::Copy, "n", "y"),
    ActionCase(Action::SavePicture, "", "Y enter"),
    ActionCase(Action::ToCause, "", "["),
    ActionCase(Action::ToEffect, "", "]"),
    ActionCase(Action::Alternative, "[", "tab"),
    ActionCase(Action::Back, "n", "u"),
    ActionCase(Action::Forward, "n u", "U"),
    ActionCase(Action::NextItem, "", "right"),
    ActionCase(Action::PreviousItem, "", "left"),
    ActionCase(Action::LaneDown, "", "down"),
    ActionCase(Action::LaneUp, "", "up"),
    ActionCase(Action::PageDown, "", "pgdn"),
    ActionCase(Action::PageUp, "pgdn pgdn", "pgup"),
    ActionCase(Action::Escape, "", "esc"),
    ActionCase(Action::ZoomIn, "", "w"),
    ActionCase(Action::ZoomOut, "W", "s"),
    ActionCase(Action::ZoomInFast, "", "W"),
    ActionCase(Action::ZoomOutFast, "W W", "S"),
    ActionCase(Action::PanLeft, "W", "a"),
    ActionCase(Action::PanRight, "W", "d"),
    ActionCase(Action::PanScreenLeft, "W", "A"),
    ActionCase(Action::PanScreenRight, "W", "D"),
    ActionCase(Action::FitAll, "W", "0"),
    ActionCase(Action::FitSelection, "", "F"),
    ActionCase(Action::FitMarks, "", "Z"),
    ActionCase(Action::Begin, "W", "home"),
    ActionCase(Action::End, "W", "end"),
    ActionCase(Action::GoTo, "W", "g 5 0 % enter"),
    ActionCase(Action::Mark, "n", "m"),
    ActionCase(Action::ClearMarks, "", "M"),
    ActionCase(Action::Bookmark, "", "b x enter"),
    ActionCase(Action::ListBookmarks, "b enter", "B"),
    ActionCase(Action::ExportRange, "W", "e"),
    ActionCase(Action::ExportAll, "", "E"),
    ActionCase(Action::Fold, "", "c"),
    ActionCase(Action::UnfoldAll, "c", "C"),
    ActionCase(Action::Pin, "", "v"),
    ActionCase(Action::Hide, "", "x"),
    ActionCase(Action::ShowAll, "x", "X"),
    ActionCase(Action::FilterLanes, "", "\\ thread enter"),
    ActionCase(Action::SaveLayout, "x", "V n e w enter"),
    ActionCase(Action::ToggleLog, "", "o"),
    ActionCase(Action::LogUp, "o", "K"),
    ActionCase(Action::LogDown, "o K K", "J"),
    ActionCase(Action::ToggleDetail, "", "enter"),
    ActionCase(Action::ToggleArrows, "esc", "r"),
    ActionCase(Action::Palette, "", ": p i n"),
    ActionCase(Action::Help, "", "?"),
    ActionCase(Action::Redraw, "", "ctrl-l"),
    ActionCase(Action::Suspend, "", "ctrl-z"),
    ActionCase(Action::Quit, "", "q"),
];

/// On one that is still growing.
const LIVE: &[ActionCase] = &[
    ActionCase(Action::Follow, "", "f"),
    ActionCase(Action::Pause, "", "p"),
    ActionCase(Action::PauseRecording, "", "ctrl-p"),
    ActionCase(Action::TakeSnapshot, "", "ctrl-s"),
    ActionCase(Action::MarkRecording, "", "ctrl-k slow enter"),
];

/// The panels that state their own keys.
fn panel_cases() -> Vec<ActionCase> {
    let keys = crate::panels::KEYS.iter().flat_map(|entry| entry.keys);
    keys.map(|(key, action)| ActionCase(*action, "", key))
        .collect()
}

/// Where the scripts begin: with two marks and a task selected that waited for two others. The last key
/// means nothing, it puts the message away.
const BEGIN: &str = "/ gelu enter m / add enter m / softmax enter delete";

fn player(live: bool, size: (u16, u16)) -> Player {
    let trace = if live { running_scene() } else { scene() };
    let mut player = Player::of(trace, size);
    let lines = (1..=40).map(|n| format!("step {n}: loss 0.{n}"));
    player.log = Some(OutputLines(lines.collect()));
    if live {
        player.play("0");
    }
    player.play(BEGIN);
    player
}

/// The lines of a screen that differ from those of another one, and the requests to the source.
fn changes(player: &Player, before: &Buffer) -> String {
    let after = player.draw();
    let mut text = String::new();
    for effect in &player.effects {
        let _ = writeln!(text, "asks the world to: {effect:?}");
    }
    for y in 0..after.area.height {
        let now = line(&after, y);
        let colours = || {
            let mut cells = (0..after.area.width).map(|x| (x, y));
            cells.any(|at| before.cell(at) != after.cell(at))
        };
        if now != line(before, y) {
            let _ = writeln!(text, "{y:2} │{now}");
        } else if colours() {
            let _ = writeln!(text, "{y:2} ┊ other colours");
        }
    }
    if text.is_empty() {
        text.push_str("as at the begin");
    }
    text
}

/// The screens of one size, each under the name of its action and the keys that were pressed.
fn keep((width, height): (u16, u16), screens: &str) {
    insta::with_settings!({
        omit_expression => true,
        prepend_module_to_snapshot => false,
    }, {
        insta::assert_snapshot!(format!("actions_{width}x{height}"), screens);
    });
}

fn section(name: &str, script: &str, text: &str) -> String {
    format!("== {name}: {script}\n{}\n\n", text.trim_end())
}

/// The name of an action as the palette has it.
fn name_of(action: Action) -> &'static str {
    let name = COMMANDS.iter().find(|(it, _)| *it == action);
    name.map_or("", |(_, name)| *name)
}

/// Plays all cases; returns the actions without any visible effect.
fn play_all(size: (u16, u16)) -> BTreeSet<&'static str> {
    let (mut unseen, mut screens) = (BTreeSet::new(), String::new());
    for (live, cases) in [(false, ENDED), (true, LIVE)] {
        let begin = player(live, size);
        let begin_name = if live { "begin, growing" } else { "begin" };
        screens += &section(begin_name, BEGIN, &begin.picture());
        let panels = if live { Vec::new() } else { panel_cases() };
        for ActionCase(action, before, keys) in cases.iter().chain(&panels) {
            let mut player = player(live, size);
            player.play(before);
            let (screen, effects) = (player.draw(), player.effects.len());
            player.play(keys);
            if player.draw() == screen && player.effects.len() == effects {
                unseen.insert(name_of(*action));
            }
            let script = [*before, *keys].join(" ");
            let text = changes(&player, &begin.draw());
            screens += &section(name_of(*action), script.trim(), &text);
        }
    }
    keep(size, &screens);
    unseen
}

#[test]
fn every_action_shows_its_effect_on_a_small_screen() {
    assert_eq!(play_all(SMALL), BTreeSet::new());
}

#[test]
fn every_action_shows_its_effect_on_a_large_screen() {
    // All lanes have room here: there is nothing to scroll to.
    let unseen = ["scroll the lanes down", "scroll the lanes up"];
    assert_eq!(play_all(LARGE), BTreeSet::from(unseen));
}

/// A new action or key needs a case here.
#[test]
fn every_action_of_the_key_map_has_a_case_and_every_case_a_key_of_its_action() {
    let panels = panel_cases();
    let cases: Vec<&ActionCase> = ENDED.iter().chain(LIVE).chain(&panels).collect();
    let entries = KEYS.iter().flat_map(|group| group.entries);
    for (key, action) in entries.flat_map(|entry| entry.keys) {
        let known = cases.iter().filter(|case| case.0 == *action).count();
        assert_eq!(known, 1, "cases of {action:?}, which {key} asks for");
    }
    for ActionCase(action, _, keys) in cases {
        let key = keys.split(' ').next().unwrap_or_default();
        let its = keymap::keys_of(*action);
        assert!(its.contains(&key), "{key} does not ask for {action:?}");
    }
}
