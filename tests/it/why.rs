//! Why a program hangs: while it does, when it was killed, and when the recorder was.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::support::hanging::{Hanging, report};
use crate::support::{Run, run, tool};

fn text(file: &Path) -> String {
    run(tool().arg("why").arg(file)).expect(0).out()
}

/// Facts of a hanging program are the same after it has been killed.
#[track_caller]
fn named_before_and_after(how: &str, verdict: &str, kind: &str) -> Value {
    let mut stuck = Hanging::start(how);
    let live = stuck.reported(verdict, kind);
    stuck.kill_program();
    let report = report(&stuck.file());
    assert_eq!(report["exit_status"], 128 + 9, "{report:#}");
    let first = &report["culprits"][0];
    for field in ["kind", "pid", "stream_id", "event", "rank", "certain"] {
        assert_eq!(first[field], live["culprits"][0][field], "{report:#}");
    }
    let text = text(&stuck.file());
    assert!(text.contains(&format!("[{kind}]")), "{text}");
    report
}

#[test]
fn an_event_that_is_never_recorded_is_named() {
    let report = named_before_and_after("event", "hangs", "unrecorded");
    let first = &report["culprits"][0];
    assert_eq!(first["certain"], true, "{report:#}");
    let chain = report["threads"][0]["chain"].as_array().unwrap();
    assert_eq!(chain.len(), 2, "{report:#}");
    let what = chain[0]["what"].as_str().unwrap();
    assert!(what.contains("is in aclrtSynchronizeStream"), "{what}");
    let stream = &report["streams"][0];
    assert_eq!(stream["head"], "aclrtStreamWaitEvent", "{report:#}");
    assert_eq!(stream["pending"], 1, "{report:#}");
}

#[test]
fn a_recorder_that_was_killed_leaves_enough() {
    let mut stuck = Hanging::start("event");
    // The file gets an open call from time to time, not continuously.
    std::thread::sleep(Duration::from_secs(3));
    stuck.reported("hangs", "unrecorded");
    stuck.kill_recorder();
    let report = report(&stuck.file());
    assert_eq!(report["verdict"], "hangs", "{report:#}");
    assert_eq!(report["culprits"][0]["kind"], "unrecorded");
    assert_eq!(report["exit_status"], Value::Null);
}

#[test]
fn streams_in_a_cycle_are_named() {
    let report = named_before_and_after("cycle", "hangs", "cycle");
    let what = report["culprits"][0]["what"].as_str().unwrap();
    assert!(what.starts_with("they wait for each other"), "{what}");
}

#[test]
fn a_callback_that_no_thread_runs_is_named() {
    let report = named_before_and_after("callback", "hangs", "callback");
    let what = report["culprits"][0]["what"].as_str().unwrap();
    assert!(
        what.starts_with("the thread that subscribed to stream"),
        "{what}"
    );
}

#[test]
fn a_thread_that_waits_for_its_own_callback_is_named() {
    let report = named_before_and_after("callback-of-the-waiting-thread", "hangs", "cycle");
    let chain = report["threads"][0]["chain"].as_array().unwrap().iter();
    let what: Vec<_> = chain.filter_map(|it| it["what"].as_str()).collect();
    assert!(
        what.iter()
            .any(|it| it.contains("which is subscribed to the stream, waits itself")),
        "{what:?}"
    );
}

#[test]
fn the_host_function_that_runs_is_named_and_not_the_work_behind_it() {
    let report = named_before_and_after("behind", "quiet", "running");
    assert_eq!(report["culprits"].as_array().unwrap().len(), 1);
    let what = report["culprits"][0]["what"].as_str().unwrap();
    assert!(
        what.starts_with("the host function of aclrtLaunchHostFunc on stream"),
        "{what}"
    );
    let chain = report["threads"][0]["chain"].as_array().unwrap().iter();
    let what: Vec<_> = chain.filter_map(|it| it["what"].as_str()).collect();
    let is_held = |it: &&str| it.contains("is held by aclrtStreamWaitEvent for event");
    assert!(what.iter().any(is_held), "{what:?}");
}

#[test]
fn a_host_function_that_waits_for_its_own_stream_is_named() {
    let report = named_before_and_after("host-function", "hangs", "cycle");
    let what = report["culprits"][0]["what"].as_str().unwrap();
    assert!(what.starts_with("they wait for each other"), "{what}");
}

/// The most usual one, by which few of many tasks have times.
#[test]
fn a_host_function_behind_work_without_a_time_is_named() {
    let stuck = Hanging::with("behind-short-work", &["--timing", "sample=100"]);
    let report = stuck.reported("quiet", "running");
    let what = report["culprits"][0]["what"].as_str().unwrap();
    assert!(
        what.contains("the host function of aclrtLaunchHostFunc"),
        "{what}"
    );
}

#[test]
fn a_signal_that_was_lost_is_named() {
    let report = named_before_and_after("lost-signal", "hangs", "unset");
    let first = &report["culprits"][0];
    assert_eq!(first["certain"], true, "{report:#}");
    let what = first["what"].as_str().unwrap();
    assert!(what.contains("a notify holds one signal"), "{what}");
}

/// Longer than any pause before, and than the time that a wait has.
#[test]
fn a_program_with_a_thread_that_computes_is_slow() {
    let stuck = Hanging::start("thread-computes");
    let report = |seconds: u64| {
        let begun = std::time::Instant::now();
        loop {
            let report = stuck.reported("quiet", "unrecorded");
            let quiet = report["quiet_ns"].as_u64().unwrap();
            if quiet >= seconds * 1_000_000_000 {
                return report;
            }
            assert!(begun.elapsed() < crate::support::hanging::PATIENCE);
        }
    };
    let report = report(12);
    assert_eq!(report["verdict"], "quiet", "{report:#}");
}

/// Ten seconds would be the time for a thread that could still record the event.
#[test]
fn a_thread_that_has_ended_is_waited_for_no_longer() {
    let stuck = Hanging::start("thread-ended");
    let live = stuck.reported("hangs", "unrecorded");
    assert_eq!(live["culprits"][0]["certain"], true, "{live:#}");
    let threads = live["threads"].as_array().unwrap();
    let ended = threads.iter().filter(|it| it["ended"] == true);
    assert_eq!(ended.count(), 1, "{live:#}");
    let text = text(&stuck.file());
    assert!(text.contains("no call: it has ended"), "{text}");
}

#[test]
fn a_rank_that_does_not_come_is_named() {
    let report = named_before_and_after("rank", "quiet", "rank");
    assert_eq!(report["culprits"][0]["rank"], 1, "{report:#}");
}

#[test]
fn a_thread_outside_is_named_and_the_program_may_be_slow() {
    let report = named_before_and_after("outside", "quiet", "outside");
    let what = report["culprits"][0]["what"].as_str().unwrap();
    assert!(what.contains("is outside AscendCL"), "{what}");
    let thread = &report["threads"][0];
    // It has ended since.
    assert_eq!(thread["kernel"], Value::Null);
    let last = thread["last_calls"].as_array().unwrap();
    assert_eq!(last.last().unwrap()["name"], "aclrtSynchronizeStream");
}

#[test]
fn a_thread_outside_is_described_while_it_lives() {
    let stuck = Hanging::start("outside");
    let live = stuck.reported("quiet", "outside");
    let kernel = live["threads"][0]["kernel"].as_str().unwrap();
    assert!(kernel.starts_with("it sleeps"), "{live:#}");
    let text = text(&stuck.file());
    let tid = &live["threads"][0]["tid"];
    assert!(
        text.contains(&format!("thread {tid} is outside AscendCL: it sleeps"))
            && text.contains(&format!("gdb -batch -p {tid} -ex bt")),
        "{text}"
    );
}

/// The report of a program with threads that wait for each other outside AscendCL. Nothing where the system does not show for what.
#[track_caller]
fn outside(how: &str, verdict: &str, kind: &str) -> Option<Value> {
    if !can_look_at_threads() {
        return None;
    }
    let stuck = Hanging::start(how);
    let report = stuck.reported(verdict, kind);
    assert_eq!(
        report["culprits"][0]["certain"],
        verdict == "hangs",
        "{report:#}"
    );
    Some(report)
}

/// Whether the kernel says in which system call a thread is.
#[expect(clippy::print_stderr, reason = "skipped tests say why")]
fn can_look_at_threads() -> bool {
    let shown = std::fs::read_to_string("/proc/self/syscall").is_ok();
    if !shown {
        eprintln!("skipped: the kernel shows no system calls of threads");
    }
    shown
}

#[track_caller]
fn first(report: &Value) -> (String, String, usize) {
    let first = &report["culprits"][0];
    let text = |field: &str| first[field].as_str().unwrap().to_owned();
    let waiters = first["threads"].as_array().unwrap().len();
    (text("what"), text("advice"), waiters)
}

#[test]
fn threads_that_take_locks_in_different_orders_are_a_cycle() {
    let Some(report) = outside("two-locks", "hangs", "cycle") else {
        return;
    };
    let (what, advice, waiters) = first(&report);
    assert!(
        what.starts_with("they wait for each other: thread "),
        "{what}"
    );
    assert_eq!(what.matches("→").count(), 2, "{what}");
    assert!(
        advice.starts_with("take locks in the same order"),
        "{advice}"
    );
    // With the thread that only waits for their end.
    assert_eq!(
        (waiters, report["culprits"].as_array().unwrap().len()),
        (3, 1)
    );
}

#[test]
fn a_thread_that_ended_with_a_lock_is_named() {
    let Some(report) = outside("left-lock", "hangs", "ended") else {
        return;
    };
    let (what, _, waiters) = first(&report);
    assert!(
        what.contains("has ended, and holds a lock that thread"),
        "{what}"
    );
    assert_eq!(waiters, 2, "{report:#}");
}

#[test]
fn the_thread_that_holds_a_lock_is_named_and_not_those_that_wait() {
    let Some(report) = outside("lock-of-a-sleeper", "quiet", "outside") else {
        return;
    };
    let first = &report["culprits"][0];
    assert_eq!(
        report["culprits"].as_array().unwrap().len(),
        1,
        "{report:#}"
    );
    let threads = report["threads"].as_array().unwrap();
    let holder = threads.iter().find(|it| it["tid"] == first["tid"]).unwrap();
    assert_eq!(holder["chain"].as_array().unwrap().len(), 0, "{report:#}");
    assert_eq!(first["threads"].as_array().unwrap().len(), 3, "{report:#}");
}

#[test]
fn threads_that_all_wait_for_each_other_hang() {
    let Some(report) = outside("condition", "hangs", "outside") else {
        return;
    };
    let (_, advice, waiters) = first(&report);
    assert!(
        advice.starts_with("all threads of the process wait for each other"),
        "{advice}"
    );
    assert!(advice.ends_with("has ended"), "{advice}");
    assert_eq!(waiters, 2, "{report:#}");
    // A thread without calls may wake the others.
    outside("condition-and-a-sleeper", "quiet", "outside");
}

#[test]
fn a_child_that_has_ended_is_named_where_its_pipe_is_read() {
    let Some(report) = outside("pipe-of-an-ended-child", "hangs", "ended") else {
        return;
    };
    let (what, ..) = first(&report);
    assert!(
        what.contains("it reads a pipe that only its own process can write to"),
        "{what}"
    );
    assert!(what.ends_with("has ended with status 3"), "{what}");
    outside("pipe-of-a-child", "quiet", "outside");
}

#[test]
fn a_host_function_that_waits_for_the_thread_that_waits_for_it_hangs() {
    let Some(report) = outside("host-function-with-a-lock", "hangs", "cycle") else {
        return;
    };
    let (what, advice, _) = first(&report);
    assert!(what.starts_with("they wait for each other"), "{what}");
    assert!(
        advice.starts_with("take locks in the same order"),
        "{advice}"
    );
    let Some(report) = outside("host-function-with-a-semaphore", "hangs", "running") else {
        return;
    };
    let (what, ..) = first(&report);
    assert!(
        what.ends_with("all threads of the process wait for each other"),
        "{what}"
    );
}

#[test]
fn a_callback_that_waits_for_a_lock_of_the_thread_that_waits_for_it_hangs() {
    let Some(report) = outside("callback-with-a-lock", "hangs", "cycle") else {
        return;
    };
    let (what, advice, _) = first(&report);
    assert_eq!(what.matches(" → ").count(), 4, "{what}");
    assert!(
        advice.starts_with("take locks in the same order"),
        "{advice}"
    );
}

#[test]
fn a_program_that_ended_does_not_hang() {
    let recording = Run::new(&crate::support::compile::example("cross_stream")).traced();
    let text = text(&recording.trace());
    assert!(
        text.starts_with("nothing hangs: the program ended with status 0\n"),
        "{text}"
    );
}
