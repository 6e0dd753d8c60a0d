//! The timeline in a real terminal: that it shows what there is, takes keys, and leaves in order.

mod configured;
mod densities;
mod monkey;
mod two;

use std::io::Read;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::support::{
    Recording, Run, Tables, example, process::finish, program, run, screen::Screen, tool,
};

/// The sequence that restores the screen from before.
const LEAVE: &str = "\u{1b}[?1049l";

/// Text of every screen, written in one piece.
const REDRAWN: &str = "program ended, status 0";

fn recording() -> Recording {
    Run::new(&example("cross_stream")).traced()
}

/// Records every demo as its user does, but without a view.
fn demos() -> &'static [(String, PathBuf)] {
    static DEMOS: OnceLock<(tempfile::TempDir, Vec<(String, PathBuf)>)> = OnceLock::new();
    let (_, demos) = DEMOS.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let list = run(tool().args(["demo", "--list"])).expect(0).out();
        let names = list.lines().skip(1);
        let names = names.filter_map(|line| line.split_whitespace().next());
        let record = |name: &str| {
            let path = folder.path().join(format!("{name}.atrace"));
            let mut command = tool();
            command.args(["demo", "--no-tui", name, "-o"]).arg(&path);
            run(&mut command).expect(0);
            (name.to_owned(), path)
        };
        let demos: Vec<_> = names.map(record).collect();
        assert!(demos.len() >= 4, "{list}");
        (folder, demos)
    });
    demos
}

fn view(recording: &Recording) -> Command {
    let mut command = tool();
    command.arg("view").arg(recording.trace());
    command
}

#[test]
fn a_file_is_shown_with_its_streams_until_q() {
    let recording = recording();
    let screen = Screen::start(view(&recording), 30, 120);
    screen.until("stream 2");
    screen.until("stream 3");
    screen.press("wd??");
    screen.resize(24, 80);
    screen.press("q");
    let outcome = screen.finish().expect(0);
    assert!(outcome.out().contains(LEAVE), "{outcome}");
}

/// Waits for something that takes a fraction of this.
#[track_caller]
fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(
            begun.elapsed() < Duration::from_secs(300),
            "it is never so that {what}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// This terminal replies to no queries: some do not know the position of their cursor.
#[test]
fn the_screen_is_drawn_again_without_a_question_to_the_terminal() {
    let recording = recording();
    let screen = Screen::start(view(&recording), 30, 120);
    screen.until("stream 3");
    for _ in 0..2 {
        let shown = screen.length();
        screen.press("\u{c}");
        screen.until_after(shown, REDRAWN);
    }
    let shown = screen.length();
    screen.press("\u{1a}");
    screen.until_after(shown, LEAVE);
    until("it is stopped", || screen.is_stopped());
    let shown = screen.length();
    screen.signal(Signal::CONT);
    screen.until_after(shown, REDRAWN);
    screen.press("q");
    let outcome = screen.finish().expect(0);
    assert!(!outcome.out().contains("\u{1b}[6n"), "{outcome}");
}

#[test]
fn no_thread_is_woken_for_a_file_that_is_complete() {
    let recording = recording();
    let screen = Screen::start(view(&recording), 30, 120);
    screen.until("stream 3");
    // It may take a while until all is read. Then it sleeps until a key or a signal comes.
    until("no thread is woken for a second", || {
        let before = screen.wakeups();
        std::thread::sleep(Duration::from_secs(1));
        screen.wakeups() == before
    });
    let shown = screen.length();
    screen.resize(20, 100);
    screen.until_after(shown, REDRAWN);
    screen.press("q");
    screen.finish().expect(0);
}

/// The terminal says that it is light; that is no key.
#[test]
fn a_light_terminal_gets_colours_for_that() {
    let recording = recording();
    let mut command = view(&recording);
    command.env("COLORTERM", "truecolor").env_remove("NO_COLOR");
    let screen = Screen::start(command, 30, 120);
    screen.until_after(0, "\u{1b}]11;?\u{1b}\\");
    screen.until("stream 3");
    let shown = screen.length();
    screen.press("\u{1b}]11;rgb:ffff/ffff/ffff\u{1b}\\");
    screen.until_after(shown, "48;2;222;226;232");
    screen.press("q");
    screen.finish().expect(0);
}

#[test]
fn a_terminal_without_a_cursor_is_refused_in_one_line() {
    let recording = recording();
    let mut command = view(&recording);
    command.env("TERM", "dumb");
    let outcome = Screen::start(command, 30, 120).finish().expect(2);
    let text = outcome.out();
    assert!(text.starts_with("ascend-trace: TERM=dumb"), "{text:?}");
    assert_eq!(text.lines().count(), 1, "{text:?}");
}

#[test]
fn the_details_go_to_the_clipboard() {
    let recording = recording();
    let screen = Screen::start(view(&recording), 30, 120);
    screen.until("stream 3");
    let shown = screen.length();
    screen.press("y");
    screen.until_after(shown, "\u{1b}]52;c;");
    screen.press("q");
    screen.finish().expect(0);
}

/// Nobody holds it, and it has no end: there will be no more.
#[test]
fn a_file_that_breaks_off_says_so() {
    let recording = recording();
    let whole = std::fs::read(recording.trace()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.atrace");
    std::fs::write(&path, &whole[..whole.len() - 100]).unwrap();
    let mut command = tool();
    command.arg("view").arg(&path);
    let screen = Screen::start(command, 30, 120);
    screen.until("the file breaks off");
    screen.until("stream 3");
    screen.press("q");
    screen.finish();
}

#[test]
fn a_terminal_that_is_too_small_is_refused_in_one_line() {
    let recording = recording();
    let outcome = Screen::start(view(&recording), 4, 20).finish().expect(2);
    let text = outcome.out();
    assert_eq!(text.lines().count(), 1, "{text:?}");
    assert!(text.starts_with("ascend-trace: "), "{text:?}");
    assert!(
        text.contains("20×4") || text.contains("20x4"),
        "names the size: {text:?}"
    );
}

#[test]
fn without_a_terminal_it_says_what_to_use_instead() {
    let recording = recording();
    let outcome = run(&mut view(&recording)).expect(2);
    assert_eq!(outcome.out(), "");
    let said = outcome.said();
    assert_eq!(said.len(), 1, "{outcome}");
    assert!(said[0].contains("terminal"), "{outcome}");
}

#[test]
fn it_ends_when_its_terminal_is_closed() {
    let recording = recording();
    let (mut pty, pts) = pty_process::blocking::open().unwrap();
    pty.resize(pty_process::Size::new(24, 80)).unwrap();
    let command = pty_process::blocking::Command::from(view(&recording));
    let child = command.env("TERM", "xterm").spawn(pts).unwrap();
    let (mut shown, mut buffer) = (Vec::new(), [0; 1024]);
    while !String::from_utf8_lossy(&shown).contains("stream") {
        let length = pty.read(&mut buffer).unwrap();
        shown.extend_from_slice(&buffer[..length]);
    }
    drop(pty);
    let outcome = finish(child).unwrap_or_else(|stuck| panic!("it stays: {stuck}"));
    assert_ne!(outcome.status, 0, "{outcome}");
}

#[test]
fn a_program_is_shown_live_and_its_status_passed_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = tool();
    command
        .args(["record", "--tui", "--soft", "-o"])
        .arg(folder.path().join("t.atrace"));
    command.arg("--").arg(program("ends")).args(["status", "7"]);
    let screen = Screen::start(command, 30, 120);
    screen.until("stream 2");
    screen.until("7");
    screen.press("q");
    let outcome = screen.finish().expect(7);
    let text = outcome.out();
    let (_, after) = text.rsplit_once(LEAVE).expect("it leaves the live view");
    assert!(
        after.contains("ascend-trace: "),
        "the summary comes at the end: {after:?}"
    );
    let log = std::fs::read_to_string(folder.path().join("t.atrace.log")).unwrap();
    assert!(
        log.contains("to standard output") && log.contains("to standard error"),
        "{log}"
    );
    let tables = Tables::of_file(&folder.path().join("t.atrace"), &folder.path().join("csv"));
    assert_eq!(tables.tasks.len(), 2);
}

#[test]
fn colours_are_those_that_were_asked_for() {
    let recording = recording();
    let shown = |words: &[&str], no_color: &str| {
        let mut command = view(&recording);
        command.args(words).env("NO_COLOR", no_color);
        let screen = Screen::start(command, 30, 120);
        screen.until("program ended");
        screen.press("q");
        screen.finish().expect(0).out()
    };
    // Any of the ways to set the colour of letters.
    let has_colours = |shown: &str| shown.contains("\u{1b}[38;") || shown.contains(";38;");
    assert!(has_colours(&shown(&[], "")));
    assert!(!has_colours(&shown(&["--color", "never"], "")));
    assert!(!has_colours(&shown(&[], "1")));
    assert!(has_colours(&shown(&["--color", "always"], "1")));
}
