//! One program for each way in which programs get at a function of AscendCL. Each is run bare and
//! traced: it must see the same, and the trace must hold exactly the calls that it made.

mod every;
mod libraries;
mod names;
mod others;
mod several;

use std::path::{Path, PathBuf};

use crate::engine;
use crate::support::compile::built;
use crate::support::process::clean;
use crate::support::{CsvRow, Run, Tables, run};

const C: &[&str] = &["-std=gnu11", "-O1", "-pthread", "-ldl"];
const LINKED: &[&str] = &[
    "-std=gnu11",
    "-O1",
    "-pthread",
    "-ldl",
    "-Wl,--no-as-needed",
    "-lascendcl",
];
const LIBRARY: &[&str] = &["-std=gnu11", "-O1", "-shared", "-fPIC", "-ldl"];

fn program(name: &str, options: &[&str]) -> PathBuf {
    built(name, &format!("{name}.c"), options)
}

fn library(name: &str, options: &[&str]) -> PathBuf {
    let options = [LIBRARY, options].concat();
    built(&format!("{name}.so"), &format!("{name}.c"), &options)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Runs it with both engines; returns the calls that the preloaded engine has intercepted.
#[track_caller]
fn compare(run: &Run) -> Tables {
    let tables = Tables::of(&run.compared());
    let patched = Tables::of(&engine::patched(run).compared());
    assert_eq!(outer(&patched), outer(&tables), "the engine that patches");
    assert_eq!(patched.tasks.len(), tables.tasks.len());
    tables
}

/// Calls of the program, with their results, in an order that threads do not change. Without those that
/// wait for reports: the number of their looks depends on time.
fn outer(tables: &Tables) -> Vec<(&str, &str)> {
    let calls = tables.outer_calls();
    let mut calls: Vec<_> = calls
        .filter(|it| it.text("name") != "aclrtProcessReport")
        .map(|it| (it.text("name"), it.text("ret_name")))
        .collect();
    calls.sort_unstable();
    calls
}

fn names(tables: &Tables) -> Vec<&str> {
    tables.calls.iter().map(|call| call.text("name")).collect()
}

/// The calls of `ways_run`, in their order.
const SEQUENCE: [&str; 13] = [
    "aclInit",
    "aclrtSetDevice",
    "aclrtCreateStream",
    "aclrtMalloc",
    "aclrtMemsetAsync",
    "aclrtMemsetAsync",
    "aclrtMemsetAsync",
    "aclrtSynchronizeStream",
    "aclrtGetDevice",
    "aclrtFree",
    "aclrtDestroyStream",
    "aclrtResetDevice",
    "aclFinalize",
];

/// Whether a call passed this, as the table's JSON has it.
#[track_caller]
fn passed(call: &CsvRow, what: &str) {
    assert!(call.text("args").contains(what), "{what} in {call:?}");
}

/// The sequence was intercepted this number of times, with its arguments and results.
#[track_caller]
fn holds_sequence(tables: &Tables, times: usize) {
    assert_eq!(names(tables), SEQUENCE.repeat(times));
    let fills = tables
        .calls
        .iter()
        .filter(|call| call.text("name") == "aclrtMemsetAsync");
    for (call, value) in fills.zip([1, 2, 3].into_iter().cycle()) {
        passed(call, &format!("\"value\":{value}"));
        passed(call, &format!("\"count\":{}", value * 100));
        assert_eq!(call.text("device"), "1");
    }
    for call in &tables.calls {
        let is_refused = call.text("name") == "aclrtGetDevice";
        let expected = if is_refused {
            "ACL_ERROR_INVALID_PARAM"
        } else {
            "ACL_SUCCESS"
        };
        assert_eq!(call.text("ret_name"), expected, "{call:?}");
        assert_eq!(call.text("depth"), "0");
    }
    assert_eq!(tables.tasks.len(), 3 * times);
    tables.all_timed();
}

#[test]
fn linked_and_called_by_name() {
    holds_sequence(&compare(&Run::new(&program("way_direct", LINKED))), 1);
}

#[test]
fn linked_with_all_names_bound_at_the_start() {
    let program = program("way_direct", LINKED);
    let run = Run::new(&program).variable("LD_BIND_NOW", "1");
    holds_sequence(&compare(&run), 1);
    let options = [LINKED, &["-fno-plt", "-Wl,-z,now", "-Wl,-z,relro"]].concat();
    let program = built("way_direct_now", "way_direct.c", &options);
    holds_sequence(&compare(&Run::new(&program)), 1);
}

#[test]
fn fetched_from_a_handle_in_a_separate_scope() {
    holds_sequence(&compare(&Run::new(&program("way_handle", C))), 1);
}

#[test]
fn fetched_with_rtld_next() {
    holds_sequence(&compare(&Run::new(&program("way_next", LINKED))), 1);
}

#[test]
fn fetched_from_everything_that_is_loaded() {
    holds_sequence(&compare(&Run::new(&program("way_default", LINKED))), 1);
}

#[test]
fn fetched_by_a_plugin_from_its_scope() {
    let plugin = library("way_plugin", &["-Wl,--no-as-needed", "-lascendcl"]);
    let run = Run::new(&program("way_plugin_host", C)).words(&[text(&plugin)]);
    let recording = run.compared();
    recording.outcome.clone().expect(7);
    holds_sequence(&Tables::of(&recording), 2);
}

#[test]
fn fetched_from_python() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/way_ctypes.py");
    let Some(python) = tool_in_path("python3") else {
        eprintln!("skipped: there is no python3");
        return;
    };
    let run = Run::new(&python).words(&[text(&script)]);
    holds_sequence(&compare(&run), 1);
}

#[test]
fn called_by_a_static_object_before_and_after_main() {
    if tool_in_path("c++").is_none() {
        eprintln!("skipped: there is no C++ compiler");
        return;
    }
    let program = built("way_static", "way_static.cc", &["-O1", "-lascendcl"]);
    holds_sequence(&compare(&Run::new(&program)), 1);
}

#[test]
fn called_by_the_constructor_and_destructor_of_a_library() {
    let worker = library("way_constructor", &["-lascendcl"]);
    let options = [C, &["-Wl,--no-as-needed", text(&worker)]].concat();
    let program = built("way_constructed", "way_empty.c", &options);
    holds_sequence(&compare(&Run::new(&program)), 2);
}

/// The first program of this name in the test's own `PATH`.
pub(crate) fn tool_in_path(name: &str) -> Option<PathBuf> {
    let outcome = run(clean("sh").args(["-c", "command -v \"$0\"", name]));
    (outcome.status == 0).then(|| PathBuf::from(outcome.out().trim_end()))
}
