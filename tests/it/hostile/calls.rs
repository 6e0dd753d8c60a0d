//! Calls that do not begin and end in order.

use ascend_trace_recording::Ending;
use ascend_trace_testkit::whole::opened;

use super::counts::{balanced, between};
use crate::support::compile::{hostile, hostile_with};
use crate::support::process::has_cxx;
use crate::support::{Recording, Run};

/// With room for all that a fast program does while the machine is busy.
fn traced(name: &str, words: &[&str]) -> Recording {
    let run = Run::new(&hostile(name)).words(words);
    let recording = run.options(&["--buffer", "512"]).traced();
    assert_eq!(recording.outcome.status, 0, "{}", recording.outcome);
    recording
}

#[test]
fn calls_of_handlers_that_interrupt_the_program_anywhere_are_recorded() {
    for stack in ["usual", "alternate"] {
        let counts = balanced(&traced("handler_storm", &[stack]));
        // They are put aside while the tracer is at work; few find no room there.
        assert!(counts.lost * 100 <= counts.recorded, "{counts:?}");
    }
}

#[test]
fn jumps_out_of_handlers_silence_no_thread() {
    for stack in ["usual", "alternate"] {
        let recording = traced("handler_jump", &[stack]);
        let counts = between(&recording);
        let (trace, _) = opened(recording.trace()).unwrap();
        let calm: u64 = recording.number("calm");
        // A call that the last jump left may be found out only when the thread ends, after the calm ones.
        let mut calls: Vec<_> = trace.calls().iter().collect();
        calls.sort_by_key(|call| call.begin);
        let mut last = calls.iter().rev().take(calm as usize);
        assert!(last.all(|call| call.ending == Ending::Returned));
        // At most the calls that were running at a jump can be missing.
        assert!(counts.lost <= 1_000, "{counts:?}");
    }
}

#[test]
fn calls_that_are_left_are_recorded_as_that() {
    if !has_cxx() {
        return;
    }
    let library = hostile_with("left_library.cc", &["-O1", "-shared", "-fPIC", "-pthread"]);
    let library = library.to_str().unwrap();
    let options = ["-O1", "-pthread", library, "-lascendcl"];
    let recording = Run::new(&hostile_with("left_calls.cc", &options)).traced();
    assert_eq!(recording.outcome.status, 0, "{}", recording.outcome);
    let counts = balanced(&recording);
    assert_eq!(counts.lost, 0);
    let (trace, _) = opened(recording.trace()).unwrap();
    let left = trace.calls().iter();
    let left = left.filter(|call| call.ending == Ending::Left);
    assert_eq!(left.clone().count() as u64, recording.number("left"));
    assert!(left.clone().all(|call| call.begin <= call.end));
    // An inner call is left with the one around it.
    assert_eq!(left.filter(|call| call.depth == 1).count(), 100);
}

#[test]
fn threads_that_are_cancelled_at_any_instruction_do_no_harm() {
    let library = hostile_with("async_library.c", &["-O1", "-shared", "-fPIC"]);
    let options = ["-O1", "-pthread", library.to_str().unwrap(), "-lascendcl"];
    let recording = Run::new(&hostile_with("async_cancel.c", &options)).traced();
    assert_eq!(recording.outcome.status, 0, "{}", recording.outcome);
    between(&recording);
}

#[test]
fn calls_on_stacks_of_the_programs_own_are_all_recorded() {
    let counts = balanced(&traced("fibers", &[]));
    assert!(counts.lost * 20 <= counts.recorded, "{counts:?}");
}

#[test]
fn calls_made_while_another_thread_joins_the_recording_are_counted() {
    let library = hostile_with(
        "early_library.c",
        &["-O1", "-shared", "-fPIC", "-pthread", "-lascendcl"],
    );
    let options = ["-O1", library.to_str().unwrap(), "-lascendcl"];
    let program = hostile_with("early_calls.c", &options);
    let recording = Run::new(&program).words(&["25"]).traced();
    assert_eq!(recording.outcome.status, 0, "{}", recording.outcome);
    balanced(&recording);
}

#[test]
fn calls_made_while_another_thread_registers_a_forked_child_are_counted() {
    balanced(&traced("fork_threads", &[]));
}

#[test]
fn calls_of_threads_without_a_channel_are_counted_once() {
    let recording = Run::new(&hostile("many_threads")).traced();
    if recording.outcome.status == 77 {
        eprintln!("skipped: too few threads may be started here");
        return;
    }
    assert_eq!(recording.outcome.status, 0, "{}", recording.outcome);
    let counts = balanced(&recording);
    assert!(counts.lost > 0, "{counts:?}");
}

/// A program may forbid the system call that wakes its threads, or the one that the tool would wait with.
#[test]
fn programs_that_forbid_a_system_call_end_as_they_do_untraced() {
    for call in [
        "futex",
        "sched_yield",
        "nanosleep",
        "clock_nanosleep",
        "membarrier",
        "mmap",
        "munmap",
        "madvise",
        "gettid",
        "write",
    ] {
        for action in ["eperm", "enosys"] {
            let run = Run::new(&hostile("seccomp_denied")).words(&[call, "threads", action]);
            let (bare, again) = (run.bare(), run.bare());
            if bare.status != again.status {
                eprintln!("skipped: {call} {action} ends in several ways: {bare}");
                continue;
            }
            let traced = run.traced().outcome;
            assert_eq!(traced.status, bare.status, "{call} {action}: {traced}");
        }
    }
}

/// A thread that may not use futex wakes no thread of the runtime. They must go on without that, while the thread works
/// with them at the same locks.
#[test]
fn a_program_that_forbids_futex_ends_with_a_full_stream() {
    for action in ["eperm", "enosys"] {
        let run = Run::new(&hostile("seccomp_denied")).words(&["futex", "full", action]);
        for _ in 0..5 {
            let bare = run.bare();
            assert_eq!(bare.status, 0, "{action}: {bare}");
        }
        let traced = run.options(&["--buffer", "64"]).traced().outcome;
        assert_eq!(traced.status, 0, "{action}: {traced}");
    }
}

#[test]
fn programs_that_give_up_system_calls_live() {
    for (program, word) in [
        ("seccomp_strict", "early"),
        ("seccomp_strict", "late"),
        ("seccomp_filter", "prctl"),
        ("seccomp_filter", "syscall"),
    ] {
        let run = Run::new(&hostile(program)).words(&[word]);
        let bare = run.bare();
        if bare.status != 0 {
            eprintln!("skipped: {program} {word} does not live on its own here: {bare}");
            continue;
        }
        balanced(&traced(program, &[word]));
    }
}
