//! A recorder that says by itself that nothing moves.

use std::time::Duration;

use rustix::process::{Signal, kill_process};

use crate::support::hanging::{Hanging, count_of};
use crate::support::{run, tool};

/// Gives late reports time to arrive.
fn linger() {
    std::thread::sleep(Duration::from_secs(5));
}

const WATCH: [&str; 2] = ["--watchdog", "2s"];

#[test]
fn an_event_that_is_never_recorded_is_reported_once() {
    let mut stuck = Hanging::with("event", &WATCH);
    stuck.until("err", "the program hangs", 1);
    linger();
    assert_eq!(stuck.kill_program().status, 137);
    let said = stuck.written("err");
    assert_eq!(count_of(&said, "the program hangs"), 1, "{said}");
    assert_eq!(count_of(&said, "nothing has moved"), 0, "{said}");
    assert!(said.contains("[unrecorded]"), "{said}");
    assert_eq!(stuck.written("out").lines().count(), 1);
    run(tool().args(["info", "--strict"]).arg(stuck.file())).expect(0);
}

#[test]
fn a_rank_that_does_not_come_is_named_and_may_be_slow() {
    let stuck = Hanging::with("rank", &WATCH);
    stuck.until("err", "nothing has moved", 1);
    let said = stuck.until("err", "Streams", 1);
    assert!(said.contains("The program may be slow"), "{said}");
    assert!(
        said.contains("rank 1 has not submitted collective 2"),
        "{said}"
    );
    assert_eq!(count_of(&said, "the program hangs"), 0, "{said}");
}

#[test]
fn a_program_that_is_slow_is_not_reported() {
    let mut slow = Hanging::with("slow", &["--watchdog", "6s"]);
    assert_eq!(slow.finish().status, 0);
    let said = slow.written("err");
    assert_eq!(count_of(&said, "nothing has moved"), 0, "{said}");
    assert_eq!(count_of(&said, "the program hangs"), 0, "{said}");
}

#[test]
fn a_program_that_has_moved_and_stands_still_again_is_reported_again() {
    let mut stuck = Hanging::with("again", &WATCH);
    stuck.until("err", "nothing has moved", 1);
    kill_process(stuck.program, Signal::USR1).unwrap();
    stuck.until("err", "the program moves again", 1);
    stuck.until("err", "nothing has moved", 2);
    kill_process(stuck.program, Signal::USR1).unwrap();
    assert_eq!(stuck.finish().status, 0);
    assert_eq!(count_of(&stuck.written("out"), "done"), 1);
}

#[test]
fn the_time_out_of_the_runtime_is_reported_in_words() {
    let mut stuck = Hanging::with("timeout", &WATCH);
    stuck.until("err", "the program hangs", 1);
    // The chain of the report begins with the thread as well.
    let called = format!(
        "thread {}: aclrtSynchronizeStreamWithTimeout",
        stuck.program.as_raw_nonzero()
    );
    let said = stuck.until("err", &called, 1);
    let (_, after) = said.split_once(&called).unwrap();
    let code = "stream sync timeout, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT (507046)";
    assert!(
        after.starts_with(" returned an error after ") && after.contains(code),
        "{said}"
    );
    // The report of its wait comes with it.
    assert!(after.contains("[unrecorded]"), "{said}");
    stuck.until("out", "returned 507046", 1);
    assert_eq!(stuck.kill_program().status, 137);
    // The program has set the limit, so that is no error.
    let said = stuck.written("err");
    assert_eq!(count_of(&said, "1 call returned an error"), 0, "{said}");
}

#[test]
fn a_watchdog_needs_a_file_and_some_time() {
    for (options, why) in [
        (
            ["--watchdog", "1s", "-o", "-"],
            "--watchdog needs a trace file",
        ),
        (["--watchdog", "5", "-o", "x"], "unit"),
        (
            ["--watchdog", "10ms", "-o", "x"],
            "a watchdog waits for a second or longer",
        ),
    ] {
        let mut command = tool();
        command.arg("record").args(options).args(["--", "true"]);
        let outcome = run(&mut command).expect(125);
        assert!(outcome.err().contains(why), "{why}: {outcome}");
    }
}
