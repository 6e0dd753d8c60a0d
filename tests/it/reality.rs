//! What real runtimes do that is hard on a tracer: each fact by a program that meets it. The programs say what
//! they are after in their first lines.

use crate::support::{Run, Tables, compile, program, truth};

/// The tool's records are no tasks of the program's: not before it has submitted one, and not when it was
/// refused.
#[test]
fn a_thread_that_has_submitted_nothing_is_told_no_task_of_the_tools() {
    let recording = Run::new(&compile::hostile("last_ids"))
        .soft("catch")
        .compared();
    let answers = recording.outcome.out();
    assert_eq!(
        answers.matches(": 0 0\n").count(),
        7,
        "{}",
        recording.outcome
    );
}

/// A query that is inside the runtime when its stream goes reads freed memory; softacl ends the process then.
/// What was dropped by force has the time 0, which is none.
#[test]
fn streams_that_are_taken_apart_are_not_asked_about_and_leave_no_wrong_time() {
    let recording = Run::new(&compile::hostile("taken_apart"))
        .words(&["24"])
        .soft("catch,query_ns=20000")
        .compared();
    let tables = Tables::of(&recording);
    assert_eq!(tables.tasks.len(), 24 * 6 * 40);
    let timed = tables
        .tasks
        .iter()
        .filter(|task| task.text("untimed").is_empty());
    let mut count = 0;
    for task in timed {
        let length = task.number("end_ns") - task.number("begin_ns");
        let call = &tables.calls[task.number("call") as usize];
        let late = task.number("begin_ns") - call.number("begin_ns");
        assert!((0..1_000_000_000).contains(&length), "{task:?}");
        assert!((0..10_000_000_000).contains(&late), "{task:?}");
        count += 1;
    }
    assert!(
        count > 24 * 6 * 40 / 4,
        "{count} of {} are timed",
        tables.tasks.len()
    );
}

/// What a library that was opened late has registered for the end runs before the destructors of a preloaded
/// one.
#[test]
fn the_last_times_of_a_runtime_that_was_opened_late_are_read_before_it_ends() {
    let program = compile::built("late_exit", "late_exit.c", &["-std=gnu11", "-O1", "-ldl"]);
    let recording = Run::new(&program).soft("catch").compared();
    let tables = Tables::of(&recording);
    assert_eq!(tables.tasks.len(), 25);
    tables.all_timed();
}

/// On 310P and 910A a record waits for one of 512 places of its stream, and a stream takes 1,024 tasks; on 310B
/// a query waits for a synchronisation; on 950 a negative time is a huge one.
#[test]
fn chips_that_have_little_are_used_sparingly() {
    for chip in ["310p", "910a", "310b", "950", "910_93"] {
        let recording = Run::new(&compile::hostile("slots"))
            .words(&["700", "2"])
            .soft(&format!("catch,chip={chip}"))
            .compared();
        let tables = Tables::of(&recording);
        assert_eq!(tables.tasks.len(), 1400, "{chip}");
        let untimed = tables.untimed();
        let others = untimed.iter().filter(|reason| **reason != "queue-full");
        assert_eq!(others.count(), 0, "{chip}: {untimed:?}");
        // All are submitted at once, and a stream takes 64 pairs of the tool's at least, however slow the device
        // is to come to them on a busy machine.
        let least = 100;
        let timed = 1400 - untimed.len();
        assert!(timed >= least, "{chip}: {timed} are timed");
    }
}

/// On 310P and 910A a record is complete before its time is there: it is asked for again.
#[test]
fn times_that_come_after_the_word_that_a_record_is_done_are_read() {
    for chip in ["310p", "910a"] {
        let recording = Run::new(&compile::hostile("slots"))
            .words(&["30", "3"])
            .soft(&format!("catch,chip={chip}"))
            .compared();
        let tables = Tables::of(&recording);
        assert_eq!(tables.tasks.len(), 90, "{chip}");
        tables.all_timed();
    }
}

/// More streams than events would last for if each kept a handful.
#[test]
fn three_thousand_streams_are_timed() {
    let recording = Run::new(&compile::hostile("slots"))
        .words(&["3", "3000"])
        .soft("streams=4000")
        .compared();
    let tables = Tables::of(&recording);
    assert_eq!(tables.tasks.len(), 9000);
    tables.all_timed();
}

/// What the runtime's own examples do beyond the usual: streams of configurations, random numbers, labels.
#[test]
fn configured_streams_random_numbers_and_labels_are_shown() {
    let recording = Run::new(&program("configured")).soft("catch").compared();
    let tables = Tables::of(&recording);
    let timed = tables.tasks.iter();
    let timed: Vec<_> = timed
        .filter(|task| task.text("untimed").is_empty())
        .map(|task| task.text("kind"))
        .collect();
    assert_eq!(timed[..10], ["kernel", "memset"].repeat(5));
    assert_eq!(timed[10..], ["graph"; 2], "{timed:?}");
    assert_eq!(tables.untimed(), ["bound-stream"; 6]);
    let log = truth::read(&recording.truth());
    for kind in ["kernel", "graph"] {
        let length = |begin: i64, end: i64| end - begin;
        let traced = (tables.tasks.iter()).filter(|task| task.text("kind") == kind);
        let truly = log.iter().filter(|entry| entry.kind == kind);
        for (task, entry) in traced.zip(truly) {
            let length = length(task.number("begin_ns"), task.number("end_ns"));
            let error = length - (entry.end - entry.begin);
            assert!(
                error.abs() <= 2 * task.number("err_ns"),
                "{task:?} {entry:?}"
            );
        }
    }
}

/// Once a context has failed, whoever asks the runtime about it takes the text of the failure away.
#[test]
fn a_context_that_has_failed_is_left_alone() {
    let recording = Run::new(&compile::hostile("after_failure"))
        .soft("catch,fail=aclrtSynchronizeStream:3:507015")
        .compared();
    let tables = Tables::of(&recording);
    let reasons: Vec<&str> = tables
        .tasks
        .iter()
        .map(|task| task.text("untimed"))
        .collect();
    assert_eq!(reasons.len(), 60);
    // Two rounds were seen done before.
    assert_eq!(reasons[..20], [""; 20], "{reasons:?}");
    assert_eq!(reasons[30..60], ["context-failed"; 30], "{reasons:?}");
}

/// Frameworks bind their threads to processors.
#[test]
fn a_thread_of_the_tools_has_the_processors_of_the_process() {
    let recording = Run::new(&compile::hostile("pinned"))
        .soft("catch")
        .compared();
    assert_eq!(recording.outcome.out(), "confined: 0\n");
}

/// No call of the tool's leaves an error in a thread of the program's, takes one, or comes after the runtime's
/// end: softacl ends the process then.
#[test]
fn programs_that_fail_and_end_in_many_ways_are_not_meddled_with() {
    for name in [
        "abort",
        "burst",
        "deep_queue",
        "default_stream",
        "early_and_late",
        "exit_in_thread",
        "failing_calls",
        "fork",
        "host_functions",
        "main_leaves",
        "null_arguments",
        "pageable_copy",
        "pending_events",
        "reuse",
        "shared_stream",
        "threads",
    ] {
        Run::new(&program(name)).soft("catch").compared();
    }
}
