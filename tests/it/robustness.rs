//! Programs that are hard on a tracer, each run bare and traced: their output, their end and the
//! runtime's results must be the same, and the trace must contain their calls.

use crate::support::run::has_few_places;
use crate::support::{CsvRow, Run, Tables, program, truth};

fn compare(name: &str) -> Tables {
    Tables::of(&Run::new(&program(name)).compared())
}

fn streams(tables: &Tables) -> Vec<(i64, i64)> {
    let mut streams: Vec<_> = tables
        .tasks
        .iter()
        .map(|task| (task.number("device"), task.number("stream_id")))
        .collect();
    streams.sort_unstable();
    streams.dedup();
    streams
}

#[test]
fn hundreds_of_threads_that_begin_and_end() {
    let tables = compare("threads");
    assert_eq!(tables.count_calls("aclrtCreateStream"), 320);
    assert_eq!(tables.tasks.len(), 640);
    let mut threads: Vec<_> = tables.calls.iter().map(|call| call.number("tid")).collect();
    threads.sort_unstable();
    threads.dedup();
    // Thread ids may be used again, but not within a wave.
    assert!(threads.len() > 8, "{threads:?}");
    tables.all_timed();
}

#[test]
fn threads_with_small_stacks() {
    let tables = compare("small_stacks");
    assert_eq!(tables.tasks.len(), 16);
    tables.all_timed();
}

#[test]
fn threads_that_submit_to_one_stream_at_once() {
    let recording = Run::new(&program("shared_stream")).compared();
    let tables = Tables::of(&recording);
    assert_eq!(tables.tasks.len(), 800);
    // Nobody is kept waiting to be measured: a task is measured, or left alone and counted.
    let untimed = tables.untimed();
    let is_contended = |reason: &&str| {
        ["contended", "no-event"].contains(reason) || has_few_places() && *reason == "queue-full"
    };
    assert!(untimed.iter().all(is_contended), "{untimed:?}");
    let executed = truth::read(&recording.truth());
    assert_eq!(
        executed.iter().filter(|entry| !entry.is_tracers()).count(),
        800
    );
}

#[test]
fn an_interrupted_call_and_the_handler_that_interrupts_it() {
    let tables = compare("signal_handler");
    assert!(tables.count_calls("aclrtRecordEvent") >= 1);
    assert_eq!(
        tables.count_calls("aclrtRecordEvent"),
        tables.count_calls("aclrtMemsetAsync")
    );
    tables.all_timed();
}

#[test]
fn errno_is_the_programs_own() {
    let tables = compare("errno_kept");
    assert_eq!(tables.count_calls("aclrtSynchronizeStream"), 50);
}

#[test]
fn failing_calls_leave_the_error_state_that_they_leave_bare() {
    let tables = compare("failing_calls");
    let failed = tables.outer_calls().filter(|call| call.text("ret") != "0");
    let failed = failed.filter(|call| call.text("category") != "error");
    assert!(failed.count() >= 18, "codes are in the trace");
}

#[test]
fn null_arguments_reach_the_runtime() {
    let tables = compare("null_arguments");
    assert_eq!(tables.outer_calls().count(), 44);
}

#[test]
fn the_default_stream_is_one_stream_under_both_its_names() {
    let tables = compare("default_stream");
    let of = |stream| {
        tables
            .tasks
            .iter()
            .filter(|it| it.number("stream_id") == stream)
            .count()
    };
    assert_eq!(streams(&tables).len(), 2);
    assert_eq!((of(0), of(2)), (4, 1));
    tables.all_timed();
}

#[test]
fn events_that_are_destroyed_and_recorded_again_while_pending() {
    let tables = compare("pending_events");
    let links = tables
        .dependencies
        .iter()
        .filter(|it| it.text("kind") == "record-wait");
    let mut links: Vec<&CsvRow> = links.collect();
    assert_eq!(links.len(), 400);
    // The k-th wait is for the k-th record, though both belong to one event.
    links.sort_by_key(|link| link.number("to_seq"));
    let records: Vec<_> = links.iter().map(|link| link.number("from_seq")).collect();
    assert!(records.is_sorted() && records.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn devices_contexts_and_the_runtime_are_used_again() {
    let recording = Run::new(&program("reuse")).compared();
    let tables = Tables::of(&recording);
    assert_eq!(tables.tasks.len(), 72);
    tables.all_timed();
    assert_eq!(
        truth::matched(&tables.as_submitted(), &recording.truth()).len(),
        72
    );
}

#[test]
fn copies_of_pageable_memory_are_host_copies() {
    let tables = compare("pageable_copy");
    assert_eq!(tables.tasks.len(), 12);
    assert_eq!(tables.untimed(), ["host-copy"; 8]);
}

#[test]
fn a_program_that_measures_by_itself() {
    let tables = compare("own_times");
    assert_eq!(tables.tasks.len(), 60);
    tables.all_timed();
}

#[test]
fn a_queue_that_is_full() {
    let run = Run::new(&program("full_queue")).soft("queue=8");
    let tables = Tables::of(&run.compared());
    assert_eq!(tables.tasks.len(), 300);
    tables.all_timed();
}

/// The tracer's events take no more than half of a queue: the rest is free for tasks that the program
/// may submit before it releases the queue.
#[test]
fn a_queue_that_waits_for_the_next_submission() {
    let tables = compare("deep_queue");
    assert_eq!(tables.tasks.len(), 3 * 1002);
    let untimed = tables.untimed();
    assert!(
        untimed.iter().all(|reason| *reason == "queue-full"),
        "{untimed:?}"
    );
    // The program may fill the queue before it makes the record that the queue waits for, and some
    // tasks of each round are still timed.
    assert!(
        (1..=3 * 1000 - 3 * 6).contains(&untimed.len()),
        "{}",
        untimed.len()
    );
}

/// Neither the tracer's events nor its records change the runtime's free resources, nor the numbers of
/// the program's objects.
#[test]
fn the_tracer_takes_no_resources_of_the_runtime() {
    let tables = compare("counters");
    assert_eq!(tables.tasks.len(), 110);
    tables.all_timed();
}

#[test]
fn host_functions_that_call_the_runtime() {
    let tables = compare("host_functions");
    assert_eq!(tables.tasks.len(), 20);
    let asked = tables
        .calls
        .iter()
        .filter(|it| it.text("name") == "aclrtGetRunMode");
    assert_eq!(asked.count(), 10);
    tables.all_timed();
}

#[test]
fn a_callback_that_is_left_by_longjmp() {
    let tables = compare("longjmp");
    assert_eq!(tables.tasks.len(), 6);
    // Calls that never returned are recorded as left.
    assert_eq!(tables.calls.len(), 18);
    let left = tables.calls.iter();
    let left = left.filter(|call| call.text("ending") == "left");
    assert_eq!(left.count(), 3);
}

#[test]
fn a_plugin_in_a_separate_scope() {
    let plugin = crate::support::compile::program_with(
        "plugin",
        &["-std=gnu11", "-shared", "-fPIC", "-lascendcl"],
    );
    let host = crate::support::compile::program_with("dlopen_local", &["-std=gnu11", "-ldl"]);
    let run = Run::new(&host).words(&[plugin.to_str().unwrap()]);
    let recording = run.compared();
    recording.outcome.clone().expect(3);
    let tables = Tables::of(&recording);
    assert_eq!((tables.outer_calls().count(), tables.tasks.len()), (24, 6));
    tables.all_timed();
}

#[test]
fn closed_files_and_a_cleared_environment() {
    let tables = compare("closed_files");
    assert_eq!(tables.tasks.len(), 6);
    tables.all_timed();
}

#[test]
fn without_timing_no_call_of_the_tracers_own_is_made() {
    for name in ["reuse", "pending_events", "own_times", "default_stream"] {
        let run = Run::new(&program(name)).options(&["--timing", "off"]);
        let recording = run.compared();
        let tables = Tables::of(&recording);
        let executed = truth::read(&recording.truth());
        assert_eq!(executed.len(), tables.tasks.len(), "{name}");
        assert!(
            !executed.iter().any(truth::TruthLogTask::is_tracers),
            "{name}"
        );
        assert!(
            tables.calls.iter().all(|call| call.text("depth") == "0"),
            "{name}"
        );
    }
}

#[test]
fn two_programs_are_traced_at_the_same_time() {
    let name = "reuse";
    let both: Vec<_> = (0..2)
        .map(|_| std::thread::spawn(move || compare(name)))
        .collect();
    let tables: Vec<_> = both.into_iter().map(|it| it.join().unwrap()).collect();
    for tables in &tables {
        assert_eq!((tables.processes().len(), tables.tasks.len()), (1, 72));
    }
    assert_ne!(tables[0].processes(), tables[1].processes());
}
