//! Under the live view the program has a separate terminal; its remaining processes still outlive it.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::support::process::write_executable;
use crate::support::screen::Screen;
use crate::support::{Tables, program, tool};

/// A program that ends at once with 5 and leaves a process behind, which goes on when there is a file `go`: it
/// writes to its terminal, and then to a file.
fn leaves(folder: &Path) -> std::path::PathBuf {
    let script = folder.join("leaves.sh");
    let text = "#!/bin/sh\n\
                (until [ -e go ]; do sleep 0.02; done; echo still there; \"$1\" status 0; echo $? >alive) &\n\
                echo $! >pid\n\
                exit 5\n";
    write_executable(&script, text.as_bytes());
    script
}

fn recorded(folder: &Path, options: &[&str]) -> Command {
    let mut command = tool();
    command
        .current_dir(folder)
        .args(["record", "--tui", "--soft", "-o", "t.atrace"]);
    command
        .args(options)
        .arg("--")
        .arg(leaves(folder))
        .arg(program("ends"));
    command
}

/// Waits for a file that another process makes.
#[track_caller]
fn appears(path: &Path) -> String {
    let read = || std::fs::read_to_string(path).unwrap_or_default();
    until("the file exists", || read().ends_with('\n'));
    read()
}

#[track_caller]
fn until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..6000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it is never so that {what}");
}

#[test]
fn surviving_children_of_a_program_live_on_and_write_on() {
    let folder = tempfile::tempdir().unwrap();
    let screen = Screen::start(recorded(folder.path(), &[]), 30, 120);
    screen.until("ended");
    screen.press("q");
    let outcome = screen.finish().expect(5);
    assert!(outcome.out().contains("t.atrace"), "{outcome}");
    std::fs::write(folder.path().join("go"), "").unwrap();
    // The tool has ended, and with it the recording; the program does not notice.
    assert_eq!(appears(&folder.path().join("alive")), "0\n");
    let log = folder.path().join("t.atrace.log");
    until("the log has it all", || {
        let log = std::fs::read_to_string(&log).unwrap_or_default();
        log.contains("still there\n") && log.contains("to standard error")
    });
}

#[test]
fn surviving_children_of_a_program_are_recorded_if_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let screen = Screen::start(recorded(folder.path(), &["--wait"]), 30, 120);
    appears(&folder.path().join("pid"));
    std::fs::write(folder.path().join("go"), "").unwrap();
    appears(&folder.path().join("alive"));
    screen.until("ended");
    screen.press("q");
    screen.finish().expect(5);
    let tables = Tables::of_file(&folder.path().join("t.atrace"), &folder.path().join("csv"));
    assert_eq!(tables.tasks.len(), 2);
}

#[test]
fn a_program_under_the_view_may_leave_its_session_as_it_may_without() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("group.sh");
    write_executable(
        &script,
        b"#!/bin/sh\nps -o pid=,pgid=,sid=,tty= -p $$ >who\nexit 0\n",
    );
    let mut command = tool();
    command.current_dir(folder.path());
    command
        .args(["record", "--tui", "-o", "t.atrace", "--"])
        .arg(script);
    let screen = Screen::start(command, 30, 120);
    screen.until("ended");
    screen.press("q");
    screen.finish().expect(0);
    let who = appears(&folder.path().join("who"));
    let words: Vec<&str> = who.split_whitespace().collect();
    assert_ne!(words[0], words[1], "it does not lead its group: {who}");
    assert!(words[3].starts_with("pts"), "{who}");
}

#[test]
fn a_program_that_kills_its_parent_leaves_a_complete_trace() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("parricide.sh");
    write_executable(
        &script,
        b"#!/bin/sh\n\"$1\" status 0\nkill -9 $PPID\nexit 0\n",
    );
    let mut command = tool();
    command
        .current_dir(folder.path())
        .env("ASCEND_TRACE_MEMORY", folder.path());
    command.args(["record", "--tui", "--soft", "-o", "t.atrace", "--"]);
    command.arg(script).arg(program("ends"));
    let screen = Screen::start(command, 30, 120);
    screen.until("ended");
    screen.press("q");
    let outcome = screen.finish().expect(125);
    assert!(
        outcome.out().contains("cannot wait for the program"),
        "{outcome}"
    );
    let tables = Tables::of_file(&folder.path().join("t.atrace"), &folder.path().join("csv"));
    assert_eq!(tables.tasks.len(), 2);
    let left = std::fs::read_dir(folder.path()).unwrap().flatten();
    let left: Vec<_> = left
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    assert!(
        !left.iter().any(|name| name.starts_with("ascend-trace-")),
        "{left:?}"
    );
}
