//! Two recordings in one real terminal.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{LEAVE, demos};
use crate::support::{run, screen::Screen, tool};

fn demo(name: &str) -> &'static Path {
    let found = demos().iter().find(|it| it.0 == name);
    found.map(|it| it.1.as_path()).expect("a demo")
}

/// The demo with marked steps, with slower kernels.
fn slow(folder: &Path) -> PathBuf {
    let path = folder.join("slow.atrace");
    let mut command = tool();
    command.env("SOFTACL", "launch_ns=600000");
    command.args(["demo", "--no-tui", "transformer", "-o"]);
    run(command.arg(&path)).expect(0);
    path
}

fn two(a: &Path, b: &Path) -> Command {
    let mut command = tool();
    command.arg("view").args([a, b]);
    command
}

#[test]
fn two_files_are_aligned_at_a_step_and_their_changes_listed() {
    let folder = tempfile::tempdir().unwrap();
    let slow = slow(folder.path());
    let screen = Screen::start(two(demo("transformer"), &slow), 50, 160);
    screen.until("aligned at step 1 of");
    screen.until("have been compared: G lists");
    screen.press("}");
    screen.until("aligned at step 2 of");
    screen.press("}");
    screen.until("aligned at step 3 of");
    screen.press("{G");
    screen.until("changes");
    screen.until("longer");
    // The first row is the step.
    screen.press("\x1b[B\r");
    screen.until("in step 2 of both");
    screen.press("O");
    screen.until("▶ B");
    screen.resize(20, 160);
    screen.until("too small for two recordings");
    screen.resize(24, 100);
    screen.until("aligned at step 2 of");
    screen.press("q");
    let outcome = screen.finish().expect(0);
    assert!(outcome.out().contains(LEAVE), "{outcome}");
}

#[test]
fn a_pattern_chooses_the_steps() {
    let path = demo("transformer");
    let mut command = two(path, path);
    command.args(["--by", "step ?"]);
    let screen = Screen::start(command, 50, 160);
    screen.until("aligned at step 1 of 10");
    screen.press("q");
    screen.finish().expect(0);
    let mut command = two(path, path);
    command.args(["--by", "epoch *"]);
    let screen = Screen::start(command, 50, 160);
    screen.until("no range or mark matches epoch *");
    screen.until("aligned at the first task");
    screen.press("q");
    screen.finish().expect(0);
}

#[test]
fn what_cannot_be_shown_as_two_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = demo("overlap");
    let refused = |command: &mut Command, words: &str| {
        let outcome = run(command).expect(2);
        assert_eq!(outcome.out(), "", "{outcome}");
        let said = outcome.said();
        assert_eq!(said.len(), 1, "{outcome}");
        assert!(said[0].contains(words), "{outcome}");
    };
    let missing = folder.path().join("missing.atrace");
    refused(&mut two(path, &missing), "cannot open");
    // A recorder holds its file.
    let held = folder.path().join("held.atrace");
    std::fs::copy(path, &held).unwrap();
    let recorder = File::options().write(true).open(&held).unwrap();
    recorder.lock().unwrap();
    refused(&mut two(path, &held), "held.atrace is still being recorded");
    refused(&mut two(&held, path), "held.atrace is still being recorded");
    drop(recorder);
    refused(&mut two(path, &held), "terminal");
    let outcome = Screen::start(two(path, &held), 20, 80).finish().expect(2);
    let text = outcome.out();
    assert_eq!(text.lines().count(), 1, "{text:?}");
    assert!(
        text.contains("too small for two recordings: 80x20"),
        "{text:?}"
    );
    let mut command = tool();
    command.arg("view").args([path, path, path]);
    run(&mut command).expect(2);
}
