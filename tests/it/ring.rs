//! Recordings that keep their last part, and snapshots of them.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::support::process::run;
use crate::support::tables::Tables;
use crate::support::{Run, program, tool};

/// Bytes of a fill of step 1.
const UNIT: i64 = 64;

fn info(trace: &Path) -> Value {
    let outcome = run(tool().args(["info", "--json"]).arg(trace)).expect(0);
    serde_json::from_str(&outcome.out()).unwrap()
}

/// The steps with fills that ran, which follow each other without a gap.
#[track_caller]
fn steps(table: &Tables) -> (i64, i64) {
    let fills = table.tasks.iter();
    let fills = fills.filter(|it| it.text("kind") == "memset" && it.text("untimed") != "captured");
    let steps: BTreeSet<i64> = fills.map(|it| it.number("bytes") / UNIT).collect();
    let (first, last) = (*steps.first().unwrap(), *steps.last().unwrap());
    assert_eq!(steps, (first..=last).collect(), "no gap");
    (first, last)
}

fn table_of(trace: &Path) -> Tables {
    Tables::of_file(trace, &trace.with_extension("csv"))
}

/// The snapshots next to a trace, the oldest first.
fn snapshots(trace: &Path) -> Vec<PathBuf> {
    let first = trace.with_file_name("t-snapshot.atrace");
    let later = (2..).map(|number| trace.with_file_name(format!("t-snapshot-{number}.atrace")));
    let all = std::iter::once(first).chain(later);
    all.take_while(|it| it.exists()).collect()
}

fn reason(trace: &Path) -> String {
    let info = info(trace);
    assert!(info["exit_status"].is_null(), "the program ran on");
    let reason = info["session"]["kept"]["snapshot"]["reason"].as_str();
    reason.unwrap().to_owned()
}

#[test]
fn a_file_has_the_last_part_and_all_objects() {
    let recording = Run::new(&program("windows"))
        .words(&["250", "20"])
        .options(&["--ring", "1s"])
        .compared();
    let table = Tables::of(&recording);
    let (first, last) = steps(&table);
    assert_eq!(last, 250);
    assert!(first > 1, "the first steps were dropped: {first}");
    // They were made before the first step, and are still in use.
    for (name, times) in [
        ("aclrtCreateStream", 2),
        ("aclrtMalloc", 1),
        ("aclrtCreateEvent", 1),
        ("aclmdlRICaptureBegin", 1),
        ("aclmdlRICaptureEnd", 1),
    ] {
        assert_eq!(table.count_calls(name), times, "{name}");
    }
    let info = info(&recording.trace());
    assert_eq!(info["lost"]["calls"], 0);
    assert_eq!(info["graphs"]["nodes"], 1);
    // The recording is about the part that is kept.
    let since = info["session"]["kept"]["since_ns"].as_i64().unwrap();
    assert!(info["begin_ns"].as_i64().unwrap() >= since);
    let said = recording.outcome.err();
    assert!(said.contains("the file has the last"), "{said}");
}

#[test]
fn events_leave_snapshots_with_what_was_before_and_after() {
    let recording = Run::new(&program("flight"))
        .words(&["120", "20", "80", "3"])
        .options(&[
            "--ring", "1s", "--after", "100ms", "--on", "step>5x", "--on", "exit!=0",
        ])
        .compared();
    let files = snapshots(&recording.trace());
    let reasons: Vec<String> = files.iter().map(|it| reason(it)).collect();
    let at_step = reasons
        .iter()
        .position(|it| it.starts_with("step 80 took "));
    let at_step = at_step.unwrap_or_else(|| panic!("{reasons:?}"));
    let (first, last) = steps(&table_of(&files[at_step]));
    assert!(first > 1 && first < 80 && last > 80, "{first} to {last}");
    let last = reasons.last().unwrap();
    assert!(
        last.starts_with("the program ended with status 3"),
        "{last}"
    );
    assert_eq!(steps(&table_of(files.last().unwrap())).1, 120);
    // Nothing is said of the time before the kept part.
    let known = info(&files[at_step]);
    let since = known["session"]["kept"]["since_ns"].as_i64().unwrap();
    let stalls = table_of(&files[at_step]).stalls;
    for stall in stalls {
        // A call that lies across the begin is in the file as a whole.
        let is_across = stall.maybe("tid").is_some() && stall.number("end_ns") >= since;
        let is_kept = stall.number("begin_ns") >= since;
        assert!(is_kept || is_across, "{since}: {stall:?}");
    }
    let mut why = tool();
    let why = run(why.arg("why").arg(&files[at_step])).out();
    assert!(!why.contains("ended with status"), "{why}");
    // A mark shows the time of the event.
    let mut export = tool();
    export.args(["export", "--format", "chrome", "-o", "-"]);
    let events = run(export.arg(&files[at_step])).expect(0).out();
    assert!(events.contains("\"snapshot: step 80 took "));
    let table = table_of(&files[at_step]);
    // Memory that was freed before leaves no call.
    let made = table.count_calls("aclrtMalloc");
    let steps = table.count_calls("aclrtMemsetAsync");
    // The buffer of all steps, and those of the steps that lie across the begin and the end of the part.
    assert!(made <= steps + 3, "{made} allocations in {steps} steps");
}

#[test]
fn an_error_of_a_call_takes_a_snapshot() {
    let recording = Run::new(&program("flight"))
        .words(&["10", "5", "5"])
        .options(&["--ring", "16M", "--on", "call-error", "--after", "0s"])
        .compared();
    let files = snapshots(&recording.trace());
    assert_eq!(files.len(), 1, "{files:?}");
    let reason = reason(&files[0]);
    assert!(reason.starts_with("aclrtSetDevice returned "), "{reason}");
    // Nothing has been dropped yet.
    let (first, last) = steps(&table_of(&files[0]));
    assert!(first == 1 && last >= 5, "{first} to {last}");
}

/// The snapshot on request is the first one. The error follows within the time of the ring.
#[test]
fn an_event_shortly_after_a_snapshot_gets_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let run_of_program = Run::new(&program("armed"));
    let options = ["--ring", "600s", "--after", "0s", "--on", "call-error"];
    let mut command = run_of_program.options(&options).command(folder.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut recorder = command.stderr(Stdio::null()).spawn().unwrap();
    let mut output = BufReader::new(recorder.stdout.take().unwrap()).lines();
    let mut input = recorder.stdin.take().unwrap();
    let pid = output.next().unwrap().unwrap();
    let pid = pid.strip_prefix("pid ").unwrap();
    let snapshot = run(tool().args(["ctl", pid, "snapshot", "by hand"])).expect(0);
    assert!(snapshot.out().contains("t-snapshot.atrace"), "{snapshot}");
    for line in ["load 1", "rest", "end"] {
        writeln!(input, "{line}").unwrap();
        if line != "end" {
            output.next().unwrap().unwrap();
        }
    }
    drop(input);
    assert_eq!(recorder.wait().unwrap().code(), Some(7));
    let files = snapshots(&folder.path().join("t.atrace"));
    let [first, second] = &files[..] else {
        panic!("{files:?}");
    };
    assert_eq!(reason(first), "by hand");
    let reason = reason(second);
    assert!(reason.starts_with("aclrtFree returned "), "{reason}");
    assert!(info(second)["calls"]["errors"].as_u64() > Some(0));
    assert_eq!(info(first)["calls"]["errors"], 0);
}

#[test]
fn the_oldest_snapshots_are_removed() {
    let recording = Run::new(&program("flight"))
        .words(&["10", "5", "5", "7"])
        .options(&[
            "--ring",
            "16M",
            "--after",
            "0s",
            "--keep",
            "1",
            "--on",
            "call-error",
            "--on",
            "exit!=0",
        ])
        .compared();
    let folder = recording.trace().parent().unwrap().to_owned();
    let names = std::fs::read_dir(folder).unwrap();
    let names = names.map(|it| it.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> = names.filter(|it| it.contains("snapshot")).collect();
    assert_eq!(left, ["t-snapshot-2.atrace"]);
}

#[test]
fn a_ring_that_cannot_be_is_refused() {
    for (options, words) in [
        (&["--ring", "10ms"][..], "1s or more"),
        (&["--ring", "soon"], "neither a time"),
        (&["--on", "call-error"], "--ring"),
        (&["--ring", "30s", "--on", "rain"], "call-error"),
        (&["--ring", "30s", "--on", "http"], "--metrics-token FILE"),
        (
            &["--roll", "30s", "--on", "call-error"],
            "about snapshots of a --ring",
        ),
        (
            &["--roll", "30s", "--after", "1s"],
            "about snapshots of a --ring",
        ),
        (
            &["--roll", "30s", "--together", "x"],
            "about snapshots of a --ring",
        ),
        (&["--ring", "30s", "-o", "-"], "cannot be shortened"),
        (
            &["--ring", "30s", "--watchdog", "30s", "--on", "watchdog 60s"],
            "different times",
        ),
    ] {
        let mut command = tool();
        command.args(["record", "--no-tui"]).args(options);
        let outcome = run(command.arg("true"));
        assert_ne!(outcome.status, 0, "{outcome}");
        let said = outcome.err();
        assert!(said.contains(words), "{options:?}: {said}");
    }
}
