//! `--pools`: reserved and allocated memory of the caching allocator, judged by PyTorch's own counters.

use std::ffi::OsStr;

use serde_json::Value;

use super::{interpreter, program, source, text};
use crate::support::compile::soft;
use crate::support::process::{run, tool};
use crate::support::{Recording, Run};

fn memory_program(python: &OsStr, words: &[&str]) -> Run {
    let file = source("tests/programs/torch_memory.py");
    // torch_npu looks for the library of mstx there.
    let home = soft().lib.parent().expect("the folder of a CANN");
    program(python, &[&[file.as_str()][..], words].concat())
        .variable("ASCEND_HOME_PATH", text(home))
        .variable("ASCEND_OPP_PATH", text(&home.join("opp")))
}

/// The counts of the program, and its recording. The program prints the same alone.
#[track_caller]
fn counted(run_it: Run, options: &[&str]) -> (Value, Recording) {
    let bare = run_it.clone().bare().expect(0);
    let recording = run_it.options(options).traced();
    let traced = recording.outcome.clone().expect(0);
    assert_eq!(traced.out(), bare.out(), "{traced}");
    assert!(!traced.err().contains("LOST"), "{traced}");
    let line = traced.out();
    let line = line.lines().last().expect("its counts");
    (serde_json::from_str(line).unwrap(), recording)
}

fn memory(recording: &Recording) -> Value {
    let mut command = tool();
    command.args(["stats", "--memory", "--json"]);
    let output = run(command.arg(recording.trace())).expect(0);
    serde_json::from_str(&output.out()).unwrap()
}

#[track_caller]
fn pool(found: &Value) -> &Value {
    let pools = found["pools"].as_array().unwrap().iter();
    let cached = pools.filter(|it| it["place"] == "caching allocator of device 0");
    let cached: Vec<&Value> = cached.collect();
    let [pool] = cached[..] else {
        panic!("{found:#}")
    };
    pool
}

#[test]
fn peaks_and_ends_are_those_of_pytorch() {
    let Some(python) = interpreter() else { return };
    let run_it = memory_program(&python, &[]);
    let (counts, recording) = counted(run_it, &["--pools", "--python"]);
    let found = memory(&recording);
    let pool = pool(&found);
    for (own, field) in [
        ("max_allocated", "peak_allocated_bytes"),
        ("max_reserved", "peak_reserved_bytes"),
        ("allocated", "end_allocated_bytes"),
        ("reserved", "end_reserved_bytes"),
    ] {
        assert_eq!(counts[own], pool[field], "{own}: {counts} {pool}");
    }
    assert_eq!(found["missed_blocks"], 0);
    // The runtime adds some bytes to each segment.
    let [in_use, reserved] = ["in_use", "reserved"].map(|it| counts[it].as_u64().unwrap());
    assert!(
        (reserved..reserved + (1 << 16)).contains(&in_use),
        "{counts}"
    );
    let step = pool["peak_allocated_step"].as_str().unwrap_or_default();
    assert!(step.starts_with("step "), "{pool}");
    let steps = found["steps"].as_array().unwrap().iter();
    let own = steps.filter(|it| it["place"] == pool["place"]).count();
    assert_eq!(own, 6, "{found:#}");
}

#[test]
fn a_failed_allocation_has_what_was_reserved_and_not_used() {
    let Some(python) = interpreter() else { return };
    let limit = (3_u64 << 30).to_string();
    let words = ["--limit", &limit, "--empty"];
    let run_it = memory_program(&python, &words).soft("memory=1073741824");
    let (counts, recording) = counted(run_it, &["--pools"]);
    let found = memory(&recording);
    let pool = pool(&found);
    assert_eq!(counts["reserved"], pool["end_reserved_bytes"], "{pool}");
    assert_eq!(counts["allocated"], pool["end_allocated_bytes"], "{pool}");
    let refused = &found["refused"][0];
    assert_eq!(refused["unused_bytes"], counts["unused"], "{refused}");
    assert!(counts["unused"].as_u64() > Some(0), "{counts}");
}

/// Segments that grow are physical memory with addresses.
#[test]
fn expandable_segments_are_reserved_memory() {
    let Some(python) = interpreter() else { return };
    let run_it =
        memory_program(&python, &[]).variable("PYTORCH_NPU_ALLOC_CONF", "expandable_segments:True");
    let (counts, recording) = counted(run_it, &["--pools"]);
    let found = memory(&recording);
    let pool = pool(&found);
    assert_eq!(counts["max_allocated"], pool["peak_allocated_bytes"]);
    assert_eq!(counts["max_reserved"], pool["peak_reserved_bytes"]);
}

#[test]
fn without_the_option_no_blocks_are_reported() {
    let Some(python) = interpreter() else { return };
    let (counts, recording) = counted(memory_program(&python, &["--steps", "2"]), &[]);
    let found = memory(&recording);
    assert_eq!(found["pools"], Value::Array(Vec::new()));
    let device = &found["places"][0];
    assert!(
        device["peak_bytes"].as_u64() >= counts["max_reserved"].as_u64(),
        "{device}"
    );
}
