//! Signals that the command gets in the place of the program reach the program, once.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::support::compile::program_with;
use crate::support::process::{clean, finish};
use crate::support::screen::Screen;
use crate::support::{Run, program, tool};

const PATIENCE: Duration = Duration::from_secs(120);

/// All signals of `signalled` but the one that ends it, by the names that `kill` of the shell has.
const ALL: [(&str, i32); 15] = [
    ("HUP", 1),
    ("INT", 2),
    ("QUIT", 3),
    ("ABRT", 6),
    ("USR1", 10),
    ("USR2", 12),
    ("PIPE", 13),
    ("ALRM", 14),
    ("CONT", 18),
    ("URG", 23),
    ("XCPU", 24),
    ("PROF", 27),
    ("IO", 29),
    ("PWR", 30),
    ("37", 37),
];

/// The command with default actions for all signals but these, which it ignores: the tests themselves may run in the
/// background of a script, and then ignore SIGINT and SIGQUIT.
fn ignoring(signals: &str, recorder: &Command, folder: &Path) -> Command {
    let mut command = clean(program_with("dispositions", &[]));
    command.arg(signals).current_dir(folder);
    command
        .arg(recorder.get_program())
        .args(recorder.get_args().filter(|it| !it.is_empty()));
    for (name, value) in recorder.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command
}

fn started(mut command: Command, folder: &Path) -> Child {
    let file = |name: &str| File::create(folder.join(name)).unwrap();
    command.stdin(Stdio::null()).stdout(file("out"));
    let child = command.stderr(file("err")).spawn().unwrap();
    has(folder, "out", "ready\n");
    child
}

/// Waits until a file of the program's output ends like this, and returns it.
#[track_caller]
fn has(folder: &Path, name: &str, end: &str) -> String {
    let begun = Instant::now();
    loop {
        let text = fs::read_to_string(folder.join(name)).unwrap_or_default();
        let text = text.replace('\r', "");
        if text.ends_with(end) {
            return text;
        }
        assert!(begun.elapsed() < PATIENCE, "no {end} at the end of {text}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[track_caller]
fn send(name: &str, to: Pid) {
    let to = to.as_raw_nonzero().to_string();
    let mut kill = Command::new("sh");
    let sent = kill.args(["-c", "kill -$0 $1", name, &to]).status();
    assert!(sent.unwrap().success(), "{name}");
}

/// Sends every signal to the command, and waits for each in the program's output.
#[track_caller]
fn all_arrive(recorder: Pid, folder: &Path, output: &str) {
    for (name, number) in ALL {
        send(name, recorder);
        has(folder, output, &format!("got {number}\n"));
    }
    let text = fs::read_to_string(folder.join(output)).unwrap();
    assert_eq!(text.matches("got ").count(), ALL.len(), "{text}");
    send("TERM", recorder);
}

fn recorder(folder: &Path) -> Command {
    Run::new(&program("signalled")).command(folder)
}

/// The command that records `signalled`, with no signal ignored.
fn by_default(folder: &Path) -> Command {
    ignoring("", &recorder(folder), folder)
}

#[test]
fn every_signal_to_the_command_reaches_the_program_once() {
    let folder = tempfile::tempdir().unwrap();
    let child = started(by_default(folder.path()), folder.path());
    all_arrive(Pid::from_child(&child), folder.path(), "out");
    finish(child).unwrap().expect(7);
    assert!(!has(folder.path(), "out", "got 15\n").contains("ignored 2\n"));
}

#[test]
fn signals_that_are_ignored_at_the_start_reach_a_program_with_handlers() {
    let folder = tempfile::tempdir().unwrap();
    let recorder = recorder(folder.path());
    let command = ignoring("1,2,3,10,13,14", &recorder, folder.path());
    let child = started(command, folder.path());
    let text = has(folder.path(), "out", "ready\n");
    for number in [1, 2, 3, 10, 13, 14] {
        assert!(text.contains(&format!("ignored {number}\n")), "{text}");
    }
    all_arrive(Pid::from_child(&child), folder.path(), "out");
    finish(child).unwrap().expect(7);
}

/// The program is started as by a launcher, and keeps the signals that it ignores.
#[test]
fn a_program_that_ignores_signals_goes_on_and_a_launcher_passes_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::new(Path::new("/bin/sh"));
    let path = program("signalled");
    let words = ["-c", "exec \"$0\" 1 2 3", path.to_str().unwrap()];
    let recorder = run.words(&words).command(folder.path());
    let command = ignoring("1,2,3", &recorder, folder.path());
    let child = started(command, folder.path());
    let pid = Pid::from_child(&child);
    for name in ["HUP", "INT", "QUIT", "USR1"] {
        send(name, pid);
    }
    has(folder.path(), "out", "ready\ngot 10\n");
    send("TERM", pid);
    finish(child).unwrap().expect(7);
}

#[test]
fn a_value_comes_with_its_signal() {
    let folder = tempfile::tempdir().unwrap();
    let child = started(by_default(folder.path()), folder.path());
    let pid = child.id().to_string();
    let mut kill = Command::new("/bin/kill");
    let sent = kill.args(["-q", "4711", "-USR1", &pid]).status();
    if sent.is_ok_and(|it| it.success()) {
        has(folder.path(), "out", "got 10 with 4711\n");
    }
    send("TERM", Pid::from_child(&child));
    finish(child).unwrap().expect(7);
}

/// An alarm goes on when a process becomes another program.
#[test]
fn an_alarm_that_was_set_before_reaches_the_program() {
    let has_perl = Command::new("perl").args(["-e", "1"]).status();
    if !has_perl.is_ok_and(|it| it.success()) {
        crate::support::process::has("perl");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let recorder = recorder(folder.path());
    let mut perl = clean("perl");
    perl.args(["-e", "alarm 8; exec @ARGV"])
        .arg(recorder.get_program());
    perl.args(recorder.get_args()).current_dir(folder.path());
    for (name, value) in recorder.get_envs() {
        if let Some(value) = value {
            perl.env(name, value);
        }
    }
    let child = started(perl, folder.path());
    has(folder.path(), "out", "got 14\n");
    send("TERM", Pid::from_child(&child));
    finish(child).unwrap().expect(7);
}

#[test]
fn a_key_of_the_terminal_arrives_once_and_a_signal_to_the_command_too() {
    let folder = tempfile::tempdir().unwrap();
    let screen = Screen::start(by_default(folder.path()), 24, 100);
    screen.until("ready");
    let mut count = 0;
    for _ in 0..2 {
        let length = screen.length();
        screen.press("\u{3}");
        screen.until_after(length, "got 2\r\n");
        taken(screen.pid());
        let length = screen.length();
        // The terminal is the command's, and another process sends this.
        screen.signal(Signal::INT);
        screen.until_after(length, "got 2\r\n");
        count += 2;
    }
    screen.signal(Signal::TERM);
    let outcome = screen.finish().expect(7);
    assert_eq!(
        outcome.out().matches("got 2\r\n").count(),
        count,
        "{outcome}"
    );
}

#[test]
fn under_the_live_view_every_signal_reaches_the_program_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = tool();
    recorder
        .args(["record", "--tui", "--soft", "-o", "t.atrace", "--"])
        .arg(program("signalled"));
    let command = ignoring("1,2,3", &recorder, folder.path());
    let screen = Screen::start(command, 24, 100);
    screen.until("live, following");
    let text = has(folder.path(), "t.atrace.log", "ready\n");
    assert!(text.contains("ignored 2\n"), "{text}");
    all_arrive(screen.pid(), folder.path(), "t.atrace.log");
    screen.finish().expect(7);
}

/// Waits until no signal is pending for the command: the kernel drops one that comes while the same one is.
#[track_caller]
fn taken(pid: Pid) {
    let begun = Instant::now();
    let path = format!("/proc/{}/status", pid.as_raw_nonzero());
    loop {
        let status = fs::read_to_string(&path).unwrap();
        if status.contains("\nShdPnd:\t0000000000000000\n") {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "{status}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A program without a handler is only asked about.
#[test]
fn a_group_that_gets_quit_and_a_program_without_a_handler() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::new(&program("signalled")).words(&["3"]);
    let mut command = ignoring("", &run.command(folder.path()), folder.path());
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let child = started(command, folder.path());
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::QUIT).unwrap();
    has_said(folder.path(), "Threads\n");
    send("USR1", pid);
    has(folder.path(), "out", "ready\ngot 10\n");
    kill_process_group(pid, Signal::QUIT).unwrap();
    finish(child).unwrap().expect(131);
}

#[track_caller]
fn has_said(folder: &Path, text: &str) {
    let begun = Instant::now();
    loop {
        let said = fs::read_to_string(folder.join("err")).unwrap_or_default();
        if said.contains(text) {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "no {text} in {said}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
