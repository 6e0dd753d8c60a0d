//! What real runtimes do that is hard on a tracer: each fact by a program that meets it. The programs say what
//! they are after in their first lines.

use crate::support::accuracy::Accuracy;
use crate::support::run::has_few_places;
use crate::support::{Run, Tables, compile, program, run, tool, truth};

/// The tool's records are no tasks of the program's: not before it has submitted one, and not when it was
/// refused.
#[test]
fn a_thread_without_submissions_gets_no_task_of_the_tool() {
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

/// A query that is inside the runtime when its stream is destroyed reads freed memory; softacl ends the
/// process then. Tasks dropped by force have the time 0, which is no time.
#[test]
fn streams_that_are_taken_apart_are_not_asked_about_and_leave_no_wrong_time() {
    let recording = Run::new(&compile::hostile("taken_apart"))
        .words(&["24"])
        .soft("catch,query_ns=20000")
        .compared();
    let tables = Tables::of(&recording);
    assert_eq!(tables.tasks.len(), 24 * 6 * 40);
    // The context of such a stream lives on, so it cannot be the reason.
    let mut tasks: Vec<_> = tables.tasks.iter().collect();
    tasks.sort_by_key(|task| task.number("call"));
    let is_forced = |place: usize| (place / 40 / 6 + place / 40 % 6) % 3 == 1;
    let (forced, others): (Vec<_>, Vec<_>) = (0..)
        .zip(&tasks)
        .map(|(place, task)| (is_forced(place), task.text("untimed")))
        .partition(|(is_forced, _)| *is_forced);
    assert!(forced.iter().any(|it| it.1 == "stream-gone"), "{forced:?}");
    assert!(forced.iter().all(|it| it.1 != "context-gone"), "{forced:?}");
    assert!(others.iter().all(|it| it.1 != "stream-gone"), "{others:?}");
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

/// A device that is reset by force destroys contexts that the program has made, or does not: meanwhile
/// no thread of the tool is inside one, and one that survives is still measured.
#[test]
fn contexts_on_a_device_that_is_reset_by_force_are_left_alone_until_they_are_used() {
    let recording = Run::new(&compile::hostile("forced_reset"))
        .words(&["6"])
        .soft("catch,query_ns=20000")
        .compared();
    let tables = Tables::of(&recording);
    assert_eq!(tables.tasks.len(), 6 * 20 + 1);
    tables.all_timed();
}

/// Contexts from before the end of AscendCL are not queried after it has begun again.
#[test]
fn tasks_are_timed_when_ascendcl_ends_and_begins_again() {
    let recording = Run::new(&compile::hostile("begun_again"))
        .words(&["3"])
        .soft("catch")
        .compared();
    let tables = Tables::of(&recording);
    assert_eq!(tables.tasks.len(), 3 * 20);
    tables.all_timed();
}

/// On chips where a synchronisation copies times, one event after the other, tasks are known to be done before.
#[test]
fn tasks_that_are_done_before_their_times_are_readable_have_true_times() {
    let recording = Run::new(&compile::hostile("late_times"))
        .words(&["40"])
        .soft("catch,chip=310p,readback_ns=100000,memset_mbps=100")
        .compared();
    let tables = Tables::of(&recording);
    tables.all_timed();
    let matched = truth::matched(&tables.tasks, &recording.truth());
    let accuracy = Accuracy::of(&tables, &matched);
    let dishonest = accuracy.dishonest();
    assert!(dishonest.is_empty(), "{}", dishonest.join("\n"));
}

/// During an unknown capture, a record of the tool succeeds and records nothing; its event has the time
/// of its previous record.
#[test]
fn records_that_were_never_reached_have_no_time() {
    let recording = Run::new(&compile::hostile("unseen_capture"))
        .words(&["40"])
        .soft("catch")
        .compared();
    let tables = Tables::of(&recording);
    let reasons: Vec<&str> = tables
        .tasks
        .iter()
        .map(|task| task.text("untimed"))
        .collect();
    assert_eq!(reasons.len(), 100);
    assert_eq!(reasons[..40], [""; 40]);
    // They never ran.
    assert_eq!(reasons[40..60], ["unreadable"; 20]);
    assert_eq!(reasons[60..], [""; 40]);
}

/// On 950 the time from a later event to an earlier one is the difference of unsigned numbers. The tool
/// reads times relative to the latest known event, so many of its differences are negative.
#[test]
fn times_before_the_reference_are_read_where_differences_are_unsigned() {
    let recording = Run::new(&program("phases"))
        .words(&["2000", "5"])
        .soft("catch,chip=950,memset_mbps=100")
        .traced();
    let tables = Tables::of(&recording);
    tables.all_timed();
    let matched = truth::matched(&tables.tasks, &recording.truth());
    assert_eq!(matched.len(), 2000);
    let accuracy = Accuracy::of(&tables, &matched);
    let dishonest = accuracy.dishonest();
    assert!(dishonest.is_empty(), "{}", dishonest.join("\n"));
}

/// Libraries set devices and make contexts by the layer below, and threads live on the default device.
#[test]
fn contexts_that_were_never_shown_are_adopted() {
    let recording = Run::new(&compile::hostile("unseen_contexts"))
        .words(&["10"])
        .soft("catch")
        .compared();
    let tables = Tables::of(&recording);
    assert_eq!(tables.tasks.len(), 30);
    tables.all_timed();
    let devices: Vec<i64> = tables
        .tasks
        .iter()
        .map(|task| task.number("device"))
        .collect();
    assert_eq!(devices[..10], [0; 10]);
    assert_eq!(devices[10..], [1; 20]);
}

/// Streams of models, by every flag, as an argument and in a configuration; and copies of which the runtime finds out
/// that the host has to make them.
#[test]
fn streams_of_models_and_copies_by_the_host_are_left_alone() {
    let recording = Run::new(&compile::hostile("streams_of_models"))
        .soft("catch")
        .compared();
    let tables = Tables::of(&recording);
    let reasons: Vec<&str> = tables
        .tasks
        .iter()
        .map(|task| task.text("untimed"))
        .collect();
    let mut expected = vec!["bound-stream"; 6];
    expected.extend(["host-copy", "", "host-copy"]);
    assert_eq!(reasons, expected);
}

/// A name that does not fit is an error in the asking thread, and an unloaded kernel must not be
/// queried: softacl ends the process for the one, and returns an error for the other.
#[test]
fn names_of_kernels_are_asked_for_by_a_thread_of_the_tools() {
    for unload in [
        "aclrtBinaryUnLoad",
        "rtBinaryUnLoad",
        "rtDevBinaryUnRegister",
    ] {
        names_of_kernels_are_asked_for_until(unload);
    }
}

#[track_caller]
fn names_of_kernels_are_asked_for_until(unload: &str) {
    let library = compile::hostile_with("named_kernels.c", &["-shared", "-fPIC"]);
    let recording = Run::new(&compile::hostile("kernel_names"))
        .words(&[library.to_str().unwrap(), "4", unload])
        .soft("catch")
        .compared();
    let tables = Tables::of(&recording);
    let names: Vec<&str> = tables.tasks.iter().map(|task| task.text("name")).collect();
    assert_eq!(names.len(), 8);
    // A longer name has a short form; the other name fits no buffer.
    let known = format!("kernel_{}", "abc".repeat(28));
    for pair in names.chunks(2) {
        assert!(!pair[1].contains("kernel_"), "{pair:?}");
    }
    // Whoever unloads kernels waits for their names, but not for ever, however busy the machine is.
    let is_known = |name: &&str| name.starts_with(&known) && name.contains("…#");
    assert!(names.iter().any(is_known), "{unload}: {names:?}");
}

/// Whoever times tasks makes synchronisations slower; by how much is found out where it matters.
#[test]
fn what_timing_does_to_synchronisations_is_measured() {
    let measured = |soft: &str| {
        let outcome = run(tool().args(["doctor", "--measure=1", &format!("--soft={soft}")]));
        outcome.expect(0).out()
    };
    let out = measured("record_ns=1500,completion_ns=300000");
    assert!(out.contains("Measured on device 1 (Ascend910B1)"), "{out}");
    let row = |what: &str| {
        let mut lines = out
            .lines()
            .filter(|line| line.trim_start().starts_with(what));
        lines.next().unwrap_or_else(|| panic!("no {what}: {out}"))
    };
    assert!(row("an event record").contains("1.50 µs"), "{out}");
    // The software runtime spends more time than that there.
    let timed = out
        .lines()
        .filter(|line| line.contains("then synchronising"));
    for line in timed {
        let numbers: Vec<f64> = line
            .split_whitespace()
            .filter_map(|it| it.parse().ok())
            .collect();
        assert!(
            numbers.len() == 3 && (numbers[1] >= 300.0 || line.contains("ms")),
            "{line}"
        );
    }
    let refused = run(tool().args(["doctor", "--measure=7", "--soft"]));
    assert!(refused.status != 0, "{refused}");
    assert!(
        refused
            .err()
            .contains("nothing could be measured on device 7"),
        "{refused}"
    );
}

/// Exit handlers of a library that was opened late run before the destructors of a preloaded one.
#[test]
fn the_last_times_of_a_runtime_that_was_opened_late_are_read_before_it_ends() {
    let program = compile::built("late_exit", "late_exit.c", &["-std=gnu11", "-O1", "-ldl"]);
    let recording = Run::new(&program).soft("catch").compared();
    let tables = Tables::of(&recording);
    let tasks = tables.tasks.iter();
    let untimed =
        tasks.filter(|task| task.text("kind") == "memset" && !task.text("untimed").is_empty());
    // Some cards return no time before the program has synchronised.
    let untimed_count = if has_few_places() { 25 } else { 0 };
    assert_eq!((tables.tasks.len(), untimed.count()), (26, untimed_count));
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

/// On 310P and 910A a record is complete before its time is available: it is queried again.
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

/// Unusual calls of the runtime's examples: streams from configurations, random numbers, labels.
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

/// Once a context has failed, a query about it takes the text of the failure away.
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
    // Two rounds were seen done before. On a busy machine, the tool has not read the times of all of them then.
    let timed = reasons.iter().take_while(|reason| reason.is_empty());
    let timed = timed.count();
    assert!((1..=30).contains(&timed), "{reasons:?}");
    let left = &reasons[timed..60];
    assert!(left.iter().all(|it| *it == "context-failed"), "{reasons:?}");
}

/// Frameworks bind their threads to processors, and set their scheduling.
#[test]
fn a_thread_of_the_tools_is_an_ordinary_one_with_the_processors_of_the_process() {
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
