//! Graphs in every format.

use ascend_trace_analysis::graphs::task_label;
use ascend_trace_export::Csv;
use ascend_trace_recording::Trace;
use ascend_trace_testkit::timeline;

use super::checker::ImportedTrace;
use super::chrome::chrome;
use super::csv::{CsvRow, rows};
use super::memory::export;
use super::perfetto::perfetto;

/// Two streams in one graph that is replayed twice; a capture that fails; an empty one.
pub(crate) const EXAMPLE: &str = "t1: capture(s1)[0..1] of g1 end(s1)[14..15] of g1
         s1: Add[captured] by t1[2..3] of g1 rec(E)[captured] by t1[4..5] of g1
         s2: wait(E)[captured] by t1[6..7] of g1 Mul[captured] by t1[8..9] of g1 rec(F)[captured] by t1[10..11] of g1
         s1: wait(F)[captured] by t1[12..13] of g1 graph[120..130] by t1[60..61] of g1 graph[130..150] of g1
         t1: capture(s3)[20..21] of g2 end(s3)[40..41] of g2=107025
         t1: capture(s4)[50..51] of g3 end(s4)[52..53] of g3
         s3: rec(G)[captured] by t1[30..31] of g2
         s4: wait(G)[captured] by t1[32..33] of g2 Sub[captured] by t1[34..35] of g2";

fn trace() -> Trace {
    timeline(EXAMPLE)
}

fn column<'r>(rows: &'r [CsvRow], name: &str) -> Vec<&'r str> {
    rows.iter().map(|row| row[name].as_str()).collect()
}

#[test]
fn each_node_has_a_row_with_its_dependencies() {
    let files = export(&Csv, &trace());
    let rows = rows(&files, "graphs.csv");
    let of = |graph: &str| {
        let rows = rows.iter().filter(|row| row["graph"] == graph);
        rows.cloned().collect::<Vec<_>>()
    };
    let first = of("1");
    assert_eq!(column(&first, "node"), ["1", "2", "3", "4", "5", "6"]);
    assert_eq!(column(&first, "stream_id"), ["1", "1", "2", "2", "2", "1"]);
    assert_eq!(column(&first, "after"), ["", "1", "2", "3", "4", "2 5"]);
    assert_eq!(column(&first, "name")[3], "Mul");
    assert_eq!(
        (&*first[0]["outcome"], &*first[0]["replays"]),
        ("ready", "2")
    );
    let second = of("2");
    assert_eq!(
        (&*second[0]["outcome"], &*second[0]["code"]),
        ("failed", "107025")
    );
    assert!(
        second[0]["reason"].contains("stream 4 joined"),
        "{second:?}"
    );
    let blamed = second[0]["reason_call"].as_str();
    let calls = super::csv::rows(&files, "calls.csv");
    let call = calls
        .iter()
        .find(|row| row["call"] == blamed)
        .expect("a call");
    assert_eq!(call["name"], "Sub");
    let third = of("3");
    assert_eq!((third.len(), &*third[0]["node"]), (1, ""));
}

#[test]
fn replays_are_one_operation_with_a_number() {
    let files = export(&Csv, &trace());
    let tasks = rows(&files, "tasks.csv");
    let replays: Vec<_> = tasks.iter().filter(|row| row["kind"] == "graph").collect();
    for (row, number) in replays.iter().zip(["1", "2"]) {
        assert_eq!(row["name"], "graph 1");
        assert_eq!(
            (&*row["graph"], &*row["replay"], &*row["node"]),
            ("1", number, "")
        );
    }
    assert_eq!(replays.len(), 2);
    let node = tasks
        .iter()
        .find(|row| row["name"] == "Mul")
        .expect("a node");
    assert_eq!(
        (&*node["graph"], &*node["node"], &*node["replay"]),
        ("1", "4", "")
    );
    assert_eq!(node["untimed"], "captured");
}

#[test]
fn captures_are_slices_and_arrows_lead_from_their_last_call_to_each_replay() {
    let trace = trace();
    check_captures(&chrome(&trace));
    check_captures(&perfetto(&trace));
}

#[track_caller]
fn check_captures(imported: &ImportedTrace) {
    let named = |name: &str| {
        let place = imported.slices.iter().position(|slice| slice.name == name);
        place.unwrap_or_else(|| panic!("no {name}"))
    };
    let capture = named("capture graph 1");
    let slice = &imported.slices[capture];
    assert_eq!(
        (slice.begin, slice.end, slice.track.as_str()),
        (0, 15, "t1 captures")
    );
    assert_eq!(slice.args["nodes"], 6);
    assert_eq!(slice.args["streams"], "1 2");
    let failed = &imported.slices[named("capture graph 2")];
    assert_eq!(failed.args["code"], 107_025);
    assert!(
        failed.args["reason"]
            .as_str()
            .is_some_and(|why| why.contains("did not come back"))
    );
    let replay = |number: u32| {
        let place = imported
            .slices
            .iter()
            .position(|slice| slice.name == "graph 1" && slice.args["replay"] == number);
        place.expect("a replay")
    };
    let replays = [replay(1), replay(2)];
    // Each has an arrow from its launch, too.
    let completed = |place: usize| imported.slices[place].name == "aclmdlRICaptureEnd";
    let arrows = imported.flows.iter();
    let mut arrows: Vec<_> = arrows
        .filter(|(_, from, to)| replays.contains(to) && completed(*from))
        .map(|(_, from, to)| (imported.slices[*from].begin, *to))
        .collect();
    arrows.sort();
    assert_eq!(arrows, replays.map(|replay| (14, replay)));
    assert_eq!(imported.slices[replays[1]].args["replay"], 2);
    assert_eq!(imported.slices[replays[1]].args["nodes"], 6);
}

#[test]
fn only_replays_are_named_after_graphs() {
    let trace = trace();
    let names = trace.tasks().iter().map(|task| task_label(&trace, task));
    let graphs: Vec<_> = names.filter(|name| name.starts_with("graph")).collect();
    assert_eq!(graphs, ["graph 1"; 2]);
}
