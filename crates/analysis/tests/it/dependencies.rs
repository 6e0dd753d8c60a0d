use ascend_trace_analysis::{Dependencies, EdgeKind, Node};
use ascend_trace_model::rows::Row;
use ascend_trace_model::{CallId, TaskId, Trace};
use ascend_trace_testkit::{Timeline, timeline};

use super::words;

#[track_caller]
fn check(text: &str, expected: &[&str]) -> (Trace, Dependencies) {
    let trace = timeline(text);
    let dependencies = Dependencies::of(&trace);
    assert_eq!(words::edges(&trace, &dependencies), expected, "{text}");
    (trace, dependencies)
}

/// A timeline whose events all come from `aclrtCreateEventWithFlag`.
fn with_flag(text: &str) -> Trace {
    let mut timeline = Timeline::parse(text).expect("a timeline");
    for row in &mut timeline.rows {
        if let Row::Event(event) = row {
            event.creation = 1;
        }
    }
    timeline.trace()
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
    let mut timeline = Timeline::parse(text).expect("a timeline");
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
fn a_refused_record_releases_nobody() {
    let text = "s1: A[0..10] rec(E)[call-failed]=107003 | s2: wait(E#1)";
    let trace = timeline(text);
    let dependencies = Dependencies::of(&trace);
    assert!(dependencies.edges().is_empty());
    assert_eq!(dependencies.unresolved(&trace).len(), 1);
}

#[test]
fn a_sync_that_reports_a_failure_of_the_device_has_waited_all_the_same() {
    check(
        "s1: A[0..10] by t2[-2..-1]
         t1: sync(s1)[5..11]=507000",
        &["sync s1.0 > t1.0"],
    );
}

#[test]
fn a_sync_does_not_wait_for_what_was_captured() {
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
    assert_eq!(incoming[0].moments(&trace), Some((0, 5)));
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
    let record = trace.stream_tasks(ascend_trace_model::StreamId(0))[1];
    let outgoing = dependencies.outgoing(&trace, Node::Task(record));
    assert_eq!(outgoing.len(), 3);
    for edge in &outgoing {
        let incoming = dependencies.incoming(&trace, edge.to);
        assert!(incoming.contains(edge), "{edge:?}");
        assert_eq!(dependencies.record_of(&trace, edge.to), Some(record));
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
fn a_window_of_a_long_trace_finds_what_a_full_search_finds() {
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
            let (leave, arrive) = edge.moments(&trace).unwrap();
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
    assert_eq!(dependencies.edges()[0].moments(&trace), Some((-5, -1)));
}

#[test]
fn an_empty_trace_has_no_dependencies() {
    let trace = Trace::default();
    let dependencies = Dependencies::of(&trace);
    assert_eq!(dependencies.all(&trace).count(), 0);
    assert!(dependencies.in_window(&trace, 0, 1, 1).complete);
}
