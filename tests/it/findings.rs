//! `check` on real programs: findings other than races, and similar programs without a finding (`findings.c`).

use serde_json::Value;

use crate::support::{Recording, Run, program, run, tool};

/// Copies to the host that last longer than the program.
const SOFT: &str = "devices=1,d2h_mbps=100,h2d_mbps=1000";

/// How often a case without its findings runs again: on a busy machine, a cost may not show.
const RUNS: usize = 3;

/// A case, and the checks with findings in it, without those of objects that an early end leaves.
const CASES: [(&str, &[&str]); 43] = [
    ("finalized_early", &["copy-not-awaited"]),
    ("left_early", &["copy-not-awaited"]),
    ("finalized_after_sync", &[]),
    ("left_after_event", &[]),
    ("left_with_a_fill", &[]),
    ("reset_early", &["copy-not-awaited"]),
    ("reset_and_finalized_early", &["copy-not-awaited"]),
    ("reset_after_sync", &[]),
    ("reset_by_another_thread", &[]),
    ("left_with_a_copy_of_any_kind", &["copy-not-awaited"]),
    ("left_with_a_copy_on_the_device", &[]),
    ("waits_of_one_stream", &["needless-wait"]),
    ("waits_twice", &["needless-wait"]),
    ("waits_once", &[]),
    ("streams_in_turn_by_query", &["streams-in-turn"]),
    ("two_buffers", &[]),
    ("never_recorded", &["unrecorded-event"]),
    ("asked_and_timed_out", &[]),
    ("no_context", &["failed-call"]),
    ("copies_of_16_bytes", &["small-copies"]),
    ("some_copies_of_16_bytes", &[]),
    ("memory_each_round", &["made-each-round"]),
    ("memory_once", &[]),
    ("sync_each", &["sync-each-task"]),
    ("sync_each_few", &["sync-each-task"]),
    ("sync_at_the_end", &[]),
    ("streams_in_turn", &["streams-in-turn"]),
    ("streams_in_turn_for_one_memory", &[]),
    ("streams_at_once", &[]),
    ("directions_in_turn", &["copies-in-turn"]),
    ("directions_for_one_memory", &[]),
    ("freed_twice", &["used-after-end"]),
    ("used_after_free", &["used-after-end"]),
    ("used_after_new_allocation", &["failed-call"]),
    ("one_result_each_step", &[]),
    ("two_results_each_step", &["small-copies"]),
    ("gathered_by_copies", &["small-copies"]),
    ("some_memory_each_round", &["made-each-round"]),
    ("some_memory_now_and_then", &[]),
    ("a_graph_for_each_use", &["short-lived"]),
    ("a_graph_for_some_uses", &[]),
    ("sync_for_each_result", &[]),
    ("streams_in_turn_by_way_of_the_host", &[]),
];

#[track_caller]
fn recorded(case: &str) -> Recording {
    let run_of_case = Run::new(&program("findings")).words(&[case]);
    let recording = run_of_case.soft(SOFT).traced();
    let outcome = &recording.outcome;
    assert_eq!(outcome.status, 0, "{case}: {outcome}");
    assert_eq!(outcome.out().trim(), case, "{outcome}");
    recording
}

#[track_caller]
fn findings(recording: &Recording) -> Vec<Value> {
    let out = run(tool().arg("check").arg(recording.trace()).arg("--json"));
    let document: Value = serde_json::from_str(&out.expect(0).out()).unwrap();
    document["findings"].as_array().unwrap().clone()
}

/// The checks with findings in a run of a case, without those of objects that an early end leaves.
#[track_caller]
fn ids(case: &str) -> (Vec<String>, Vec<Value>) {
    let found = findings(&recorded(case));
    let ids = found.iter().filter_map(|it| it["check"].as_str());
    let mut ids: Vec<String> = ids.filter(|it| *it != "leak").map(str::to_owned).collect();
    if case == "memory_each_round" {
        // A fill alone is a short task, too.
        ids.retain(|it| *it != "sync-each-task");
    }
    (ids, found)
}

/// On a busy machine, a cost may not show. So a case without its findings runs again.
#[test]
fn each_mistake_and_cost_is_found_and_nothing_else() {
    for (case, expected) in CASES {
        let (mut own, mut found) = ids(case);
        for _ in 0..RUNS {
            if own.len() < expected.len() {
                (own, found) = ids(case);
            }
        }
        assert_eq!(own, expected, "{case}: {found:#?}");
    }
}

/// The loops fill the little memory with queries. Those that end them are recorded in any case.
#[test]
fn a_busy_loop_leaves_room_for_the_queries_that_end_it() {
    let run_of_case = Run::new(&program("findings")).words(&["streams_in_turn_by_busy_query"]);
    let recording = run_of_case.options(&["--buffer", "4"]).soft(SOFT).traced();
    assert_eq!(recording.outcome.status, 0, "{}", recording.outcome);
    let found = findings(&recording);
    let ids: Vec<&str> = found.iter().filter_map(|it| it["check"].as_str()).collect();
    assert!(ids.contains(&"streams-in-turn"), "{found:#?}");
}

/// Both calls of a mistake are named: the one that uses memory or ends the program, and the other.
#[test]
fn the_other_call_of_a_mistake_is_named() {
    for (case, check, name, other) in [
        ("freed_twice", "used-after-end", "aclrtFree", "aclrtFree"),
        (
            "used_after_free",
            "used-after-end",
            "aclrtMemcpyAsync",
            "aclrtFreeHost",
        ),
        (
            "finalized_early",
            "copy-not-awaited",
            "aclrtMemcpyAsync",
            "aclFinalize",
        ),
        (
            "reset_early",
            "copy-not-awaited",
            "aclrtMemcpyAsync",
            "aclrtResetDevice",
        ),
    ] {
        let found = findings(&recorded(case));
        let finding = found.iter().find(|it| it["check"] == check);
        let finding = finding.unwrap_or_else(|| panic!("{case}: {found:#?}"));
        assert_eq!(finding["site"]["name"], name, "{case}: {finding:#}");
        assert_eq!(finding["other"]["name"], other, "{case}: {finding:#}");
    }
}

#[test]
fn an_error_code_has_advice_of_its_own() {
    let found = findings(&recorded("no_context"));
    let advice = found[0]["advice"].as_str().unwrap();
    assert!(
        advice.contains("aclrtSetDevice or aclrtSetCurrentContext in this thread"),
        "{advice}"
    );
}
