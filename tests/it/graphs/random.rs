use ascend_trace_testkit::captures::{ExpectedGraph, Script, script};

use super::{compiled, graphs, matches_truth, source, stream_ids};
use crate::support::{Run, Tables};

/// Cases of one run of the program.
const CASES: usize = 110;

/// The graphs of the trace, in the form of the reference.
#[track_caller]
fn traced_graphs(recording: &crate::support::Recording, tables: &Tables) -> Vec<ExpectedGraph> {
    let ids = stream_ids(tables);
    let mut found: Vec<ExpectedGraph> = Vec::new();
    for row in graphs(recording) {
        let number = row.number("graph") as usize;
        found.resize_with(found.len().max(number), ExpectedGraph::default);
        let graph = &mut found[number - 1];
        graph.code = row.maybe("code").unwrap_or(0) as i32;
        graph.replays = row.number("replays") as u32;
        let Some(stream) = row.maybe("stream_id") else {
            continue;
        };
        let stream = ids.iter().position(|id| *id == stream).unwrap();
        let kinds = ["memcpy", "memset", "hostfunc", "record", "wait"];
        let kind = kinds.into_iter().find(|kind| *kind == row.text("kind"));
        graph.nodes.push((stream, kind.unwrap()));
    }
    found
}

/// Every failed capture is explained by one of its calls.
#[track_caller]
fn failures_are_explained(recording: &crate::support::Recording, tables: &Tables) {
    let ids = stream_ids(tables);
    for row in graphs(recording) {
        if row.text("outcome") != "failed" {
            assert_eq!(row.text("reason"), "");
            continue;
        }
        let call = row.number("reason_call") as usize;
        let blamed = &tables.calls[call];
        assert_eq!(blamed.number("graph"), row.number("graph"), "{row:?}");
        // A task of a stream that did not come back, so not of the one that it began on.
        let stream = blamed.number("stream_id");
        assert!(ids.contains(&stream) && stream != row.number("origin_stream_id"));
        assert!(
            row.text("reason").contains(&format!("stream {stream} ")),
            "{row:?}"
        );
    }
}

#[track_caller]
fn check(seed: u64) {
    let program = compiled(
        "cc",
        &source("capture_script.c"),
        &[
            "-std=gnu11",
            "-O1",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-lascendcl",
        ],
    );
    let Script {
        text,
        output,
        graphs,
    } = script(seed, CASES);
    let recording = Run::new(&program).input(text.as_bytes()).compared();
    for (number, (found, expected)) in recording
        .outcome
        .out()
        .lines()
        .zip(output.lines())
        .enumerate()
    {
        assert_eq!(found, expected, "case {number} of seed {seed}");
    }
    assert_eq!(recording.outcome.out(), output, "seed {seed}");
    let tables = Tables::of(&recording);
    let found = traced_graphs(&recording, &tables);
    for (number, (found, expected)) in found.iter().zip(&graphs).enumerate() {
        assert_eq!(found, expected, "graph {} of seed {seed}", number + 1);
    }
    assert_eq!(found.len(), graphs.len(), "seed {seed}");
    failures_are_explained(&recording, &tables);
    matches_truth(tables, &recording);
}

#[test]
fn captures_and_replays_of_seed_1() {
    check(1);
}

#[test]
fn captures_and_replays_of_seed_2() {
    check(2);
}

#[test]
fn captures_and_replays_of_seed_3() {
    check(3);
}

#[test]
fn captures_and_replays_of_seed_4() {
    check(4);
}

#[test]
fn captures_and_replays_of_seed_5() {
    check(5);
}
