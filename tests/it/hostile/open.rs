//! Calls that a program hangs in: in the trace, and reported while they last.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use ascend_trace_recording::Ending;
use ascend_trace_testkit::whole::opened;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::compile::hostile;
use crate::support::screen::Screen;
use crate::support::{Run, run, tool};

/// How long something is waited for that comes within milliseconds, or never.
const PATIENCE: Duration = Duration::from_secs(60);

/// When the program saw its thread wait, from its output.
fn hung_at(text: &str) -> i64 {
    let line = text.lines().find_map(|line| line.strip_prefix("hangs "));
    line.unwrap().trim_end().parse().unwrap()
}

#[test]
fn the_call_that_a_program_hangs_in_is_in_the_trace() {
    for (how, status) in [("killed", 128 + 9), ("exits", 3)] {
        let recording = Run::new(&hostile("hangs")).words(&[how]).traced();
        assert_eq!(recording.outcome.status, status, "{}", recording.outcome);
        let (trace, _) = opened(recording.trace()).unwrap();
        let open: Vec<_> = trace
            .calls()
            .iter()
            .filter(|call| call.ending == Ending::Open)
            .collect();
        assert_eq!(open.len(), 1, "{open:?}");
        let call = open[0];
        assert_eq!(trace.function(call.function).name, "aclrtSynchronizeStream");
        assert!(call.stream.is_some());
        // It was under way when the program looked.
        let at = hung_at(&recording.outcome.out());
        assert!(call.begin <= at && at <= call.end, "{at}: {call:?}");
        assert!(trace.open_calls().is_empty(), "no call is open");
        let stats = stats_of(recording.trace().to_str().unwrap());
        assert_eq!(stats["open_calls"].as_array().unwrap().len(), 1);
        assert_eq!(stats["open_calls"][0]["begin_ns"], call.begin);
    }
}

fn stats_of(path: &str) -> Value {
    document(path, "stats")
}

fn document(path: &str, what: &str) -> Value {
    let outcome = run(tool().args([what, path, "--json"]));
    // The recording has no end where its recorder was killed.
    assert!([0, 3].contains(&outcome.status), "{outcome}");
    serde_json::from_str(&outcome.out()).unwrap()
}

/// Queries until it gets a result.
#[track_caller]
fn until<T>(mut ask: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(begin.elapsed() < PATIENCE, "it does not come");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A pipe that the program waits for, to send it messages.
fn pipe(folder: &Path) -> PathBuf {
    let path = folder.join("pipe");
    let mode = rustix::fs::Mode::from(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, mode).unwrap();
    path
}

/// Lets the program end.
fn tell(pipe: &Path) {
    drop(File::options().write(true).open(pipe).unwrap());
}

#[test]
fn a_recorder_that_is_killed_leaves_a_file_that_knows_the_open_call() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = pipe(folder.path());
    let words = ["told", pipe.to_str().unwrap()];
    let mut command = Run::new(&hostile("hangs"))
        .words(&words)
        .command(folder.path());
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    let at = hung_at(&line);
    let file = folder.path().join("t.atrace");
    let path = file.to_str().unwrap();
    // The file has it while it lasts, with its duration.
    let seen = until(|| {
        let stats = stats_of(path);
        let open = stats["open_calls"].as_array().unwrap();
        let first = open.first()?.clone();
        (first["begin_ns"].as_i64()? + first["length_ns"].as_i64()? > at).then_some(first)
    });
    assert_eq!(seen["name"], "aclrtSynchronizeStream");
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    assert!(!child.wait().unwrap().success());
    let stats = stats_of(path);
    let open = stats["open_calls"].as_array().unwrap();
    assert_eq!(open.len(), 1, "{stats}");
    for field in ["name", "pid", "tid", "begin_ns", "stream_id"] {
        assert_eq!(open[0][field], seen[field], "{field}");
    }
    assert!(open[0]["stream_id"].is_i64(), "{stats}");
    assert!(open[0]["length_ns"].as_i64() >= seen["length_ns"].as_i64());
    let text = run(tool().args(["stats", path])).expect(3).out();
    assert!(text.contains("Calls that had not returned"), "{text}");
    let info = document(path, "info");
    assert_eq!(info["calls"]["open"], 1, "{info}");
    assert_eq!(info["complete"], false);
    let table = run(tool()
        .args(["export", path, "--format", "csv", "-o"])
        .arg(folder.path().join("csv")));
    table.expect(3);
    let calls = std::fs::read_to_string(folder.path().join("csv/calls.csv")).unwrap();
    assert_eq!(calls.matches(",open").count(), 1, "{calls}");
    // The program continues, and ends on request.
    tell(&pipe);
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
}

#[test]
fn the_live_view_shows_the_call_that_a_program_hangs_in() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = pipe(folder.path());
    let mut command = tool();
    command.args(["record", "--tui", "--soft", "-o"]);
    command.arg(folder.path().join("t.atrace")).arg("--");
    command.arg(hostile("hangs")).arg("told").arg(&pipe);
    let screen = Screen::start(command, 30, 140);
    screen.until(", under way");
    // The program has continued without a recording, and its end is shown as usual.
    tell(&pipe);
    screen.until("program ended");
    screen.press("q");
    screen.finish().expect(3);
}
