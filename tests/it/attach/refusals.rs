//! Programs that cannot be attached to, and recordings that cannot be ended so.

use super::*;

/// A refusal of the command, with this status and text.
#[track_caller]
fn refused(words: &[&str], status: i32, text: &str) {
    let outcome = run(tool().args(words)).expect(status);
    assert!(outcome.err().contains(text), "{outcome}");
}

#[test]
fn a_process_that_is_not_armed_is_refused_with_what_to_do() {
    let own = std::process::id().to_string();
    refused(
        &["attach", &own],
        125,
        "is not armed: start it with `ascend-trace arm APP`, or use `ascend-trace attach --inject",
    );
    refused(&["attach", "4194305"], 125, "there is no process 4194305");
    refused(
        &["attach", "--timing", "both", &own],
        125,
        "from the begin of a program on",
    );
    refused(&["attach", "x"], 125, "invalid value");
    refused(&["detach", &own], 2, "is not recorded");
    refused(&["arm"], 125, "required arguments were not provided");
    refused(&["arm", "./nothing-here"], 127, "no such file");
}

/// The process has not joined the recording, so only its page shows the recorder.
#[test]
fn a_recorder_that_waits_for_the_first_call_can_be_detached() {
    let folder = tempfile::tempdir().unwrap();
    let mut armed = Armed::start();
    let pid = armed.says("pid");
    let recorder = Recorder::ask(folder.path(), pid, "none.atrace", &[]);
    let trace = recorder.detach(pid);
    armed.fills([1]);
    armed.ends();
    assert_eq!(info(&trace)["calls"]["count"], 0);
}

#[test]
fn a_process_has_one_recorder_and_one_that_began_with_it_stays() {
    let folder = tempfile::tempdir().unwrap();
    let mut armed = Armed::start();
    let pid = armed.says("pid");
    let mut recorder = Recorder::ask(folder.path(), pid, "one.atrace", &[]);
    armed.fills([1]);
    recorder.joined();
    let text = format!("another recorder is attached to process {pid}");
    refused(&["attach", &pid.to_string()], 125, &text);
    armed.fills([2]);
    let trace = recorder.detach(pid);
    refused(
        &["detach", &pid.to_string()],
        2,
        "is armed, and no recorder is attached to it",
    );
    armed.ends();
    assert_eq!(fills(&whole(&trace)), [1, 2]);

    let mut recorded = Armed::of(Run::new(&program("armed")).command(folder.path()));
    let pid = recorded.says("pid").to_string();
    refused(&["detach", &pid], 2, "began with the program");
    refused(&["attach", &pid], 125, "was started with a recording");
    recorded.fills([1]);
    recorded.ends();
}

#[test]
fn a_process_without_its_page_is_refused_and_runs_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut armed = Armed::start();
    let pid = armed.says("pid");
    armed.fills([1]);
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let line = maps.lines().find(|line| line.contains("/armed-")).unwrap();
    let page = line[line.find('/').unwrap()..].to_owned();
    std::fs::remove_file(&page).unwrap();
    let words = ["attach", &pid.to_string(), "-o", "t.atrace"];
    let outcome = run(tool().args(words).current_dir(folder.path())).expect(125);
    assert!(
        outcome.err().contains("was removed from its folder"),
        "{outcome}"
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    assert!(!Path::new(&page).exists());
    armed.fills([2]);
    armed.ends();
}
