use ascend_trace_analysis::{Dependencies, EdgeKind, EdgeTimes, Node, released};
use ascend_trace_recording::rows::Row;
use ascend_trace_recording::{CallId, TaskId, Trace};
use ascend_trace_testkit::{Timeline, timeline};

use super::words;

#[track_caller]
fn check(text: &str, expected: &[&str]) -> (Trace, Dependencies) {
    let trace = timeline(text);
    let dependencies = Dependencies::of(&trace);
    assert_eq!(words::edges(&trace, &dependencies), expected, "{text}");
    (trace, dependencies)
}

/// A timeline with events that all come from `aclrtCreateEventWithFlag`.
fn with_flag(text: &str) -> Trace {
    Timeline::of(text).with_events(1).trace()
}

#[test]
fn a_wait_is_linked_to_the_record_that_released_it() {
    check(
        "s1: A[0..10] rec(E)
         s2: wait(E) B[12..20]",
        &["record-wait s1.1 > s2.0"],
    );
}

#[test]
fn every_waiter_of_a_record_is_linked() {
    check(
        "s1: A[0..10] rec(E)
         s2: wait(E)
         s3: wait(E)",
        &["record-wait s1.1 > s2.0", "record-wait s1.1 > s3.0"],
    );
}

#[test]
fn a_wait_keeps_the_record_that_was_the_latest_when_it_was_submitted() {
    check(
        "s1: A[0..10] rec(E)
         s2: wait(E)
         s1: B[20..30] rec(E)
         s3: wait(E)",
        &["record-wait s1.1 > s2.0", "record-wait s1.3 > s3.0"],
    );
}

#[test]
fn waits_on_other_devices_and_from_other_threads_are_linked() {
    check(
        "s1@0 by t1: A[0..10] rec(E)
         s2@1 by t2: wait(E) B[12..20]",
        &["record-wait s1.1 > s2.0"],
    );
}

#[test]
fn events_of_the_same_name_in_two_processes_are_not_mixed_up() {
    let text = "p1.s1: A[0..10] rec(E)
                p2.s1: rec(E) wait(E)";
    let trace = timeline(text);
    let dependencies = Dependencies::of(&trace);
    assert_eq!(dependencies.edges().len(), 1);
    let Node::Task(record) = dependencies.edges()[0].from else {
        panic!("a record is a task");
    };
    let stream = trace.stream(trace.task(record).stream);
    assert_eq!(trace.process(stream.process).pid, 2000);
}

#[test]
fn a_wait_for_an_event_without_a_record_stays_unresolved() {
    let (trace, dependencies) = check("s1: A[0..10] wait(E#0)", &[]);
    let unresolved = dependencies.unresolved(&trace);
    assert_eq!(unresolved.len(), 1);
    assert_eq!(words::node(&trace, Node::Task(unresolved[0])), "s1.1");
}

#[test]
fn a_resolved_wait_is_not_listed_as_unresolved() {
    let (trace, dependencies) = check("s1: rec(E) | s2: wait(E)", &["record-wait s1.0 > s2.0"]);
    assert!(dependencies.unresolved(&trace).is_empty());
}

#[test]
fn an_early_wait_for_an_event_with_flags_binds_to_the_next_record() {
    let text = "s2: wait(E#0)[1..30] by t1[0..1]
                s1: A[10..20] by t1[2..3] rec(E)[20] by t1[4..5]";
    let trace = with_flag(text);
    let dependencies = Dependencies::of(&trace);
    assert_eq!(
        words::edges(&trace, &dependencies),
        ["record-wait s1.1 > s2.0"]
    );
    assert!(dependencies.unresolved(&trace).is_empty());
    // Without the flag such a wait is refused or passes at once.
    assert!(Dependencies::of(&timeline(text)).edges().is_empty());
}

#[test]
fn an_early_wait_after_a_reset_skips_the_records_before_it() {
    let text = "s1: rec(E)[0] by t1[-3..-2]
                s2: wait(E#0)[10..30] by t1[5..6]
                s1: rec(E)[20] by t1[15..16]";
    let trace = with_flag(text);
    assert_eq!(
        words::edges(&trace, &Dependencies::of(&trace)),
        ["record-wait s1.1 > s2.0"]
    );
}

#[test]
fn a_stream_sync_waits_for_the_last_task_submitted_before_it() {
    check(
        "s1: A[0..10] by t1[-9..-8] B[10..20] by t1[-7..-6] C[40..50] by t1[30..31]
         t1: sync(s1)[-5..21]",
        &["sync s1.1 > t1.2"],
    );
}

#[test]
fn a_sync_of_an_idle_stream_waits_for_nothing_it_did_not_submit() {
    check(
        "s1: A[40..50] by t1[30..31]
         t1: sync(s1)[0..1]",
        &[],
    );
}

#[test]
fn an_event_sync_waits_for_the_record() {
    check(
        "s1: A[0..10] rec(E) B[10..90]
         t2: sync(E)[5..11]",
        &["sync s1.1 > t2.0"],
    );
}

#[test]
fn a_device_sync_waits_for_every_stream_of_its_device_only() {
    let text = "s1@0: A[0..10]
                s2@0: B[0..20]
                s3@1: C[0..90]
                t1: sync()[5..21]";
    let trace = timeline(text);
    let dependencies = Dependencies::of(&trace);
    let words = words::edges(&trace, &dependencies);
    assert_eq!(words.len(), 2, "{words:?}");
    assert!(words[0].starts_with("sync s1.0 >"));
    assert!(words[1].starts_with("sync s2.0 >"));
}

#[test]
fn a_device_sync_leaves_other_contexts_of_the_device_out() {
    let text = "s1: A[0..10] | s2: B[0..20]
                t1: sync()[5..21]";
    let mut timeline = Timeline::of(text);
    let second = timeline.rows.iter_mut().find_map(|row| match row {
        Row::Stream(stream) if stream.acl_id == Some(2) => Some(stream),
        _ => None,
    });
    second.expect("stream 2").context = 77;
    let trace = timeline.trace();
    let dependencies = Dependencies::of(&trace);
    assert_eq!(words::edges(&trace, &dependencies), ["sync s1.0 > t1.2"]);
}

#[test]
fn a_refused_call_depends_on_nothing() {
    check(
        "s1: A[0..10] rec(E)
         s2: wait(E)[call-failed]=107000
         t2: sync(s1)[5..6]=107003",
        &[],
    );
}

#[test]
fn a_refused_record_releases_no_wait() {
    let text = "s1: A[0..10] rec(E)[call-failed]=107003 | s2: wait(E#1)";
    let trace = timeline(text);
    let dependencies = Dependencies::of(&trace);
    assert!(dependencies.edges().is_empty());
    assert_eq!(dependencies.unresolved(&trace).len(), 1);
}

#[test]
fn a_sync_that_reports_a_failure_of_the_device_has_waited() {
    check(
        "s1: A[0..10] by t2[-2..-1]
         t1: sync(s1)[5..11]=507000",
        &["sync s1.0 > t1.0"],
    );
}

#[test]
fn a_sync_does_not_wait_for_captured_tasks() {
    check(
        "s1: A[0..10] by t2[-5..-4] B[captured] by t2[-3..-2]
         t1: sync(s1)[5..11]",
        &["sync s1.0 > t1.0"],
    );
}

#[test]
fn launches_are_edges_of_both_ends() {
    let (trace, dependencies) = check("s1: A[5..10] by t1[0..1]", &[]);
    let (task, call) = (Node::Task(TaskId(0)), Node::Call(CallId(0)));
    let incoming = dependencies.incoming(&trace, task);
    assert_eq!(incoming, dependencies.outgoing(&trace, call));
    assert_eq!(words::edge(&trace, &incoming[0]), "launch t1.0 > s1.0");
    assert_eq!(
        incoming[0].times(&trace),
        Some(EdgeTimes {
            leave: 0,
            arrive: 5
        })
    );
    assert!(dependencies.incoming(&trace, call).is_empty());
    assert_eq!(dependencies.count(EdgeKind::LaunchToTask), 1);
}

#[test]
fn a_record_knows_all_it_released_and_a_wait_what_released_it() {
    let (trace, dependencies) = check(
        "s1: A[0..10] rec(E)
         s2: wait(E)
         s3: wait(E)
         t2: sync(E)[5..11]",
        &[
            "record-wait s1.1 > s2.0",
            "record-wait s1.1 > s3.0",
            "sync s1.1 > t2.0",
        ],
    );
    let record = trace.stream_tasks(ascend_trace_recording::StreamId(0))[1];
    let outgoing = dependencies.outgoing(&trace, Node::Task(record));
    assert_eq!(outgoing.len(), 3);
    for edge in &outgoing {
        let incoming = dependencies.incoming(&trace, edge.to);
        assert!(incoming.contains(edge), "{edge:?}");
        let mut rows = released::of(&trace, &dependencies, edge.to);
        assert!(rows.any(|row| row.by == Node::Task(record)), "{edge:?}");
    }
    assert_eq!(dependencies.count(EdgeKind::RecordToWait), 2);
    assert_eq!(dependencies.count(EdgeKind::TaskToSync), 1);
    let all = dependencies.all(&trace).count();
    assert_eq!(all, trace.tasks().len() + 3);
}

#[test]
fn a_window_holds_the_edges_that_cross_it() {
    let (trace, dependencies) = check(
        "s1: A[0..10] rec(E) B[10..100] rec(F)
         s2: wait(E) C[12..20] wait(F)",
        &["record-wait s1.1 > s2.0", "record-wait s1.3 > s2.2"],
    );
    let found = |begin, end, limit| {
        let found = dependencies.in_window(&trace, begin, end, limit);
        let words = found.edges.iter().map(|edge| words::edge(&trace, edge));
        (words.collect::<Vec<_>>(), found.complete)
    };
    assert_eq!(found(0, 5, 9), (vec![], true));
    assert_eq!(found(5, 20, 9).0, ["record-wait s1.1 > s2.0"]);
    assert_eq!(found(90, 110, 9).0, ["record-wait s1.3 > s2.2"]);
    let (words, complete) = found(0, 200, 1);
    assert_eq!((words.len(), complete), (1, false));
}

#[test]
fn a_window_of_a_long_trace_agrees_with_a_full_search() {
    let mut text = String::from("s1:");
    for step in 0..2000 {
        text += &format!(" A[{}..{}] rec(E{step})", step * 100, step * 100 + 50);
    }
    text += "\ns2:";
    for step in 0..2000 {
        text += &format!(" wait(E{step})");
    }
    let trace = timeline(&text);
    let dependencies = Dependencies::of(&trace);
    assert_eq!(dependencies.count(EdgeKind::RecordToWait), 2000);
    for (begin, end) in [(0, 0), (49, 51), (5_000, 25_000), (199_000, 300_000)] {
        let crossing = dependencies.edges().iter().filter(|edge| {
            let EdgeTimes { leave, arrive } = edge.times(&trace).unwrap();
            leave <= end && arrive >= begin
        });
        let found = dependencies.in_window(&trace, begin, end, usize::MAX);
        assert_eq!(found.edges, crossing.copied().collect::<Vec<_>>());
    }
}

#[test]
fn an_edge_of_untimed_tasks_takes_the_times_of_their_calls() {
    let (trace, dependencies) = check(
        "s1: rec(E)[timing-off] by t1[-7..-5]
         s2: wait(E)[timing-off] by t1[-3..-1]",
        &["record-wait s1.0 > s2.0"],
    );
    let times = dependencies.edges()[0].times(&trace);
    let expected = EdgeTimes {
        leave: -5,
        arrive: -1,
    };
    assert_eq!(times, Some(expected));
}

#[test]
fn an_empty_trace_has_no_dependencies() {
    let trace = Trace::default();
    let dependencies = Dependencies::of(&trace);
    assert_eq!(dependencies.all(&trace).count(), 0);
    assert!(dependencies.in_window(&trace, 0, 1, 1).complete);
}

/// All stored edges of a kind.
#[track_caller]
fn check_kind(text: &str, kind: EdgeKind, expected: &[&str]) {
    let trace = timeline(text);
    let dependencies = Dependencies::of(&trace);
    let kept = words::edges(&trace, &dependencies).into_iter();
    let found: Vec<_> = kept
        .filter(|it| it.starts_with(&format!("{} ", kind.name())))
        .collect();
    let expected: Vec<_> = expected
        .iter()
        .map(|it| format!("{} {it}", kind.name()))
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn a_notify_goes_from_its_nth_record_to_its_nth_wait() {
    check_kind(
        "s1: notify(7)[1] notify(7)[3]
         s2: aclrtWaitAndResetNotify(7)[1..2] aclrtWaitAndResetNotify(7)[2..3]",
        EdgeKind::SignalToWait,
        &["s1.0 > s2.0", "s1.1 > s2.1"],
    );
    // Another notify.
    check_kind(
        "s1: notify(8)[1] | s2: aclrtWaitAndResetNotify(7)[1..2]",
        EdgeKind::SignalToWait,
        &[],
    );
    // Another process.
    check_kind(
        "p1.s1: notify(7)[1] | p2.s2: aclrtWaitAndResetNotify(7)[1..2]",
        EdgeKind::SignalToWait,
        &[],
    );
}

#[test]
fn a_value_is_waited_for_until_it_is_the_wanted_one() {
    let link = |written: &str, wait: &str| {
        let text = format!("s1: {written} | s2: aclrtValueWait({wait})[90..99] by t2[80..81]");
        let trace = timeline(&text);
        words::edges(&trace, &Dependencies::of(&trace))
    };
    // At least, counted as a signed difference.
    assert_eq!(
        link("value(64,5)[1]", "64,5,0"),
        ["signal-wait s1.0 > s2.0"]
    );
    assert_eq!(
        link("value(64,6)[1]", "64,5,0"),
        ["signal-wait s1.0 > s2.0"]
    );
    assert!(link("value(64,4)[1]", "64,5,0").is_empty());
    // Equal.
    assert_eq!(
        link("value(64,5)[1]", "64,5,1"),
        ["signal-wait s1.0 > s2.0"]
    );
    assert!(link("value(64,6)[1]", "64,5,1").is_empty());
    // Common bits.
    assert_eq!(
        link("value(64,6)[1]", "64,4,2"),
        ["signal-wait s1.0 > s2.0"]
    );
    assert!(link("value(64,2)[1]", "64,4,2").is_empty());
    // Bits that neither has.
    assert_eq!(
        link("value(64,6)[1]", "64,4,3"),
        ["signal-wait s1.0 > s2.0"]
    );
    // Another place.
    assert!(link("value(72,5)[1]", "64,5,1").is_empty());
    // The last that fits before the wait, and the first after it.
    assert_eq!(
        link("value(64,5)[1] value(64,5)[2] value(64,9)[3]", "64,5,1"),
        ["signal-wait s1.1 > s2.0"]
    );
    let after =
        "value(64,9)[1] by t1[0..1] value(64,5)[95] by t1[93..94] value(64,5)[96] by t1[95..96]";
    assert_eq!(link(after, "64,5,1"), ["signal-wait s1.1 > s2.0"]);
}

#[test]
fn a_sync_that_gave_up_differs_from_one_that_waited() {
    let text = "s1: A[0..90] by t2[-2..-1] | t1: sync(s1)[1..50]";
    check_kind(text, EdgeKind::TaskToSync, &["s1.0 > t1.0"]);
    check_kind(text, EdgeKind::TimedOut, &[]);
    let text = &format!("{text}=507046");
    check_kind(text, EdgeKind::TaskToSync, &[]);
    check_kind(text, EdgeKind::TimedOut, &["s1.0 > t1.0"]);
}

#[test]
fn a_stream_is_destroyed_after_its_last_task() {
    check_kind(
        "s1: A[0..90] by t2[-2..-1] | t1: destroy(s1)[1..91]",
        EdgeKind::TaskToSync,
        &["s1.0 > t1.0"],
    );
    check_kind(
        "s1: A[0..90] by t2[-2..-1] | t1: destroy(s1)[1..2]=107003",
        EdgeKind::TaskToSync,
        &[],
    );
}

#[test]
fn a_copy_of_pageable_memory_waits_for_its_stream() {
    check_kind(
        "s1: A[0..90] by t2[-2..-1] memcpy(64)[host-copy] by t1[1..91]",
        EdgeKind::TaskToSync,
        &["s1.0 > t1.0"],
    );
    // A copy by the device does not, nor does a synchronous one.
    check_kind(
        "s1: A[0..90] by t2[-2..-1] memcpy(64)[90..99] by t1[1..2] | t1: aclrtMemcpy(64)[3..4]",
        EdgeKind::TaskToSync,
        &[],
    );
}

#[test]
fn a_callback_goes_through_the_call_that_ran_it() {
    let text = "s1: A[0..10] aclrtLaunchCallback(1)[10..50] B[50..60]
                t2: aclrtProcessReport(100)[5..51] aclrtProcessReport(100)[52..99]=507012";
    check_kind(text, EdgeKind::HostFunc, &["s1.1 > t2.0"]);
    check_kind(text, EdgeKind::HostResume, &["t2.0 > s1.2"]);
    // One that does not block its stream: nothing waits for it.
    let text = "s1: A[0..10] aclrtLaunchCallback(0)[10..10] B[10..60]
                t2: aclrtProcessReport(100)[5..51]";
    check_kind(text, EdgeKind::HostFunc, &["s1.1 > t2.0"]);
    check_kind(text, EdgeKind::HostResume, &[]);
    // Nobody reported in time.
    check_kind(
        "s1: aclrtLaunchCallback(1)[10us..50us] | t2: aclrtProcessReport(100)[5us..9us]",
        EdgeKind::HostFunc,
        &[],
    );
    // A function that the runtime runs itself has no such call.
    check_kind(
        "s1: hostfunc[10..50] | t2: aclrtProcessReport(100)[5..51]",
        EdgeKind::HostFunc,
        &[],
    );
}

#[test]
fn forks_and_joins_of_a_capture_are_no_waits_of_streams() {
    let text = "s1: A[captured] of g1 rec(E)[captured] of g1
                s2: wait(E)[captured] of g1 B[captured] of g1 rec(F)[captured] of g1
                s1: wait(F)[captured] of g1";
    // A task that does not run has the number of the next task that does.
    check_kind(text, EdgeKind::Captured, &["s1.0 > s2.0", "s2.0 > s1.0"]);
    check_kind(text, EdgeKind::RecordToWait, &[]);
}

#[test]
fn a_replay_needs_its_capture() {
    let text = "t1: capture(s1)[0..1] of g1 end(s1)[4..5] of g1
                s1: A[captured] by t1[2..3] of g1 graph[10..20] of g1 graph[20..30] of g1";
    check_kind(text, EdgeKind::Replay, &["t1.2 > s1.0", "t1.2 > s1.1"]);
    // The capture failed: the replayed graph is another one.
    let text = text.replace("end(s1)[4..5] of g1", "end(s1)[4..5] of g1=107025");
    check_kind(&text, EdgeKind::Replay, &[]);
}

#[test]
fn the_order_within_a_stream_leaves_out_what_does_not_run() {
    let trace = timeline("s1: A[0..1] B[captured] of g1 C[1..2] | s2: D[0..1]");
    let order = Dependencies::of(&trace).stream_order(&trace).count();
    assert_eq!(order, 1);
}

#[test]
fn a_wait_after_a_reset_is_bound_to_the_next_record() {
    let trace = with_flag(
        "s1: rec(E)[1] by t1[0..1]
         s2: wait(E)[2] by t1[1..2] reset(E)[3] by t1[2..3] wait(E#0)[4..9] by t1[3..4]
         s1: rec(E)[9] by t1[5..6]",
    );
    let found = words::edges(&trace, &Dependencies::of(&trace));
    assert_eq!(
        found,
        ["record-wait s1.0 > s2.0", "record-wait s1.1 > s2.2"]
    );
}
