//! Views of TensorBoard's plugin for PyTorch's profiler, loaded from `export --format kineto` by the plugin itself, compared with
//! the reports.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::readers::skip;
use crate::support::{CsvRow, Recording, Run, Tables, program, run, tool};

/// Steps of the job, and elements that it reduces in each.
const STEPS: u64 = 4;
const ELEMENTS: u64 = 1 << 16;

/// The interpreter with the plugin.
fn interpreter() -> Option<PathBuf> {
    let variable = "ASCEND_TRACE_KINETO_PYTHON";
    let named = std::env::var_os(variable).map(PathBuf::from);
    if named.is_none() {
        skip(&format!(
            "{variable} names no python with torch-tb-profiler"
        ));
    }
    named
}

fn document(words: &[&str], recording: &Recording) -> Value {
    let mut command = tool();
    command.args(words).arg("--json").arg(recording.trace());
    serde_json::from_str(&run(&mut command).expect(0).out()).unwrap()
}

/// Everything that the plugin shows of a recording.
#[track_caller]
fn board(recording: &Recording, python: &Path) -> Value {
    let folder = recording.beside("kineto");
    let mut command = tool();
    command.args(["export", "--format", "kineto", "--force", "-o"]);
    run(command.arg(&folder).arg(recording.trace())).expect(0);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/kineto_board.py");
    let done = Command::new(python)
        .arg(script)
        .arg(folder)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{errors}");
    serde_json::from_slice(&done.stdout).unwrap_or_else(|error| panic!("{error}: {errors}"))
}

fn job(ranks: u64) -> Recording {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root").display().to_string();
    let (steps, all) = (STEPS.to_string(), ranks.to_string());
    let words = ["all", &root, &steps, "1", &all];
    let run_of_job = Run::new(&program("job")).words(&words);
    let recording = run_of_job.options(&["--timing", "events"]).traced();
    assert_eq!(recording.outcome.status, 0, "{}", recording.outcome);
    recording
}

#[track_caller]
fn find<'d>(rows: &'d Value, key: &str, wanted: &str) -> &'d Value {
    let rows = rows.as_array().unwrap_or_else(|| panic!("rows: {rows}"));
    let mut found = rows.iter().filter(|it| it[key] == wanted);
    let row = found.next().unwrap_or_else(|| panic!("{wanted}: {rows:?}"));
    assert!(found.next().is_none(), "{wanted} twice: {rows:?}");
    row
}

#[track_caller]
fn number(row: &Value, key: &str) -> f64 {
    row[key]
        .as_f64()
        .unwrap_or_else(|| panic!("{key} of {row}"))
}

#[track_caller]
fn close(found: f64, expected: f64, error: f64) {
    assert!(
        (found - expected).abs() <= error,
        "{found}, expected {expected} ± {error}"
    );
}

/// Number and microseconds of tasks with a name on a rank.
fn tasks(tables: &Tables, rank: u64, name: &str) -> (u64, f64) {
    let rank = rank.to_string();
    let own = tables
        .tasks
        .iter()
        .filter(|it| it.text("rank") == rank && it.text("name") == name);
    let length = |it: &CsvRow| Some(it.maybe("end_ns")? - it.maybe("begin_ns")?);
    own.filter_map(length).fold((0, 0.0), |(count, sum), ns| {
        (count + 1, sum + ns as f64 / 1e3)
    })
}

#[test]
fn operators_and_steps_are_those_of_the_reports() {
    let Some(python) = interpreter() else { return };
    let recording = job(2);
    let tables = Tables::of(&recording);
    let steps = document(&["steps"], &recording);
    let found = board(&recording, &python);
    for rank in 0..2 {
        let own = &found["ranks"][format!("rank-{rank}")];
        for (name, operator) in [
            ("aclnnRelu", "aclnnRelu"),
            ("aclrtMemcpyAsync", "aclrtMemcpyAsync"),
            ("HcclAllReduce", "nccl:all_reduce"),
        ] {
            let (count, device_us) = tasks(&tables, rank, name);
            let row = find(&own["operators"], "name", operator);
            assert_eq!(row["calls"], count, "{row}");
            close(number(row, "device_total_duration"), device_us, 1.0);
        }
        let row = find(&own["inputs"], "name", "aclnnRelu");
        assert_eq!(row["input_shape"], "[[262144]]", "{row}");
        let (count, device_us) = tasks(&tables, rank, "aclnnRelu");
        let kernel = find(&own["kernels"], "Name", "aclnnRelu");
        assert_eq!(kernel["Calls"], count, "{kernel}");
        close(number(kernel, "Total Duration (us)"), device_us, 1.0);
        check_steps(own, &steps, rank);
    }
}

/// The plugin leaves out the last step where it had less work than the one before.
#[track_caller]
fn check_steps(own: &Value, steps: &Value, rank: u64) {
    let rows = own["steps"].as_array().unwrap();
    assert!(rows.len() as u64 >= STEPS - 1, "{own}");
    for row in rows {
        let name = format!("step {}", row["Step"].as_str().unwrap());
        let all = steps["steps"].as_array().unwrap().iter();
        let mut same = all.filter(|it| it["rank"] == rank && it["name"] == name.as_str());
        let step = same.next().expect("a step");
        // One kind of work hides the other where they run at the same time.
        let work = number(row, "Kernel") + number(row, "Communication");
        let [computing, exposed] =
            ["compute_ns", "exposed_communication_ns"].map(|it| number(step, it) / 1e3);
        let error = number(step, "error_ns") / 1e3 + 1.0;
        close(work, computing + exposed, error);
    }
}

#[test]
fn collectives_of_two_ranks_are_those_of_the_report() {
    let Some(python) = interpreter() else { return };
    let recording = job(2);
    let tables = Tables::of(&recording);
    let found = board(&recording, &python);
    for rank in 0..2 {
        let worker = format!("rank-{rank}");
        let table = &found["distributed"]["operations"][&worker];
        let row = find(table, "Name", "nccl:all_reduce");
        assert_eq!(row["Calls"], STEPS, "{row}");
        assert_eq!(row["Total Size (bytes)"], STEPS * ELEMENTS * 4, "{row}");
        // The plugin adds the time of the call itself, where the task does not run.
        let (count, device_us) = tasks(&tables, rank, "HcclAllReduce");
        assert_eq!(count, STEPS);
        let latency = number(row, "Total Latency (us)");
        let row = find(
            &found["ranks"][&worker]["operators"],
            "name",
            "nccl:all_reduce",
        );
        let host_us = number(row, "host_total_duration");
        assert!(latency >= device_us - 1.0, "{latency} {device_us}");
        assert!(latency <= device_us + host_us + 1.0, "{latency} {host_us}");
    }
}

#[test]
fn memory_is_that_of_the_allocator() {
    let Some(python) = interpreter() else { return };
    let recording = Run::new(&program("caching"))
        .soft("memory=1073741824")
        .traced();
    let found = board(&recording, &python);
    let memory = &found["ranks"]["rank-0"]["memory"];
    let stats = document(&["stats", "--memory"], &recording);
    let pool = find(&stats["pools"], "place", "caching allocator of device 0");
    assert_eq!(memory["peaks"]["0"], pool["peak_allocated_bytes"]);
    assert_eq!(memory["reserved"], pool["peak_reserved_bytes"]);
    let end = ["end_allocated_bytes", "end_reserved_bytes"].map(|it| pool[it].clone());
    let last = memory["last"].as_array().unwrap();
    assert_eq!(last[0], end[0], "{memory}");
}
