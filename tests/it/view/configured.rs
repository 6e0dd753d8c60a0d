//! The configuration file of the view, and the mouse, in a real terminal.

use std::path::Path;
use std::process::Command;

use super::{LEAVE, recording, view};
use crate::support::{Recording, process::Outcome, screen::Screen};

/// A folder for configuration with this text in the file.
fn folder(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("ascend-trace")).unwrap();
    std::fs::write(folder.path().join("ascend-trace/config.toml"), text).unwrap();
    folder
}

fn configured(recording: &Recording, folder: &Path) -> Command {
    let mut command = view(recording);
    command.env("XDG_CONFIG_HOME", folder);
    command
}

#[track_caller]
fn shown(command: Command, texts: &[&str], keys: &str) -> Outcome {
    let screen = Screen::start(command, 30, 120);
    screen.until("stream 3");
    texts.iter().for_each(|text| screen.until(text));
    screen.press(keys);
    screen.finish().expect(0)
}

#[test]
fn the_file_says_which_keys_there_are_and_how_it_looks() {
    let recording = recording();
    let folder = folder("ascii = true\ncolor = \"never\"\n[keys]\nz = \"quit\"\nq = \"none\"\n");
    let outcome = shown(configured(&recording, folder.path()), &[], "qz");
    let text = outcome.out();
    assert!(
        !text.contains('│') && !text.contains("\u{1b}[38;"),
        "{text:?}"
    );
}

#[test]
fn a_mistake_is_reported_on_screen_and_afterwards_and_the_view_goes_on() {
    let recording = recording();
    let folder = folder("ascii = true\n[keys]\nz = \"qit\"\n");
    let wanted = "config.toml:3: there is no action “qit”, perhaps “quit”";
    let outcome = shown(
        configured(&recording, folder.path()),
        &["config.toml:3: there is no action"],
        "q",
    );
    let text = outcome.out();
    assert!(text.contains('│'), "nothing of it is used: {text:?}");
    // Standard error is this terminal as well.
    let said = text.lines().find(|line| line.starts_with("ascend-trace: "));
    assert!(said.is_some_and(|said| said.contains(wanted)), "{text:?}");
    assert!(text.contains(LEAVE));
}

#[test]
fn another_file_can_be_named_or_none() {
    let recording = recording();
    let folder = folder("them = 1\n");
    let other = folder.path().join("other.toml");
    std::fs::write(&other, "[keys]\nz = \"quit\"\n").unwrap();
    let mut command = configured(&recording, folder.path());
    command.arg("--config").arg(&other);
    let text = shown(command, &[], "z").out();
    assert!(!text.contains("config.toml"), "{text:?}");
    let mut command = configured(&recording, folder.path());
    command.arg("--no-config");
    let text = shown(command, &[], "q").out();
    assert!(!text.contains("config.toml"), "{text:?}");
    let mut command = configured(&recording, folder.path());
    command
        .arg("--config")
        .arg(folder.path().join("missing.toml"));
    shown(command, &["missing.toml: No such file"], "q");
}

#[test]
fn a_layout_is_kept_in_a_file_that_is_made_for_it_and_begun_with() {
    let recording = recording();
    let folder = tempfile::tempdir().unwrap();
    let screen = Screen::start(configured(&recording, folder.path()), 30, 120);
    screen.until("stream 3");
    screen.press("\\stream\rVmine\r");
    screen.until("kept in ");
    screen.press("q");
    screen.finish().expect(0);
    let path = folder.path().join("ascend-trace/config.toml");
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(
        kept.contains("[layouts.\"mine\"]") && kept.contains("filter = \"stream\""),
        "{kept}"
    );
    std::fs::write(&path, format!("layout = \"mine\"\n{kept}")).unwrap();
    let text = shown(configured(&recording, folder.path()), &[], "q").out();
    // A gap may blame a thread; no lane is one.
    let lanes = text.replace("← thread ", "");
    assert!(!lanes.contains("thread "), "{text:?}");
}

/// As a terminal reports it: button, column and row, and whether it went down.
fn mouse(button: u16, column: u16, row: u16, end: char) -> String {
    format!("\u{1b}[<{button};{column};{row}{end}")
}

#[test]
fn the_mouse_points_drags_and_double_clicks() {
    let recording = recording();
    let screen = Screen::start(view(&recording), 30, 120);
    screen.until("stream 3");
    // The ruler is the third line, the labels take 28 columns.
    let shown = screen.length();
    screen.press(&mouse(35, 60, 3, 'M'));
    screen.until_after(shown, "s ");
    let length = screen.length();
    for (button, column, end) in [(0, 60, 'M'), (32, 61, 'M'), (32, 80, 'M')] {
        screen.press(&mouse(button, column, 3, end));
    }
    screen.until_after(length, "release to zoom to it");
    screen.press(&mouse(0, 80, 3, 'm'));
    screen.press("q");
    screen.finish().expect(0);
}
