//! Predictions, against programs that really run with the change.

use std::path::Path;

use serde_json::Value;

use crate::support::{Recording, Run, program, run, tool};

/// A byte copied takes a microsecond, and the queue has room for all that these programs submit.
const SOFT: &str = "d2d_mbps=1,copy_ns=0,queue=256";

/// Pairs of runs. What the machine does meanwhile makes one of them longer, by more than the error where much else runs.
const PAIRS: usize = 12;

fn predict(recording: &Path, changes: &[&str]) -> Value {
    let mut command = tool();
    command
        .args(["what-if", "--json"])
        .arg(recording)
        .args(changes);
    let outcome = run(&mut command).expect(0);
    serde_json::from_str(&outcome.out()).unwrap()
}

fn number(value: &Value, field: &str) -> i64 {
    value[field]
        .as_i64()
        .unwrap_or_else(|| panic!("no {field} in {value}"))
}

fn makespan(recording: &Recording) -> i64 {
    number(&predict(&recording.trace(), &["copy x1"]), "makespan_ns")
}

fn played(script: &str) -> Recording {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script");
    std::fs::write(&path, script).unwrap();
    let run = Run::new(&program("script"));
    run.words(&[path.to_str().unwrap()]).soft(SOFT).traced()
}

/// Two streams, of which the second waits for the first in each round; the host waits for the second. Copies take so many
/// microseconds.
fn script(copies: [u32; 3], wait: &str, sync: &str) -> String {
    let [first, second, third] = copies;
    let round = format!("c 0 {first}\nr 0 0\n{wait}c 1 {second}\nr 1 1\nc 1 {third}\n{sync}\n");
    format!("s 0\ns 1\ne 0\ne 1\n{}x 0\nx 1\n", round.repeat(6))
}

const COPIES: [u32; 3] = [40_000, 20_000, 30_000];

/// The words for the waits of the stream that has some.
fn no_waits(recording: &Path) -> String {
    let found = predict(recording, &[]);
    let predictions = found["predictions"].as_array().unwrap().iter();
    let words = predictions.filter_map(|it| it["changes"][0].as_str());
    let mut waits = words.filter(|it| it.ends_with("wait=none"));
    waits.next().expect("a stream waits").to_owned()
}

/// How far a prediction was off, and how far it may be.
fn off(original: &str, changes: &[&str], changed: &str) -> (i64, i64) {
    let recorded = played(original);
    let report = predict(&recorded.trace(), changes);
    let recorded = number(&report, "makespan_ns");
    assert!(
        number(&report, "unchanged_error_ns") <= recorded / 1_000,
        "{report}"
    );
    let found = &report["predictions"][0];
    assert!(
        number(found, "saved_ns") > recorded / 10,
        "{changes:?} changes much: {found}"
    );
    let bar = number(found, "error_ns").max(recorded / 50);
    let taken = makespan(&played(changed));
    (number(found, "makespan_ns") - taken, bar)
}

#[test]
fn programs_that_run_with_the_change_take_as_long_as_predicted() {
    let wait = "w 1 0\n";
    let original = script(COPIES, wait, "y 1");
    let waits = no_waits(&played(&original).trace());
    let half = COPIES.map(|it| it / 2);
    let cases = [
        (vec!["op=aclrtMemcpyAsync x0.5"], script(half, wait, "y 1")),
        (vec![waits.as_str()], script(COPIES, "", "y 1")),
        (vec!["sync=StreamSync->event"], script(COPIES, wait, "z 1")),
        (vec![waits.as_str(), "copy x0.5"], script(half, "", "y 1")),
    ];
    for (changes, changed) in cases {
        let mut tried = Vec::new();
        let is_met = (0..PAIRS).any(|_| {
            let (off, bar) = off(&original, &changes, &changed);
            tried.push((off, bar));
            off.abs() <= bar
        });
        assert!(is_met, "{changes:?}: off by, and may be off by: {tried:?}");
    }
}

#[test]
fn changes_that_match_nothing_are_refused() {
    let recorded = played(&script([2_000; 3], "w 1 0\n", "y 1"));
    let refuse = |change: &str| {
        let mut command = tool();
        command.arg("what-if").arg(recorded.trace()).arg(change);
        run(&mut command).expect(2).err()
    };
    for (change, why) in [
        ("op=MatMul x0", "no operation has this name"),
        ("stream=77 wait=none", "there is no such stream"),
        ("sync=DeviceSync->none", "no call of this function waited"),
        ("copy 0.5", "0.5 is no factor"),
        ("faster", "a change is 'op=NAME xFACTOR'"),
    ] {
        let said = refuse(change);
        assert!(said.contains(why), "{change}: {said}");
    }
    let mut command = tool();
    let text = run(command.arg("what-if").arg(recorded.trace()))
        .expect(0)
        .out();
    assert!(
        text.contains("Each change alone") && text.contains("op=aclrtMemcpyAsync x0.5"),
        "{text}"
    );
}

/// The demo waits for its compute stream, then copies on another one and waits for the device.
#[test]
fn blocking_calls_say_what_would_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stall.atrace");
    let mut command = tool();
    command.args(["demo", "--no-tui", "stall", "-o"]).arg(&path);
    run(&mut command).expect(0);
    let mut command = tool();
    command.args(["what-if", "--syncs", "--json"]).arg(&path);
    let found: Value = serde_json::from_str(&run(&mut command).expect(0).out()).unwrap();
    let rows = found["syncs"].as_array().unwrap();
    let narrower = |function: &str| {
        let own = rows
            .iter()
            .filter(|it| it["function"] == function && it["count"].as_i64() > Some(9));
        own.map(|it| it["narrower"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(narrower("aclrtSynchronizeStream"), ["none"], "{found}");
    assert_eq!(narrower("aclrtSynchronizeDevice"), ["stream"], "{found}");
}
