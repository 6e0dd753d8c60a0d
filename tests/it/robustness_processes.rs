//! As `robustness`: processes that come about and end in unusual ways.

use serde_json::Value;

use crate::support::process::{run, tool};
use crate::support::{Recording, Run, Tables, program};

#[track_caller]
fn compare(name: &str, status: i32) -> (Recording, Tables) {
    let recording = Run::new(&program(name)).compared();
    recording.outcome.clone().expect(status);
    let tables = Tables::of(&recording);
    (recording, tables)
}

fn calls_by_process(tables: &Tables) -> Vec<usize> {
    let pids = tables.processes().into_iter();
    let mut counts: Vec<usize> = pids
        .map(|pid| {
            tables
                .outer_calls()
                .filter(|call| call.number("pid") == pid)
                .count()
        })
        .collect();
    counts.sort_unstable();
    counts
}

#[test]
fn a_forked_child_that_uses_the_runtime_from_scratch() {
    let (_, tables) = compare("fork", 0);
    assert_eq!(calls_by_process(&tables), [12, 23]);
    assert_eq!(tables.tasks.len(), 7);
    tables.all_timed();
}

#[test]
fn images_that_are_replaced_and_children_of_all_kinds() {
    let (recording, tables) = compare("exec", 7);
    // The first image, its successor under the same pid, and three children.
    assert_eq!(tables.outer_calls().count(), 5 * 9);
    assert_eq!(tables.tasks.len(), 5 * 2);
    assert_eq!(tables.processes().len(), 4);
    let mut info = tool();
    let output = run(info.args(["info", "--json"]).arg(recording.trace())).expect(0);
    let info: Value = serde_json::from_str(&output.out()).unwrap();
    let images = info["processes"].as_array().unwrap();
    let ns = |it: &Value, name: &str| it[name].as_i64().unwrap();
    for image in images {
        assert!(ns(image, "begin_ns") < ns(image, "end_ns"), "{images:?}");
    }
    // The successor comes when it ends.
    let (first, last) = (&images[0], &images[4]);
    assert_eq!(first["pid"], last["pid"], "{images:?}");
    assert!(ns(first, "end_ns") <= ns(last, "begin_ns"), "{images:?}");
}

#[test]
fn exit_in_another_thread() {
    let (_, tables) = compare("exit_in_thread", 7);
    let synchronised = tables.count_calls("aclrtSynchronizeEvent");
    assert!(synchronised >= 1000, "{synchronised}");
}

#[test]
fn exit_without_handlers() {
    let (recording, tables) = compare("quick_exit", 5);
    assert_eq!(recording.outcome.out(), "leaving\n");
    assert_eq!((tables.outer_calls().count(), tables.tasks.len()), (24, 20));
}

#[test]
fn abort() {
    let (_, tables) = compare("abort", 134);
    assert_eq!((tables.outer_calls().count(), tables.tasks.len()), (5, 1));
}

#[test]
fn a_main_thread_that_leaves_before_the_others() {
    let (_, tables) = compare("main_leaves", 8);
    assert_eq!((tables.outer_calls().count(), tables.tasks.len()), (23, 10));
    tables.all_timed();
}

#[test]
fn constructors_exit_handlers_and_destructors_that_call_the_runtime() {
    let (_, tables) = compare("early_and_late", 6);
    assert_eq!((tables.outer_calls().count(), tables.tasks.len()), (15, 4));
}
