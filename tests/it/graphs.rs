//! Captured graphs: tracing changes nothing about them, and the trace shows their contents.

/// Every conformance program of the software runtime, with and without the tracer.
mod conformance;
/// Random programs of captures, joins and replays, against a sequential reference.
mod random;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::compile::{built, kept, slot, soft};
use crate::support::process::{run, scratch, tool};
use crate::support::tables::{Table, parse};
use crate::support::{CsvRow, Recording, Run, Tables, truth};

/// Compiles a program as a user would, unless this run has done so already.
#[track_caller]
fn compiled(compiler: &str, source: &Path, options: &[&str]) -> PathBuf {
    slot(source, || compile(compiler, source, options))
}

fn compile(compiler: &str, source: &Path, options: &[&str]) -> PathBuf {
    let program = scratch().join("graphs").join(source.file_stem().unwrap());
    let mut command = Command::new(compiler);
    command.arg(source).arg("-I").arg(&soft().include);
    command.arg("-L").arg(&soft().lib).args(options);
    kept(&command, &program).unwrap_or_else(|said| panic!("{said}"))
}

fn source(name: &str) -> PathBuf {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    repository.join("tests/programs").join(name)
}

/// `graphs.csv` of a recording with exported tables.
#[track_caller]
fn graphs(recording: &Recording) -> Table {
    let file = recording.beside("csv").join("graphs.csv");
    parse(&std::fs::read_to_string(file).unwrap())
}

/// Ids of the program's streams, in the order in which they were made.
fn stream_ids(tables: &Tables) -> Vec<i64> {
    let made = tables
        .calls
        .iter()
        .filter(|call| call.text("name") == "aclrtCreateStream");
    made.map(|call| call.number("stream_id")).collect()
}

/// The trace and the runtime agree on the tasks that ran.
#[track_caller]
fn matches_truth(tables: Tables, recording: &Recording) {
    let ran = tables
        .tasks
        .into_iter()
        .filter(|task| task.text("node").is_empty());
    let ran: Table = ran.collect();
    truth::matched(&ran, &recording.truth());
}

fn two_streams(options: &[&str]) -> Recording {
    Run::new(&two_streams_program()).options(options).compared()
}

pub(crate) fn two_streams_program() -> PathBuf {
    let libraries = [
        "-Wall",
        "-Wextra",
        "-Werror",
        "-lascendcl",
        "-lnnopbase",
        "-lopapi",
    ];
    compiled("c++", &source("capture_two_streams.cc"), &libraries)
}

#[test]
fn without_timing_the_tracer_adds_no_calls() {
    let options = ["-shared", "-fPIC", "-fno-builtin", "-ldl"];
    let counting = built("counting_library.so", "counting_library.c", &options);
    let run = Run::new(&two_streams_program()).variable("LD_PRELOAD", counting.to_str().unwrap());
    let recording = run.clone().options(&["--timing", "off"]).compared();
    let message = "aclmdlRICaptureGetInfo was called 0 times\n";
    assert!(
        recording.outcome.err().contains(message),
        "{}",
        recording.outcome
    );
    // With timing, the library receives all facts.
    let timed = run.traced();
    assert!(!timed.outcome.err().contains(message), "{}", timed.outcome);
}

#[test]
fn two_streams_are_one_graph_that_is_replayed_eight_times() {
    let recording = two_streams(&[]);
    let rows = ["1.1", "2.2", "3.3", "4.4", "5.5", "6.6", "7.7", "8.8"];
    let expected = rows.map(|value| [value; 8].join(" ") + "\n").concat();
    assert_eq!(recording.outcome.out(), expected);

    let tables = Tables::of(&recording);
    let nodes = graphs(&recording);
    let [main, side] = stream_ids(&tables)[..] else {
        panic!("two streams")
    };
    let of_node = |row: &CsvRow| (row.number("stream_id"), row.text("kind").to_owned());
    let found: Vec<_> = nodes.iter().map(of_node).collect();
    let expected = [
        (main, "memcpy"),
        (main, "record"),
        (side, "wait"),
        (side, "kernel"),
        (side, "record"),
        (main, "wait"),
        (main, "memcpy"),
    ];
    assert_eq!(
        found,
        expected.map(|(stream, kind)| (stream, kind.to_owned()))
    );
    let after: Vec<_> = nodes.iter().map(|row| row.text("after")).collect();
    assert_eq!(after, ["", "1", "2", "3", "4", "2 5", "6"]);
    for (row, number) in nodes.iter().zip(1..) {
        assert_eq!(row.number("node"), number);
        assert_eq!((row.number("graph"), row.number("replays")), (1, 8));
        assert_eq!(
            (row.text("outcome"), row.number("origin_stream_id")),
            ("ready", main)
        );
    }
    let replays = tables
        .tasks
        .iter()
        .filter(|task| task.text("kind") == "graph");
    for (replay, number) in replays.clone().zip(1..) {
        assert_eq!(replay.number("stream_id"), main);
        assert_eq!(
            (replay.number("graph"), replay.number("replay")),
            (1, number)
        );
        assert_eq!(replay.text("untimed"), "");
    }
    assert_eq!(replays.count(), 8);
    matches_truth(tables, &recording);
}

#[test]
fn info_and_stats_count_graphs() {
    let recording = two_streams(&[]);
    let document = |command: &str| {
        let outcome = run(tool().arg(command).arg(recording.trace()).arg("--json")).expect(0);
        serde_json::from_str::<serde_json::Value>(&outcome.out()).unwrap()
    };
    let info = &document("info")["graphs"];
    assert_eq!((&info["count"], &info["nodes"]), (&1.into(), &7.into()));
    assert_eq!(
        (&info["replays"], &info["failed"]),
        (&8.into(), &serde_json::json!([]))
    );
    let stats = document("stats");
    let graph = &stats["graphs"][0];
    assert_eq!(
        (&graph["outcome"], &graph["replays"]),
        (&"ready".into(), &8.into())
    );
    assert_eq!(graph["time"]["count"], 8);
    let text = run(tool().arg("info").arg(recording.trace()))
        .expect(0)
        .out();
    assert!(text.contains("1 with 7 nodes, replayed 8 times"), "{text}");
}

#[test]
fn without_timing_graphs_are_still_recorded() {
    let recording = two_streams(&["--timing", "off"]);
    let tables = Tables::of(&recording);
    assert_eq!(graphs(&recording).len(), 7);
    let untimed = |kind: &str| {
        let tasks = tables.tasks.iter().filter(|task| task.text("kind") == kind);
        tasks.map(|task| task.text("untimed")).collect::<Vec<_>>()
    };
    assert_eq!(untimed("graph"), ["timing-off"; 8]);
    assert_eq!(untimed("memcpy"), ["captured"; 2]);
}
