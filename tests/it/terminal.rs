//! The timeline in a terminal that is looked at: keys, mouse, sizes, suspending, leaving. Skipped with
//! a message where there is no tmux.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::tmux::{PROMPT, Tmux};
use crate::support::{Run, example};

/// A shell in a terminal, and a trace in its folder.
fn with_trace(columns: u16, rows: u16) -> Option<Tmux> {
    let tmux = Tmux::start(columns, rows)?;
    let recording = Run::new(&example("cross_stream")).traced();
    recording.outcome.clone().expect(0);
    std::fs::copy(recording.trace(), tmux.folder().join("t.atrace")).unwrap();
    Some(tmux)
}

/// The line of the screen that has a text, and its number.
#[track_caller]
fn line_of(screen: &str, text: &str) -> usize {
    let found = screen.lines().position(|line| line.contains(text));
    found.unwrap_or_else(|| panic!("no {text} in\n{screen}"))
}

/// The shell has the terminal as it was: typed text is shown, and a new line begins at the left.
#[track_caller]
fn is_given_back(tmux: &Tmux) {
    tmux.shell("echo as' 'before; echo again");
    let screen = tmux.until("\nas before\nagain\n");
    assert!(screen.contains("echo as' 'before"), "{screen}");
}

#[test]
fn a_file_is_looked_at_by_keys_and_mouse_at_any_size_and_left_in_order() {
    let Some(tmux) = with_trace(80, 24) else {
        return;
    };
    tmux.shell("\"$TOOL\" view t.atrace");
    // With a space after it: `cross_stream` exists with its pid.
    tmux.click_on("stream 3 ", "▶ stream 3 ");
    tmux.press(&["i"]);
    tmux.until("longest stalls  1/");
    tmux.press(&["Enter", "["]);
    tmux.until(" ← ");
    // The wheel zooms in at the pointer.
    let before = tmux.press_and_read_length(&["0"]);
    tmux.mouse(64, 50, 6);
    tmux.wait_for("a shorter range", |screen| length(screen) != before);
    tmux.resize(200, 50);
    let screen = tmux.until("streams 3");
    assert!(
        screen.lines().any(|line| line.chars().count() > 190),
        "{screen}"
    );
    tmux.resize(40, 10);
    tmux.wait_for("a small screen", |screen| {
        screen.contains("lost 0") && screen.lines().all(|line| line.chars().count() <= 40)
    });
    tmux.resize(30, 8);
    tmux.until("too small");
    tmux.resize(80, 24);
    tmux.until("stream 3 ");
    tmux.press(&["C-z"]);
    tmux.until("Stopped");
    tmux.shell("echo in' 'between");
    tmux.until("\nin between\n");
    tmux.shell("fg");
    tmux.until("stream 3 ");
    tmux.press(&["q"]);
    tmux.wait_for("the shell", |screen| screen.trim_end().ends_with(PROMPT));
    is_given_back(&tmux);
}

impl Tmux {
    /// Clicks on the line that has a text until a sign shows that it was taken. The first picture may
    /// move when the whole trace is known, and the click then hits something else.
    #[track_caller]
    fn click_on(&self, text: &str, sign: &str) {
        for _ in 0..6 {
            let whole = |screen: &str| screen.contains("lost 0") && screen.contains(text);
            let screen = self.wait_for("a whole screen", whole);
            self.mouse(0, 5, line_of(&screen, text));
            if self.comes(sign, Duration::from_secs(10)) {
                return;
            }
        }
        panic!("no {sign} after several clicks:\n{}", self.screen());
    }

    /// Presses keys and returns the duration of the visible range, from the last line.
    fn press_and_read_length(&self, keys: &[&str]) -> String {
        self.press(keys);
        length(&self.until("lost 0"))
    }
}

fn length(screen: &str) -> String {
    let last = screen.lines().rev().find(|line| line.contains("lost"));
    let words = last.unwrap_or_default().split_whitespace().take(2);
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_program_is_watched_live_until_it_has_ended() {
    let Some(tmux) = Tmux::start(80, 24) else {
        return;
    };
    tmux.shell("\"$TOOL\" demo stall; echo status=$?");
    tmux.until("● live, following");
    tmux.press(&["p"]);
    tmux.until("view paused, still recording");
    tmux.press(&["p"]);
    tmux.until("■ program ended, status 0");
    tmux.press(&["o"]);
    tmux.until("20 rounds, correct");
    tmux.press(&["t"]);
    tmux.until("operations  1/");
    tmux.press(&["i"]);
    tmux.until("longest stalls  1/");
    tmux.press(&["q", "b", "Enter"]);
    tmux.until("bookmarked");
    tmux.press(&["q"]);
    tmux.until("\nstatus=0\n");
    is_given_back(&tmux);
    let files = std::fs::read_dir(tmux.folder()).unwrap();
    let names: Vec<_> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    for ending in [".atrace", ".atrace.log", ".atrace.marks"] {
        let is_there = names.iter().any(|name| name.ends_with(ending));
        assert!(is_there, "no {ending} in {names:?}");
    }
}

#[test]
fn the_program_runs_on_and_is_recorded_when_the_view_is_left() {
    let Some(tmux) = Tmux::start(80, 24) else {
        return;
    };
    tmux.shell("\"$TOOL\" demo overlap; echo status=$?");
    tmux.until("● live, following");
    tmux.press(&["q"]);
    tmux.until("the program runs on and is recorded");
    let screen = tmux.until("\nstatus=0\n");
    assert!(screen.contains("look at it with"), "{screen}");
    is_given_back(&tmux);
}

/// Sends a signal to the tool, by the number in a file.
#[track_caller]
fn signal(tmux: &Tmux, signal: Signal) {
    let pid = std::fs::read_to_string(tmux.folder().join("pid")).unwrap();
    let pid = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

#[test]
fn a_signal_that_ends_the_view_gives_the_terminal_back() {
    let Some(tmux) = with_trace(80, 24) else {
        return;
    };
    tmux.shell("sh -c 'echo $$ >pid; exec \"$TOOL\" view t.atrace'; echo status=$?");
    tmux.until("stream 3 ");
    signal(&tmux, Signal::TERM);
    tmux.until("\nstatus=143\n");
    is_given_back(&tmux);
}

#[test]
fn the_visible_range_and_everything_are_exported_from_the_view() {
    let Some(tmux) = with_trace(80, 24) else {
        return;
    };
    tmux.shell("\"$TOOL\" view t.atrace; echo status=$?");
    tmux.until("lost 0");
    tmux.press(&["W", "e"]);
    tmux.until("export what is on screen to: t.json");
    tmux.press(&["Enter"]);
    tmux.until("wrote t.json,");
    // A file that exists is not replaced, and nothing is lost of it.
    let part = std::fs::read(tmux.folder().join("t.json")).unwrap();
    tmux.press(&["E"]);
    tmux.until("export everything to: t.json");
    tmux.press(&["Enter"]);
    tmux.until("exists");
    tmux.press(&["E"]);
    tmux.until("export everything to: t.json");
    for _ in "json".chars() {
        tmux.press(&["BSpace"]);
    }
    tmux.type_text("pftrace.gz");
    tmux.until("t.pftrace.gz");
    tmux.press(&["Enter"]);
    tmux.until("wrote t.pftrace.gz,");
    tmux.press(&["q"]);
    tmux.until("\nstatus=0\n");
    is_given_back(&tmux);
    assert_eq!(part, std::fs::read(tmux.folder().join("t.json")).unwrap());
    let text = String::from_utf8(part).unwrap();
    assert!(text.trim_start().starts_with(['{', '[']), "{text:.80}");
    let packed = std::fs::read(tmux.folder().join("t.pftrace.gz")).unwrap();
    assert_eq!(packed[..2], [0x1f, 0x8b]);
}
