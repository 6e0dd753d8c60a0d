//! `check` on real programs: mistakes of `races.c` are found, and nothing in correct programs.

use std::path::Path;

use serde_json::Value;

use crate::support::{Outcome, Recording, Run, feed, program, run, tool};

/// Copies that take long enough that work is pending when the program goes on.
pub(crate) const SOFT: &str = "devices=1,d2d_mbps=50,memset_mbps=50,h2d_mbps=50,d2h_mbps=50";

/// Cases with a mistake, and the check that finds it.
const MISTAKES: [(&str, &str); 20] = [
    ("no_wait", "data-race"),
    ("wait_too_late", "data-race"),
    ("record_too_early", "data-race"),
    ("wrong_stream_waits", "data-race"),
    ("wrong_event", "data-race"),
    ("wrong_sync", "data-race"),
    ("write_after_read", "data-race"),
    ("write_after_write", "data-race"),
    ("pinned_reused", "data-race"),
    ("blocking_copy", "data-race"),
    ("other_thread", "data-race"),
    ("second_round", "data-race"),
    ("free_early", "freed-in-use"),
    ("free_host_early", "freed-in-use"),
    ("free_after_other_sync", "freed-in-use"),
    ("pool_free_early", "freed-in-use"),
    ("columns_overlap", "data-race"),
    ("row_read_early", "data-race"),
    ("read_beyond_a_copy", "unwritten-read"),
    ("forced", "destroyed-with-work"),
];

const CORRECT: [&str; 21] = [
    "ordered_by_event",
    "ordered_by_third_stream",
    "ordered_by_sync",
    "ordered_by_event_sync",
    "ordered_by_device_sync",
    "ordered_by_query",
    "ordered_by_one_stream",
    "ordered_by_pageable_copy",
    "ordered_by_notify",
    "ordered_by_callback",
    "ordered_rounds",
    "apart",
    "two_reads",
    "free_after_sync",
    "free_with_sync",
    "freed_and_made_again",
    "drained",
    "pool_free_in_order",
    "columns_apart",
    "row_read_between",
    "read_of_two_copies",
];

/// The same of operators.
const MISTAKES_OF_OPERATORS: [(&str, &str); 7] = [
    ("input_not_waited_for", "data-race"),
    ("output_not_waited_for", "data-race"),
    ("one_operator_after_another", "data-race"),
    ("in_place", "data-race"),
    ("rows_that_overlap", "data-race"),
    ("transposed_view", "data-race"),
    ("freed_too_early", "freed-in-use"),
];

const CORRECT_OPERATORS: [&str; 5] = [
    "ordered",
    "two_readers",
    "rows_apart",
    "halves_apart",
    "freed_after_a_sync",
];

/// Mistakes with threads, host functions and ended things.
const OTHER_MISTAKES: [(&str, &str); 7] = [
    ("host_function_allocates", "call-in-callback"),
    ("stream_after_reset", "used-after-end"),
    ("memory_after_reset", "used-after-end"),
    ("stream_after_destroy", "used-after-end"),
    ("event_after_destroy", "used-after-end"),
    ("context_after_destroy", "used-after-end"),
    ("stream_after_its_context", "used-after-end"),
];

/// The programs nearest to them, and what fails in them for another reason.
const OTHERS_WITHOUT: [(&str, &[&str]); 5] = [
    ("host_function_asks", &[]),
    ("host_function_wakes_a_thread", &[]),
    ("made_again_after_reset", &[]),
    ("reset_of_two_references", &["failed-call"]),
    ("failed_for_another_reason", &["failed-call"]),
];

/// A recording of a case. Also without times, it has the order of the calls.
#[track_caller]
fn recorded(case: &str, options: &[&str]) -> Recording {
    recorded_of("races", case, options)
}

#[track_caller]
fn recorded_of(name: &str, case: &str, options: &[&str]) -> Recording {
    let run = Run::new(&program(name)).words(&[case]).options(options);
    let recording = run.soft(SOFT).traced();
    let outcome = &recording.outcome;
    assert_eq!(outcome.status, 0, "{case}: {outcome}");
    assert_eq!(outcome.out().trim(), case, "{outcome}");
    recording
}

fn check(trace: &Path, words: &[&str]) -> Outcome {
    run(tool().arg("check").arg(trace).args(words))
}

/// The checks that found something at least as bad as a warning.
#[track_caller]
pub(crate) fn found(trace: &Path) -> Vec<String> {
    found_where(trace, |it| it["severity"] != "info")
}

#[track_caller]
fn found_where(trace: &Path, counts: impl Fn(&Value) -> bool) -> Vec<String> {
    let out = check(trace, &["--json"]).expect(0).out();
    let document: Value = serde_json::from_str(&out).unwrap();
    let findings = document["findings"].as_array().unwrap().iter();
    let ids = findings
        .filter(|it| counts(it))
        .filter_map(|it| it["check"].as_str());
    ids.map(str::to_owned).collect()
}

#[test]
fn mistakes_are_found() {
    for (case, id) in MISTAKES {
        let recording = recorded(case, &[]);
        assert_eq!(found(&recording.trace()), [id], "{case}");
    }
}

#[test]
fn programs_without_a_mistake_give_no_finding() {
    for case in CORRECT {
        let recording = recorded(case, &[]);
        let found = found(&recording.trace());
        let others = found.iter().filter(|it| *it != "pageable-copy");
        assert_eq!(others.count(), 0, "{case}: {found:?}");
    }
}

#[test]
fn the_memory_of_operators_is_known() {
    for (case, id) in MISTAKES_OF_OPERATORS {
        let recording = recorded_of("operator_races", case, &[]);
        assert_eq!(found(&recording.trace()), [id], "{case}");
    }
    for case in CORRECT_OPERATORS {
        let recording = recorded_of("operator_races", case, &[]);
        assert_eq!(found(&recording.trace()), [""; 0], "{case}");
    }
}

#[test]
fn mistakes_with_threads_and_ended_things_are_found() {
    for (case, id) in OTHER_MISTAKES {
        let recording = recorded_of("mistakes", case, &[]);
        let mut found = found(&recording.trace());
        // An allocation and its end are two calls.
        found.dedup();
        assert_eq!(found, [id], "{case}");
    }
    for (case, expected) in OTHERS_WITHOUT {
        let recording = recorded_of("mistakes", case, &[]);
        assert_eq!(found(&recording.trace()), expected, "{case}");
    }
}

#[test]
fn the_default_stream_cannot_be_captured_and_a_finding_says_so() {
    let recording = recorded_of("mistakes", "capture_of_the_default_stream", &[]);
    let outcome = check(&recording.trace(), &[]).expect(0);
    let said = "aclmdlRICaptureBegin returned 100000 ACL_ERROR_INVALID_PARAM: the default stream cannot be captured";
    assert!(outcome.out().contains(said), "{outcome}");
}

/// A lock around the calls of two threads keeps them apart.
#[test]
fn two_threads_on_one_stream_are_found_unless_they_take_turns() {
    for (case, expected) in [("threads_at_once", 1), ("threads_in_turn", 0)] {
        let recording = recorded_of("mistakes", case, &[]);
        let found = found_where(&recording.trace(), |it| it["check"] == "shared-stream");
        assert_eq!(found.len(), expected, "{case}: {found:?}");
    }
}

#[test]
fn findings_need_no_times() {
    for case in ["no_wait", "free_early", "pinned_reused"] {
        let recording = recorded(case, &["--timing", "off"]);
        assert_eq!(found(&recording.trace()).len(), 1, "{case}");
    }
    for case in ["ordered_by_pageable_copy", "ordered_by_event"] {
        let recording = recorded(case, &["--timing", "off"]);
        assert_eq!(found(&recording.trace()), [""; 0], "{case}");
    }
}

#[test]
fn findings_can_be_denied_and_suppressed() {
    let recording = recorded("no_wait", &[]);
    let trace = recording.trace();
    assert_eq!(check(&trace, &[]).status, 0);
    assert_eq!(check(&trace, &["--deny", "error"]).status, 1);
    assert_eq!(check(&trace, &["--deny", "data-race"]).status, 1);
    assert_eq!(
        check(&trace, &["--deny", "leak", "--deny", "freed-in-use"]).status,
        0
    );
    assert_eq!(check(&trace, &["--deny", "data-rac"]).status, 2);

    let known = recording.beside("known.txt");
    std::fs::write(
        &known,
        "# known\ndata-race stream:9999 never\ndata-race * the test wants it\n",
    )
    .unwrap();
    let known = known.to_str().unwrap();
    let sarif = recording.beside("t.sarif");
    let words = [
        "--deny",
        "error",
        "--suppress",
        known,
        "--sarif",
        sarif.to_str().unwrap(),
    ];
    let outcome = check(&trace, &words).expect(0);
    assert!(
        outcome.out().contains("1 finding is suppressed"),
        "{outcome}"
    );
    let said = outcome.said();
    assert_eq!(said.len(), 1, "{outcome}");
    assert!(
        said[0].ends_with("known.txt:2: it suppresses no finding"),
        "{outcome}"
    );
    let log: Value = serde_json::from_str(&std::fs::read_to_string(&sarif).unwrap()).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let race = results
        .iter()
        .find(|it| it["ruleId"] == "data-race")
        .unwrap();
    assert_eq!(
        race["suppressions"][0]["justification"],
        "the test wants it"
    );

    std::fs::write(known, "data-race *\n").unwrap();
    let outcome = check(&trace, &["--suppress", known]).expect(2);
    assert!(
        outcome.said()[0].contains("known.txt:1: a line is CHECK FUNCTION REASON"),
        "{outcome}"
    );
}

#[test]
fn examples_and_demos_give_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let no_error = |trace: &Path, name: &str| {
        let outcome = check(trace, &["--deny", "error"]);
        assert_eq!(outcome.status, 0, "{name}: {outcome}");
    };
    for example in crate::examples::all() {
        let recording = Run::new(&example).soft("devices=2").traced();
        let outcome = &recording.outcome;
        assert_eq!(outcome.status, 0, "{outcome}");
        no_error(&recording.trace(), &example.display().to_string());
    }
    for name in ["overlap", "pipeline", "stall", "transformer"] {
        let path = folder.path().join(name);
        let mut command = tool();
        command.args(["demo", "--no-tui", name, "-o"]).arg(&path);
        feed(&mut command, b"").expect(0);
        no_error(&path, name);
    }
}
