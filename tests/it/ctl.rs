//! Control of a running recording by another process.

mod full_disk;
mod stop;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::process::{Outcome, run};
use crate::support::screen::Screen;
use crate::support::tables::Tables;
use crate::support::{Run, program, tool};

const CTRL_P: &str = "\u{10}";

/// A recorded program that waits for a line before some of its steps.
struct Asking {
    recorder: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Asking {
    fn start(folder: &Path, options: &[&str]) -> Self {
        let run = Run::new(&program("windows")).words(&["9", "0", "ask"]);
        Self::run(&run.options(options), folder)
    }

    fn run(run: &Run, folder: &Path) -> Self {
        let mut command = run.command(folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut recorder = command.stderr(Stdio::null()).spawn().unwrap();
        Self {
            input: recorder.stdin.take().unwrap(),
            output: BufReader::new(recorder.stdout.take().unwrap()),
            recorder,
        }
    }

    /// The program is about to begin this step.
    #[track_caller]
    fn reaches(&mut self, step: &str) {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        assert_eq!(line, format!("step {step}\n"));
    }

    fn go_on(&mut self) {
        self.input.write_all(b"\n").unwrap();
    }

    fn end(mut self) {
        assert!(self.recorder.wait().unwrap().success());
    }

    fn ctl(&self, words: &[&str]) -> Outcome {
        let mut command = tool();
        command.args(["ctl", &self.recorder.id().to_string()]);
        run(command.args(words))
    }
}

/// The steps with fills in the file.
fn steps(table: &Tables) -> Vec<i64> {
    let fills = table
        .tasks
        .iter()
        .filter(|task| task.text("kind") == "memset");
    let fills = fills.filter(|task| task.text("untimed") != "captured");
    let mut steps: Vec<i64> = fills.map(|task| task.number("bytes") / 64).collect();
    steps.dedup();
    steps
}

#[test]
fn a_recording_is_paused_resumed_and_marked_from_outside() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("t.atrace");
    let mut program = Asking::start(folder.path(), &[]);
    program.reaches("4");
    let status: Value =
        serde_json::from_str(&program.ctl(&["status", "--json"]).expect(0).out()).unwrap();
    let status = &status["recordings"][0];
    assert_eq!(status["recorder"], program.recorder.id());
    assert_eq!(status["paused"], false);
    assert_eq!(status["trace"], trace.to_str().unwrap());
    assert_eq!(status["runtime"], "softacl");
    program.ctl(&["mark", "before", "the", "pause"]).expect(0);
    let paused = program.ctl(&["pause"]).expect(0).out();
    assert!(paused.contains("paused by the recorder"), "{paused}");
    program.go_on();
    program.reaches("7");
    let resumed = program.ctl(&["resume"]).expect(0).out();
    assert!(resumed.contains(": recording,"), "{resumed}");
    let why = program.ctl(&["why"]).expect(0).out();
    assert!(why.lines().count() > 1, "{why}");
    program.go_on();
    program.end();
    let table = Tables::of_file(&trace, &folder.path().join("csv"));
    assert_eq!(steps(&table), [1, 2, 3, 7, 8, 9]);
    assert_eq!(table.count_calls("aclmdlRIExecuteAsync"), 6);
    let shown = crate::support::tables::parse(
        &std::fs::read_to_string(folder.path().join("csv/ranges.csv")).unwrap(),
    );
    let of = |kind: &str| -> Vec<_> {
        let rows = shown.iter().filter(|row| row.text("kind") == kind);
        rows.map(|row| row.text("name").to_owned()).collect()
    };
    assert!(
        shown
            .iter()
            .any(|row| row.text("name") == "ctl: before the pause")
    );
    assert_eq!(of("pause"), ["recording paused"]);
}

#[test]
fn the_view_of_a_growing_file_pauses_resumes_and_marks_its_recording() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("t.atrace");
    let mut program = Asking::start(folder.path(), &[]);
    program.reaches("4");
    let mut view = tool();
    view.arg("view").arg(&trace);
    let screen = Screen::start(view, 30, 120);
    screen.until("live");
    screen.press(CTRL_P);
    screen.until("the recording is paused");
    program.go_on();
    program.reaches("7");
    screen.press(CTRL_P);
    screen.until("the recording continues");
    screen.press("\u{b}slow now\r");
    screen.until("marked “slow now”");
    screen.press("\u{13}");
    screen.until("the recording was not changed");
    program.go_on();
    program.end();
    screen.until("program ended");
    screen.press(CTRL_P);
    screen.until("the recording has ended");
    screen.press("q");
    screen.finish().expect(0);
    let table = Tables::of_file(&trace, &folder.path().join("csv"));
    assert_eq!(steps(&table), [1, 2, 3, 7, 8, 9]);
    let ranges = std::fs::read_to_string(folder.path().join("csv/ranges.csv")).unwrap();
    assert!(ranges.contains("ctl: slow now"), "{ranges}");
}

#[test]
fn the_live_view_pauses_the_recording_that_it_shows() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = tool();
    command
        .args(["record", "--tui", "--soft", "-o", "t.atrace", "--"])
        .arg(program("stuck"))
        .arg("event")
        .current_dir(folder.path());
    let screen = Screen::start(command, 24, 100);
    screen.until("live, following");
    screen.press(CTRL_P);
    screen.until("the recording is paused");
    screen.until("‖ recording paused");
    screen.press(CTRL_P);
    screen.until("the recording continues");
    let log = folder.path().join("t.atrace.log");
    let text = std::fs::read_to_string(log).unwrap();
    let pid = text.lines().find_map(|line| line.strip_prefix("stuck "));
    let pid = Pid::from_raw(pid.unwrap().trim().parse().unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    screen.until("program ended");
    screen.press("q");
    screen.finish().expect(137);
}

/// Why fills of these steps have no time, in the order of the steps; empty for those that have.
fn untimed(table: &Tables, steps: std::ops::RangeInclusive<i64>) -> Vec<String> {
    let fills = table
        .tasks
        .iter()
        .filter(|it| it.text("kind") == "memset" && steps.contains(&(it.number("bytes") / 64)));
    let mut all: Vec<_> = fills.map(|it| it.text("untimed").to_owned()).collect();
    all.retain(|it| it != "captured");
    all.dedup();
    all
}

#[test]
fn the_timing_of_a_running_program_changes() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("t.atrace");
    let mut program = Asking::start(folder.path(), &["--timing", "events"]);
    program.reaches("4");
    let changed = program.ctl(&["timing", "off"]).expect(0).out();
    assert!(changed.contains("timing: off"), "{changed}");
    program.go_on();
    program.reaches("7");
    program.ctl(&["timing", "auto"]).expect(0);
    let changed = program.ctl(&["budget", "50%"]).expect(0).out();
    assert!(changed.contains("auto, at most 50 %"), "{changed}");
    program.ctl(&["timing", "events"]).expect(0);
    for (words, why) in [
        (&["budget", "2"][..], "the timing is events"),
        (&["timing", "both"], "hardware log"),
        (&["timing", "sometimes"], "sample=N"),
        (&["budget", "200"], "from 0.01 to 100"),
        (&["timing"], "one value"),
    ] {
        let outcome = program.ctl(words);
        assert_ne!(outcome.status, 0, "{outcome}");
        assert!(outcome.err().contains(why), "{outcome}");
    }
    program.go_on();
    program.end();
    let table = Tables::of_file(&trace, &folder.path().join("csv"));
    assert_eq!(steps(&table), (1..=9).collect::<Vec<_>>());
    assert_eq!(untimed(&table, 1..=3), [""]);
    assert_eq!(untimed(&table, 4..=6), ["timing-off"]);
    assert_eq!(untimed(&table, 7..=9), [""]);
    let marks = std::fs::read_to_string(folder.path().join("csv/ranges.csv")).unwrap();
    for mark in [
        "ctl: timing off",
        "\"ctl: timing auto, budget 50 %\"",
        "ctl: timing events",
    ] {
        assert!(marks.contains(mark), "{mark}: {marks}");
    }
}

#[test]
fn a_process_that_begins_after_a_change_has_the_present_timing() {
    let folder = tempfile::tempdir().unwrap();
    let windows = program("windows");
    let script = r#"echo step 0; read -r line; exec "$0" 3 0"#;
    let words = ["-c", script, windows.to_str().unwrap()];
    let run = Run::new(Path::new("/bin/sh")).words(&words);
    let mut program = Asking::run(&run.options(&["--timing", "events"]), folder.path());
    program.reaches("0");
    program.ctl(&["timing", "off"]).expect(0);
    program.go_on();
    program.end();
    let trace = folder.path().join("t.atrace");
    let table = Tables::of_file(&trace, &folder.path().join("csv"));
    assert_eq!(steps(&table), [1, 2, 3]);
    assert_eq!(untimed(&table, 1..=3), ["timing-off"]);
}

#[test]
fn a_recording_without_timing_keeps_that() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = Asking::start(folder.path(), &["--timing", "off"]);
    program.reaches("4");
    let outcome = program.ctl(&["timing", "events"]);
    assert_ne!(outcome.status, 0, "{outcome}");
    assert!(
        outcome.err().contains("began with --timing off"),
        "{outcome}"
    );
    program.go_on();
    program.reaches("7");
    program.go_on();
    program.end();
}

/// Waits until the switch is turned, and processes can see it.
fn is_paused(program: &Asking, wanted: bool) {
    loop {
        let status = program.ctl(&["status", "--json"]).expect(0).out();
        let status: Value = serde_json::from_str(&status).unwrap();
        if status["recordings"][0]["paused"] == wanted {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn one_signal_begins_and_ends_a_recording_and_does_not_reach_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--start-at", "signal=USR1", "--stop-at", "signal=USR1"];
    let mut program = Asking::start(folder.path(), &options);
    for (step, is_over) in [("4", false), ("7", true)] {
        program.reaches(step);
        let recorder = Pid::from_child(&program.recorder);
        kill_process(recorder, Signal::USR1).unwrap();
        is_paused(&program, is_over);
        program.go_on();
    }
    program.end();
    let trace = folder.path().join("t.atrace");
    let table = Tables::of_file(&trace, &folder.path().join("csv"));
    assert_eq!(steps(&table), [4, 5, 6]);
    assert_eq!(table.count_calls("aclrtCreateStream"), 2);
}

#[test]
fn what_cannot_be_controlled_is_refused() {
    for (words, named) in [
        (&["ctl", "1", "pause"][..], "process 1"),
        (
            &["ctl", "/nonexistent/session-1-0", "pause"],
            "takes no requests",
        ),
        (&["ctl", "explode"], "mark TEXT"),
        (&["ctl", "mark"], "text"),
    ] {
        let outcome = run(tool().args(words));
        assert_ne!(outcome.status, 0, "{outcome}");
        assert!(outcome.err().contains(named), "{words:?}: {outcome}");
    }
}

#[test]
fn a_snapshot_is_taken_on_request_and_refused_without_a_ring() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = Asking::start(folder.path(), &["--ring", "30s", "--after", "0s"]);
    program.reaches("4");
    let outcome = program.ctl(&["snapshot", "step", "three"]).expect(0);
    let file = folder.path().join("t-snapshot.atrace");
    assert!(outcome.out().contains("t-snapshot.atrace"), "{outcome}");
    let table = Tables::of_file(&file, &folder.path().join("csv"));
    assert_eq!(steps(&table), [1, 2, 3]);
    let mut info = tool();
    let outcome = run(info.arg("info").arg(&file)).expect(0);
    assert!(outcome.out().contains("step three"), "{outcome}");
    program.go_on();
    program.reaches("7");
    program.go_on();
    program.end();

    let mut program = Asking::start(&folder.path().join("csv"), &[]);
    program.reaches("4");
    let refused = program.ctl(&["snapshot"]);
    assert_ne!(refused.status, 0);
    assert!(refused.err().contains("--ring"), "{refused}");
    program.go_on();
    program.reaches("7");
    program.go_on();
    program.end();
}

/// A recording of the group takes a snapshot when another one ends badly; one of another group does not.
#[test]
fn recordings_of_a_group_take_snapshots_together() {
    let group = format!("group-{}", std::process::id());
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let names = [group.as_str(), "another group"];
    let mut others = [0, 1].map(|at| {
        let options = ["--ring", "30s", "--after", "0s", "--together", names[at]];
        Asking::start(folders[at].path(), &options)
    });
    others.iter_mut().for_each(|it| it.reaches("4"));
    let recording = Run::new(&program("flight"))
        .words(&["3", "1", "0", "5"])
        .options(&["--ring", "30s", "--on", "exit!=0", "--together", &group])
        .compared();
    assert_eq!(recording.outcome.status, 5);
    let mut seen = others.iter().map(|it| {
        let status = it.ctl(&["--json", "status"]).expect(0).out();
        let status: Value = serde_json::from_str(&status).unwrap();
        status["recordings"][0]["snapshots"]
            .as_array()
            .unwrap()
            .len()
    });
    assert_eq!((seen.next(), seen.next()), (Some(1), Some(0)));
    for mut other in others {
        other.go_on();
        other.reaches("7");
        other.go_on();
        other.end();
    }
    let snapshot = folders[0].path().join("t-snapshot.atrace");
    let mut info = tool();
    let info = run(info.args(["info", "--json"]).arg(snapshot))
        .expect(0)
        .out();
    let info: Value = serde_json::from_str(&info).unwrap();
    let reason = info["session"]["kept"]["snapshot"]["reason"].as_str();
    let reason = reason.unwrap();
    let expected = "the program ended with status 5 (process ";
    assert!(reason.starts_with(expected), "{reason}");
}
