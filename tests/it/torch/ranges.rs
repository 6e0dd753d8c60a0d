//! `--python`: steps, phases and modules of a PyTorch training loop.

use std::ffi::OsStr;

use serde_json::Value;

use super::{interpreter, program, source, without_warnings};
use crate::support::process::{run, tool};
use crate::support::tables::{CsvRow, Tables};
use crate::support::{Recording, Run};

const PROGRAM: &str = "tests/programs/torch_ranges.py";

fn ranged(python: &OsStr, words: &[&str]) -> Run {
    let file = source(PROGRAM);
    program(python, &[&[file.as_str()][..], words].concat())
}

/// Runs it alone and with the hook, and compares their output.
#[track_caller]
fn with_hook(run_it: &Run) -> Recording {
    let bare = run_it.clone().bare().expect(0);
    let recording = run_it.clone().options(&["--python"]).traced();
    let traced = recording.outcome.clone().expect(0);
    let printed = [&traced, &bare].map(|outcome| without_warnings(&outcome.out()));
    assert_eq!(printed[0], printed[1], "{traced}");
    assert!(!traced.err().contains("LOST"), "{traced}");
    recording
}

fn document(recording: &Recording, command: &str) -> Value {
    let mut command = {
        let mut tool = tool();
        tool.arg(command);
        tool
    };
    let output = run(command.arg("--json").arg(recording.trace())).expect(0);
    serde_json::from_str(&output.out()).unwrap()
}

fn texts<'v>(rows: &'v Value, name: &str) -> Vec<&'v str> {
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| row[name].as_str().unwrap_or_default())
        .collect()
}

#[test]
fn fifty_steps_have_phases_modules_and_a_verdict() {
    let Some(python) = interpreter() else { return };
    let recording = with_hook(&ranged(&python, &["--steps", "50"]));
    let stats = document(&recording, "stats");
    let names: Vec<String> = (0..50).map(|number| format!("step {number}")).collect();
    assert_eq!(texts(&stats["steps"], "name"), names);
    let mut all = [0; 2];
    for step in stats["steps"].as_array().unwrap() {
        let ns = |name: &str| step[name].as_i64().unwrap();
        assert!(step["verdict"].is_string(), "{step}");
        let busy = ["compute_ns", "exposed_communication_ns", "exposed_copy_ns"].map(ns);
        assert_eq!(busy.iter().sum::<i64>() + ns("idle_ns"), ns("length_ns"));
        all = [all[0] + ns("compute_ns"), all[1] + ns("tasks")];
    }
    // The device is behind the host: a step may run few of its tasks.
    assert!(all[0] > 0 && all[1] > 500, "{all:?}");
    let count = |kind: &str, name: &str| {
        let rows = stats["ranges"].as_array().unwrap().iter();
        let mut own = rows.filter(|row| row["kind"] == kind && row["name"] == name);
        own.next()
            .map_or(0, |row| row["time"]["count"].as_u64().unwrap())
    };
    assert_eq!(count("step", "step #"), 50);
    assert_eq!(count("phase", "optimizer"), 50);
    assert!(count("phase", "backward") >= 50 && count("phase", "forward") >= 100);
    assert!(count("module", "Sequential") >= 50 && count("module", "MSELoss") == 50);
    assert!(count("module", "1.wide (Linear)") >= 50 && count("function", "inside") >= 50);
    assert!(count("loader", "dataloader") >= 50 && count("fetch", "fetch") >= 50);
    let operations = stats["module_operations"].as_array().unwrap();
    let has = |phase: &str, module: Value| {
        let mut own = operations.iter();
        own.any(|row| row["phase"] == phase && row["module"] == module && row["count"] == 50)
    };
    assert!(has("forward", "MSELoss".into()), "{operations:?}");
    // Planned by autograd's thread: the first gradient, and those of each module, the separate `relu`
    // included.
    assert!(has("backward", Value::Null), "{operations:?}");
    for (module, operation) in [
        ("MSELoss", "aclnnMseLossBackward"),
        ("1.out (Linear)", "aclnnReduceSum"),
        ("1 (Head)", "aclnnThresholdBackward"),
        ("1.wide (Linear)", "aclnnReduceSum"),
        ("0 (Linear)", "aclnnReduceSum"),
    ] {
        let mut own = operations.iter().filter(|row| row["module"] == module);
        let mut own = own.by_ref().filter(|row| row["phase"] == "backward");
        let found = own.find(|row| row["operation"] == operation);
        assert_eq!(found.map(|row| &row["count"]), Some(&50.into()), "{module}");
    }
    let tables = Tables::of(&recording);
    let plans = tables.dependencies.iter();
    let plans = plans.filter(|row| row.text("kind") == "plan").count();
    // A release that updates all weights by one operator has fewer.
    assert!(plans > 500, "{plans}");
    let file = recording.beside("csv").join("ranges.csv");
    let ranges = CsvRow::all(&std::fs::read_to_string(file).unwrap());
    let span = |row: &CsvRow| (row.number("begin_ns"), row.number("end_ns"));
    let of = |kind: &'static str| ranges.iter().filter(move |row| row.text("kind") == kind);
    let passes: Vec<_> = of("phase")
        .filter(|row| row.text("name") == "backward")
        .map(span)
        .collect();
    // Also the last one of each pass, after which autograd's thread sleeps.
    for (begin, end) in of("backward").map(span) {
        let within = |pass: &&(i64, i64)| pass.0 <= begin && end <= pass.1;
        assert!(passes.iter().any(|pass| within(&pass)), "{begin} {end}");
    }
}

#[test]
fn a_slow_loader_is_named() {
    let Some(python) = interpreter() else { return };
    let recording = with_hook(&ranged(&python, &["--steps", "8", "--slow", "300"]));
    let stats = document(&recording, "stats");
    let verdicts = texts(&stats["steps"], "verdict");
    let by_data = verdicts.iter().filter(|it| **it == "data-bound").count();
    assert!(by_data > 4, "{verdicts:?}");
    // Beside other programs, the longest gap can be another one: torch loads parts of itself late.
    let stalls = stats["worst_stalls"].as_array().unwrap().iter();
    let of_loader: Vec<&Value> = stalls
        .filter(|stall| stall["late"]["range"] == "dataloader > fetch")
        .collect();
    let mut longest = 0;
    for stall in of_loader {
        let late = &stall["late"];
        assert_eq!(stall["cause"], "host-late", "{stall}");
        assert_eq!(late["is_main"], true, "{stall}");
        let parts = ["python_ns", "planning_ns", "queue_ns", "launch_ns"];
        let parts = parts.map(|name| late[name].as_i64().unwrap());
        assert_eq!(parts.iter().sum::<i64>(), stall["length_ns"], "{stall}");
        longest = parts[0].max(longest);
    }
    // A device that is behind has work left for a part of the time.
    assert!(longest > 200_000_000, "{stats}");
    let mut text = tool();
    let text = run(text.arg("stats").arg(recording.trace())).expect(0);
    assert!(
        text.out()
            .contains("main thread in range dataloader > fetch"),
        "{text}"
    );
}

#[test]
fn workers_of_a_loader_are_processes_that_fetch() {
    let Some(python) = interpreter() else { return };
    let words = ["--steps", "6", "--slow", "20", "--workers", "2"];
    let recording = with_hook(&ranged(&python, &words));
    let info = document(&recording, "info");
    let names = texts(&info["processes"], "name");
    assert_eq!(names, ["torch_ranges.py"; 3]);
    let file = recording.beside("csv");
    Tables::of(&recording);
    let ranges = CsvRow::all(&std::fs::read_to_string(file.join("ranges.csv")).unwrap());
    let fetches = |process: i64| {
        let own = ranges.iter().filter(|row| row.number("process") == process);
        let own: Vec<&str> = own.map(|row| row.text("kind")).collect();
        assert!(own.iter().all(|kind| *kind == "fetch") || process == 0);
        own.iter().filter(|kind| **kind == "fetch").count()
    };
    assert_eq!(fetches(1) + fetches(2), 6);
}

#[test]
fn ranks_of_torchrun_have_separate_steps() {
    let Some(python) = interpreter() else { return };
    let file = source("tests/programs/torch_distributed.py");
    let words = [
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        "2",
        &file,
    ];
    let recording = with_hook(&program(&python, &words).soft("devices=2"));
    let stats = document(&recording, "stats");
    let steps = stats["steps"].as_array().unwrap();
    for rank in [0, 1] {
        let own = steps.iter().filter(|step| step["rank"] == rank);
        let shared = own.filter(|step| step["communication_ns"].as_i64() > Some(0));
        assert!(shared.count() > 1, "{steps:?}");
    }
}

/// The program names its steps itself: no hook is in its interpreter.
#[test]
fn steps_that_a_program_names_are_those_of_the_recording() {
    let Some(python) = interpreter() else { return };
    let file = source("tests/programs/torch_named_steps.py");
    let modules = source("python");
    let named = program(&python, &[file.as_str()]).variable("PYTHONPATH", &modules);
    let bare = named.clone().bare().expect(0);
    let recording = named.traced();
    let traced = recording.outcome.clone().expect(0);
    assert_eq!(traced.out(), bare.out(), "{traced}");
    let steps = document(&recording, "steps");
    let names = ["step 0", "step 1", "step 2", "step 3"];
    assert_eq!(texts(&steps["steps"], "name"), names, "{steps}");
    for step in steps["steps"].as_array().unwrap() {
        assert!(step["compute_ns"].as_i64().unwrap() > 0, "{step}");
        assert!(step["tasks"].as_i64().unwrap() >= 2, "{step}");
    }
    let stats = document(&recording, "stats");
    let multiply = stats["ranges"].as_array().unwrap().iter();
    let multiply: Vec<&Value> = multiply
        .filter(|range| range["name"] == "multiply")
        .collect();
    assert_eq!(multiply.len(), 1, "{stats}");
}
