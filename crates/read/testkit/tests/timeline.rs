//! The meaning of the timeline language, and its reports of mistakes.

#![expect(
    clippy::unwrap_used,
    reason = "a test's helpers may panic like the test"
)]

use ascend_trace_format::api::{Role, TaskKind, Untimed};
use ascend_trace_recording::rows::Row;
use ascend_trace_recording::{Call, Ending, StreamId, Task, ThreadId, Trace};
use ascend_trace_testkit::{Timeline, timeline};

fn tasks(trace: &Trace, stream: u32) -> Vec<&Task> {
    let ids = trace.stream_tasks(StreamId(stream));
    ids.iter().map(|id| trace.task(*id)).collect()
}

fn calls(trace: &Trace, thread: u32) -> Vec<&Call> {
    let ids = trace.thread_calls(ThreadId(thread));
    ids.iter().map(|id| trace.call(*id)).collect()
}

fn times(trace: &Trace, stream: u32) -> Vec<(i64, i64)> {
    let all = tasks(trace, stream).into_iter();
    all.map(|task| task.time.map(|time| (time.begin, time.end)).unwrap())
        .collect()
}

fn names(trace: &Trace, thread: u32) -> Vec<&str> {
    let all = calls(trace, thread).into_iter();
    all.map(|call| trace.function(call.function).name.as_str())
        .collect()
}

#[test]
fn tasks_have_exactly_the_times_that_were_written() {
    let trace = timeline("s1: MatMul[0..10] rec(E1) | s2: wait(E1) Add[12..20us]");
    assert_eq!(times(&trace, 0), [(0, 10), (10, 10)]);
    assert_eq!(times(&trace, 1), [(0, 10), (12, 20_000)]);
    assert_eq!(trace.task_name(tasks(&trace, 1)[1]), "Add");
    assert_eq!(tasks(&trace, 0)[1].kind, TaskKind::Record);
}

#[test]
fn a_wait_is_bound_to_the_last_record_before_it_in_the_text() {
    let trace = timeline(
        "s1: rec(E)[1] rec(E)[5] rec(Other)[6]
         s2: wait(E)[0..5] wait(E#1)[5..5]
         s1: rec(E)[9]
         t1: sync(E)[7..9] query(E#0)[10..11]",
    );
    let bound = |task: &&Task| trace.call(task.call).event.unwrap();
    let waits: Vec<_> = tasks(&trace, 1).iter().map(bound).collect();
    let records: Vec<_> = tasks(&trace, 0).iter().map(bound).collect();
    assert_eq!(waits, [records[1], records[0]]);
    let host = calls(&trace, 0);
    let named = |role| {
        let call = host
            .iter()
            .find(|call| trace.function(call.function).role == role);
        call.and_then(|call| call.event).unwrap()
    };
    assert_eq!(named(Role::SyncEvent), records[3]);
    assert_eq!(named(Role::QueryEvent).number, 0);
    assert_eq!(named(Role::QueryEvent).event, records[0].event);
}

#[test]
fn launch_calls_follow_submission_order_and_precede_their_tasks() {
    let trace = timeline("s1: MatMul[0..10] rec(E1) | s2: wait(E1) Add[12..20]");
    let order = ["MatMul", "aclrtRecordEvent", "aclrtStreamWaitEvent", "Add"];
    assert_eq!(names(&trace, 0), order);
    for task in trace.tasks() {
        assert!(trace.call(task.call).end <= task.time.unwrap().begin);
    }
    let last = calls(&trace, 0)[3];
    assert_eq!((last.begin, last.end), (11, 12));
}

#[test]
fn a_launch_stays_out_of_the_calls_that_are_written_out() {
    let trace = timeline("s1: A[0..10] B[30..40] | t1: sync(s1)[5..29] aclrtFree(0)[29..30]");
    let launch = trace.call(tasks(&trace, 0)[1].call);
    assert_eq!((launch.begin, launch.end), (4, 5));
    assert!(trace.calls().iter().all(|call| call.depth == 0));
}

#[test]
fn a_written_launch_call_is_used_and_calls_nest() {
    let trace = timeline(
        "p2.s1@3 by t4: memcpy(4096)[10..20] by t7[1..3]=0 Add[20..30]
         p2.t7: aclnnCopy[0..9]",
    );
    let call = trace.call(tasks(&trace, 0)[0].call);
    assert_eq!((call.begin, call.end, call.depth), (1, 3, 1));
    assert_eq!(trace.bytes(call), Some(4096));
    assert_eq!(trace.thread(call.thread).name, "t7");
    assert_eq!(trace.stream(StreamId(0)).device, 3);
    assert_eq!(trace.processes()[0].pid, 2000);
    let add = trace.call(tasks(&trace, 0)[1].call);
    assert_eq!(trace.thread(add.thread).name, "t4");
}

#[test]
fn tasks_without_a_time_say_why() {
    let trace = timeline("s1: A[captured] B[not-harvested] C[0..1]");
    let why: Vec<_> = tasks(&trace, 0).iter().map(|task| task.untimed).collect();
    assert_eq!(why, [Untimed::Captured, Untimed::Lost, Untimed::Timed]);
    assert!(trace.end().is_some());
    let growing = timeline("s1: A[0..1] B[?]");
    assert_eq!(tasks(&growing, 0)[1].time, None);
    assert_eq!(tasks(&growing, 0)[1].untimed, Untimed::Timed);
    assert!(growing.end().is_none());
}

#[test]
fn results_and_negative_times_are_kept() {
    let trace = timeline("t1: sync()[-20us..-5]=507046 // the device hangs");
    let call = calls(&trace, 0)[0];
    assert_eq!((call.begin, call.end, call.ret), (-20_000, -5, 507046));
    assert_eq!(
        trace.error_name(call.ret),
        Some("ACL_ERROR_RT_STREAM_SYNC_TIMEOUT")
    );
}

#[track_caller]
#[test]
fn an_open_call_has_not_returned_and_its_recording_has_no_end() {
    let timeline = Timeline::of("s1: A[5..9] by t1[0..3] B[?] by t1[4..8?] | t2: sync(s1)[1..8?]");
    let trace = timeline.trace();
    let endings = |thread: u32| {
        let calls = calls(&trace, thread).into_iter();
        calls.map(|it| it.ending).collect::<Vec<_>>()
    };
    assert_eq!(endings(0), [Ending::Returned, Ending::Open]);
    assert_eq!(endings(1), [Ending::Open]);
    let has_end = |text: &str| {
        let rows = Timeline::of(text).rows;
        rows.iter().any(|row| matches!(row, Row::End(_)))
    };
    assert!(has_end("t1: sync(s1)[1..8]"));
    assert!(!has_end("t1: sync(s1)[1..8?]"));
}

fn mistake(text: &str) -> String {
    Timeline::parse(text).unwrap_err().to_string()
}

#[test]
fn mistakes_name_their_place() {
    let cases = [
        (
            "s1: A[0..10] B[5..20]",
            "1, column 14: the task begins before the one before it",
        ),
        (
            "s1: A[0..1]\n s2: wait(E)",
            "2, column 11: no rec(E) before this",
        ),
        (
            "s1: rec(E)[0]\ns2: wait(E#2)",
            "2, column 10: E is recorded 1 times only",
        ),
        (
            "s1: A[10..0]",
            "1, column 7: the end comes before the begin",
        ),
        ("s1: A", "1, column 6: expected '[', found the end"),
        ("s1: A[soon]", "1, column 7: no reason is called soon"),
        ("s1: A[5h..6]", "1, column 7: units are ns"),
        (
            "x: A[0..1]",
            "1, column 1: a lane is s1, t1 or p1.s1, not x",
        ),
        (
            "s1@0: A[0..1] | s1@1: B[1..2]",
            "1, column 17: s1 is on device 0 already",
        ),
        (
            "t1: f[0..10] g[5..15]",
            "1, column 14: the call ends after the one",
        ),
        (
            "s1: A[0..1] by t1[1..2]",
            "1, column 5: the task begins before its launch",
        ),
        (
            "s1: wait(E#1) rec(F) | s2: wait(F#1) rec(E)",
            "tasks wait for each other",
        ),
        ("s1: kernel[0..1]", "1, column 5: kernel is no item"),
    ];
    for (text, wanted) in cases {
        let found = mistake(text);
        assert!(found.contains(wanted), "{text:?}: {found}");
    }
}

#[test]
#[should_panic(expected = "s1: A[0..10] B[5..20]\n             ^")]
fn a_test_with_a_mistake_shows_the_line() {
    timeline("s1: A[0..10] B[5..20]");
}

#[test]
fn nodes_and_replays_are_numbered_in_the_order_of_their_launches() {
    let trace = timeline(
        "t1: capture(s1)[0..1] of g3 end(s1)[8..9] of g3 aclmdlRIDestroy[60..61] of g3
         s1: A[captured] by t1[6..7] of g3 graph[20..30] of g3 graph[30..40] of g3
         s2: B[captured] by t1[2..3] of g3 C[captured] by t1[4..5] of g3=107024 D[41..42]",
    );
    let about = |name: &str| {
        let calls = trace.calls().iter();
        let calls = calls.filter(|call| trace.function(call.function).name == name);
        let graphs = calls.map(|call| call.graph.map(|graph| (graph.serial, graph.index)));
        graphs.collect::<Vec<_>>()
    };
    assert_eq!(about("A"), [Some((3, 2))]);
    assert_eq!(about("B"), [Some((3, 1))]);
    assert_eq!(about("C"), [Some((3, 0))]);
    assert_eq!(about("D"), [None]);
    assert_eq!(about("aclmdlRIExecuteAsync"), [Some((3, 1)), Some((3, 2))]);
    assert_eq!(about("aclmdlRICaptureEnd"), [Some((3, 0))]);
    let sequences = |stream| {
        let tasks = tasks(&trace, stream).into_iter();
        tasks.map(|task| task.sequence).collect::<Vec<_>>()
    };
    assert_eq!((sequences(0), sequences(1)), (vec![0, 0, 1], vec![0, 0]));
}

#[test]
fn creations_ends_and_copy_directions_are_written_out() {
    let trace = timeline(
        "t1: create(s1)[0..1] create(E)[2..3] aclrtMalloc(64,4096)[4..5]
         s1: memcpy(64,4096,8192)[20..30] by t1[6..7]
         t1: destroy(E)[40..41] force(s1)[42..43]",
    );
    assert_eq!(
        names(&trace, 0),
        [
            "aclrtCreateStream",
            "aclrtCreateEvent",
            "aclrtMalloc",
            "aclrtMemcpyAsync",
            "aclrtDestroyEvent",
            "aclrtDestroyStreamForce",
        ]
    );
    let calls = calls(&trace, 0);
    assert_eq!(calls[1].event, calls[4].event);
    assert!(calls[1].event.is_some() && calls[0].stream == calls[5].stream);
    assert_eq!(trace.args(calls[2])[..2], [4096, 64]);
    assert_eq!(trace.args(calls[3])[..4], [4096, 64, 8192, 64]);
}
