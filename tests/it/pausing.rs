//! Programs that pause the recording of themselves.

use serde_json::Value;

use crate::python::ranges;
use crate::support::process::run;
use crate::support::tables::{CsvRow, Tables};
use crate::support::{Recording, Run, program, tool};

fn recorded(timing: &str) -> Recording {
    let run = Run::new(&program("pausing")).options(&["--timing", timing]);
    run.compared()
}

fn document(recording: &Recording, command: &str) -> Value {
    let mut command_line = tool();
    command_line
        .args([command, "--json"])
        .arg(recording.trace());
    serde_json::from_str(&run(&mut command_line).expect(0).out()).unwrap()
}

/// Exactly the calls during the pause of the recording are missing.
fn only_what_was_paused_is_missing(recording: &Recording) -> Tables {
    let table = Tables::of(recording);
    for (name, times) in [
        ("aclrtMemsetAsync", 5 + 3 + 2 + 1),
        ("aclrtSynchronizeStream", 1 + 2),
        ("aclrtRecordEvent", 0),
        ("aclrtStreamWaitEvent", 1),
        // Later calls depend on these.
        ("aclrtCreateStream", 2),
        ("aclrtDestroyStream", 2),
        ("aclrtMalloc", 2),
        ("aclrtFree", 2),
        ("aclmdlRICaptureBegin", 1),
        ("aclmdlRICaptureEnd", 1),
        ("aclmdlRIExecuteAsync", 1),
    ] {
        assert_eq!(table.count_calls(name), times, "{name}");
    }
    let info = document(recording, "info");
    assert_eq!(info["lost"]["calls"], 0);
    assert_eq!(info["cost"]["pauses"], 1);
    let graphs = &info["graphs"];
    assert_eq!(
        (&graphs["nodes"], &graphs["replays"]),
        (&1.into(), &1.into())
    );
    let paused_ns = info["cost"]["paused_ns"].as_i64().unwrap();
    assert!(paused_ns >= 30_000_000, "{paused_ns}");
    let ranges = ranges(recording);
    let shown: Vec<_> = ranges
        .iter()
        .map(|row| {
            (
                row.text("kind"),
                row.text("name"),
                row.number("end_ns") - row.number("begin_ns"),
            )
        })
        .collect();
    assert_eq!(shown, [("pause", "recording paused", paused_ns)]);
    table
}

#[test]
fn what_later_calls_depend_on_is_recorded_during_a_pause() {
    for timing in ["events", "chained", "off"] {
        let recording = recorded(timing);
        let table = only_what_was_paused_is_missing(&recording);
        if timing != "off" {
            assert_eq!(table.untimed(), ["captured"]);
        }
    }
}

/// Nobody can say why a stream was idle between two tasks if others in between are missing.
#[test]
fn an_idle_interval_of_which_tasks_are_missing_has_no_cause() {
    let recording = recorded("events");
    let pauses = ranges(&recording);
    let (begin, end) = (pauses[0].number("begin_ns"), pauses[0].number("end_ns"));
    let table = Tables::of(&recording);
    let streams = table.stalls.iter().filter(|row| row.text("tid").is_empty());
    let over = |row: &&CsvRow| row.number("begin_ns") < begin && row.number("end_ns") > end;
    let causes: Vec<_> = streams.filter(over).map(|row| row.text("cause")).collect();
    assert_eq!(causes, ["unknown"]);
}

/// An entry of the hardware log without its task would have no known owner.
#[test]
fn with_the_hardwares_log_tasks_are_recorded_during_a_pause() {
    let recording = recorded("both");
    let table = Tables::of(&recording);
    assert_eq!(table.count_calls("aclrtMemsetAsync"), 5 + 7 + 3 + 2 + 1);
    assert_eq!(table.count_calls("aclrtSynchronizeStream"), 1 + 2);
    assert_eq!(document(&recording, "info")["cost"]["pauses"], 1);
}
