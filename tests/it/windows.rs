//! Recordings of a part of a program: exactly the steps in the window are in the file, and all objects of the program.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::process::run;
use crate::support::tables::Tables;
use crate::support::{Recording, Run, program, tool};

/// Bytes of a fill of step 1 in `windows`.
const UNIT: i64 = 64;

fn windows(words: &[&str], options: &[&str]) -> Run {
    Run::new(&program("windows")).words(words).options(options)
}

/// The steps that have fills in the file, each with their number.
fn steps(table: &Tables) -> BTreeMap<i64, usize> {
    let mut steps = BTreeMap::new();
    let fills = table
        .tasks
        .iter()
        .filter(|task| task.text("kind") == "memset");
    // A node of the graph fills all of the memory, and ran on no stream.
    for task in fills.filter(|task| task.text("untimed") != "captured") {
        *steps.entry(task.number("bytes") / UNIT).or_default() += 1;
    }
    steps
}

fn info(recording: &Recording) -> Value {
    let mut command = tool();
    command.args(["info", "--json"]).arg(recording.trace());
    serde_json::from_str(&run(&mut command).expect(0).out()).unwrap()
}

/// Streams, memory, the event and the graph were made outside the window, and are known.
#[track_caller]
fn objects_are_known(recording: &Recording, table: &Tables, replays: u64) {
    for (name, times) in [
        ("aclrtCreateStream", 2),
        ("aclrtMalloc", 1),
        ("aclrtFree", 1),
        ("aclrtCreateEvent", 1),
        ("aclmdlRICaptureBegin", 1),
        ("aclmdlRICaptureEnd", 1),
        ("aclmdlRIDestroy", 1),
        ("aclrtDestroyStream", 2),
    ] {
        assert_eq!(table.count_calls(name), times, "{name}");
    }
    let info = info(recording);
    assert_eq!(info["lost"]["calls"], 0);
    let graphs = &info["graphs"];
    assert_eq!(
        (&graphs["nodes"], &graphs["replays"]),
        (&1.into(), &replays.into())
    );
}

/// All work of these steps is in the file, and none of the others.
#[track_caller]
fn has_only(recording: &Recording, wanted: std::ops::RangeInclusive<i64>) -> Tables {
    let table = Tables::of(recording);
    let expected: BTreeMap<_, _> = wanted.clone().map(|step| (step, 2)).collect();
    assert_eq!(steps(&table), expected);
    objects_are_known(recording, &table, wanted.count() as u64);
    table
}

#[test]
fn a_window_by_conditions_has_exactly_the_steps_between_them() {
    for (start, stop, wanted) in [
        ("step=4", "step=6", 4..=6),
        ("range=step 4", "range=step 4", 4..=4),
        ("graph=4", "graph=6", 4..=6),
        // Two fills in each step, and one in the capture before.
        ("call=aclrtMemsetAsync#8", "call=aclrtMemsetAsync#13", 4..=6),
        ("call=mstxRangeStartA#4", "call=mstxRangeEnd#6", 4..=6),
    ] {
        for timing in ["auto", "off"] {
            let options = ["--start-at", start, "--stop-at", stop, "--timing", timing];
            let recording = windows(&["9"], &options).compared();
            let table = Tables::of(&recording);
            let mut found = steps(&table);
            if start.starts_with("graph") {
                // The window begins and ends inside a step, with its replay.
                assert_eq!(
                    found.remove(&4),
                    None,
                    "the fills of step 4 come before its replay"
                );
                assert_eq!(found, [(5, 2), (6, 2)].into());
                assert_eq!(table.count_calls("aclmdlRIExecuteAsync"), 3);
                continue;
            }
            let replays = match stop {
                // The last fill is before the replay of its step.
                "call=aclrtMemsetAsync#13" => 2,
                _ => wanted.clone().count() as u64,
            };
            let expected: BTreeMap<_, _> = wanted.clone().map(|step| (step, 2)).collect();
            assert_eq!(found, expected, "{start} {stop} {timing}");
            objects_are_known(&recording, &table, replays);
        }
    }
}

#[test]
fn a_window_without_an_end_lasts_to_the_end_and_one_without_a_begin_from_the_begin() {
    let recording = windows(&["9"], &["--start-at", "step=7"]).compared();
    let table = has_only(&recording, 7..=9);
    // The event was recorded before the window.
    assert_eq!(table.count_calls("aclrtRecordEvent"), 0);
    assert_eq!(table.count_calls("aclrtStreamWaitEvent"), 1);
    let recording = windows(&["9"], &["--stop-at", "step=2"]).compared();
    let table = has_only(&recording, 1..=2);
    assert_eq!(table.count_calls("aclrtRecordEvent"), 1);
    assert_eq!(table.count_calls("aclrtStreamWaitEvent"), 0);
}

/// The steps before the window ran, and nothing is known of them: nothing is to blame for the time before the first task.
#[test]
fn the_time_before_a_window_has_no_known_cause() {
    let recording = windows(&["9", "20"], &["--start-at", "step=7"]).compared();
    let table = Tables::of(&recording);
    let first = table.tasks.iter().filter_map(|it| it.maybe("begin_ns"));
    let first = first.min().expect("a task");
    let before = table.stalls.iter().filter(|it| {
        it.maybe("tid").is_none() && it.number("begin_ns") < first && it.number("end_ns") >= first
    });
    let before: Vec<_> = before.collect();
    assert!(!before.is_empty());
    for stall in before {
        assert_eq!(stall.text("cause"), "unknown", "{stall:?}");
        let length = stall.number("end_ns") - stall.number("begin_ns");
        assert!(length >= 100_000_000, "six steps: {stall:?}");
    }
}

#[test]
fn simple_calls_at_the_borders_are_inside_and_others_outside() {
    // The only call of this function: nothing before and nothing after it is recorded, except objects.
    let options = [
        "--start-at",
        "call=aclrtFree",
        "--stop-at",
        "call=aclrtFree",
    ];
    let recording = windows(&["3"], &options).compared();
    let table = Tables::of(&recording);
    assert_eq!(steps(&table), BTreeMap::new());
    assert_eq!(table.count_calls("aclrtFree"), 1);
    assert_eq!(table.count_calls("aclrtSynchronizeStream"), 0);
    assert_eq!(info(&recording)["cost"]["pauses"], 2);
}

#[test]
fn a_condition_that_is_never_met_records_objects_alone() {
    let recording = windows(&["3"], &["--start-at", "range=none"]).compared();
    let table = Tables::of(&recording);
    assert_eq!(steps(&table), BTreeMap::new());
    objects_are_known(&recording, &table, 0);
    assert_eq!(info(&recording)["cost"]["pauses"], 1);
    let said = recording.outcome.err();
    let expected = "the recording did not begin: the condition of --start-at was not met";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn a_recording_that_did_not_begin_says_why() {
    for (options, reason) in [
        (&["--delay", "1h"][..], "before the time of --delay"),
        (&["--paused"], "the pause of --paused"),
        (&["--start-at", "signal=USR1"], "did not come"),
    ] {
        let recording = windows(&["3"], options).compared();
        let said = recording.outcome.err();
        assert!(said.contains("the recording did not begin: "), "{said}");
        assert!(said.contains(reason), "{said}");
    }
    let recording = windows(&["6", "0", "resume"], &["--paused"]).compared();
    assert!(!recording.outcome.err().contains("did not begin"));
}

#[test]
fn a_program_ends_the_pause_at_the_begin() {
    let recording = windows(&["6", "0", "resume"], &["--paused"]).compared();
    has_only(&recording, 4..=6);
}

/// Steps take 50 ms each: some are before the window, some in it, some after it. Which ones, depends on the machine.
#[test]
fn a_delay_and_a_duration_leave_out_the_begin_and_the_end() {
    let options = ["--delay", "500ms", "--duration", "500ms"];
    let recording = windows(&["40", "50"], &options).traced();
    assert_eq!(recording.outcome.status, 0, "{}", recording.outcome);
    let table = Tables::of(&recording);
    let found: Vec<i64> = steps(&table).into_keys().collect();
    assert!(!found.contains(&1) && !found.contains(&40), "{found:?}");
    let is_run = found.windows(2).all(|pair| pair[1] == pair[0] + 1);
    assert!(is_run, "one window: {found:?}");
    assert_eq!(table.count_calls("aclrtFree"), 1);
    assert_eq!(info(&recording)["cost"]["pauses"], 2);
}

#[test]
fn windows_that_contradict_each_other_are_refused() {
    for options in [
        &["--delay", "1s", "--paused"][..],
        &["--delay", "1s", "--start-at", "step=3"],
        &["--duration", "1s", "--stop-at", "step=3"],
        &["--delay", "0s"],
        &["--start-at", "call=malloc#3"],
        &["--stop-at", "soon"],
    ] {
        let mut command = tool();
        command.arg("record").args(options).arg("true");
        let outcome = run(&mut command);
        assert_eq!(outcome.status, 125, "{outcome}");
        assert!(outcome.err().contains(options[0]), "{outcome}");
    }
}
