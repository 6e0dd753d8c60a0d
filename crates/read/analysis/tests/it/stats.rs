use ascend_trace_analysis::{Stats, Window};
use ascend_trace_recording::{TimeRange, Trace};
use ascend_trace_testkit::timeline;

fn stats(trace: &Trace) -> Stats {
    Stats::of(trace)
}

#[test]
fn operations_are_summed_by_name_and_kind() {
    let stats = stats(&timeline(
        "s1: A[0..10] A[10..40] B[40..50] | s2: A[0..20] rec(E)",
    ));
    let rows: Vec<_> = stats
        .operations
        .iter()
        .map(|row| (row.name.as_str(), row.count, row.time.total_ns, row.share))
        .collect();
    assert_eq!(
        rows,
        [
            ("A", 3, 60, Some(60.0 / 70.0)),
            ("B", 1, 10, Some(10.0 / 70.0)),
            ("aclrtRecordEvent", 1, 0, None),
        ]
    );
    let a = &stats.operations[0].time;
    assert_eq!(
        (a.mean_ns, a.p50_ns, a.p99_ns, a.max_ns),
        [20, 20, 30, 30].map(Some).into()
    );
}

#[test]
fn a_stream_is_busy_waiting_or_idle() {
    let trace = timeline(
        "s1: A[10..40] by t1[0..1]
         s2: C[10..60] by t1[2..3] rec(E)
         s1: wait(E)[40..60] B[70..100] by t1[50..51]",
    );
    let stats = stats(&trace);
    let row = &stats.streams[0];
    assert_eq!((row.pid, row.device, row.stream_id), (1000, 0, 1));
    assert_eq!((row.begin_ns, row.end_ns), (Some(10), Some(100)));
    assert_eq!((row.busy_ns, row.waiting_ns, row.idle_ns), (60, 20, 10));
    assert!((row.busy_share - 60.0 / 90.0).abs() < 1e-9);
    assert_eq!((row.tasks, row.untimed), (3, 0));
}

#[test]
fn tasks_without_times_are_counted_apart() {
    let stats = stats(&timeline("s1: A[captured] A[0..10] B[no-event]"));
    assert_eq!((stats.streams[0].tasks, stats.streams[0].untimed), (3, 2));
    let a = &stats.operations[0];
    assert_eq!((a.name.as_str(), a.count, a.time.count), ("A", 2, 1));
}

#[test]
fn calls_are_summed_by_function_with_their_errors() {
    let trace = timeline(
        "t1: aclrtMalloc(1)[0..10] aclrtMalloc(1)[20..50]=207001 outer(1)[60..90] inner(1)[70..80]",
    );
    let stats = stats(&trace);
    let row = |name: &str| stats.apis.iter().find(|row| row.name == name).unwrap();
    let malloc = row("aclrtMalloc");
    assert_eq!((malloc.count, malloc.errors, malloc.nested), (2, 1, 0));
    assert_eq!((malloc.time.total_ns, malloc.time.max_ns), (40, 30));
    assert_eq!(row("inner").nested, 1);
    assert_eq!(row("outer").time.total_ns, 30);
}

#[test]
fn stalls_are_summed_by_cause_and_the_worst_are_named() {
    let trace = timeline(
        "s1: A[0..10us] rec(E)
         s2: wait(E)[2us..10us] B[10us..20us] by t1[1us..1500]
         t1: sync(s2)[3us..21us]",
    );
    let stats = stats(&trace);
    let causes: Vec<_> = stats
        .stall_causes
        .iter()
        .map(|row| (row.cause, row.count, row.total_ns))
        .collect();
    let expected = [
        ("host-sync", 1, 17_000),
        ("drained", 2, 12_000),
        ("event-wait", 1, 8_000),
        ("return-latency", 1, 1_000),
    ];
    assert_eq!(causes, expected);
    let wait = &stats.worst_stalls[1];
    assert_eq!((wait.stream_id, wait.tid), (Some(2), None));
    assert_eq!(wait.culprit_stream_id, Some(1));
    assert_eq!(wait.culprit_task.as_deref(), Some("A"));
    assert!(wait.event.is_some());
    let sync = &stats.worst_stalls[0];
    assert_eq!(
        (sync.tid, sync.culprit_task.as_deref()),
        (Some(1001), Some("B"))
    );
}

#[test]
fn a_range_takes_what_overlaps_it_and_clips_the_streams() {
    let trace =
        timeline("s1: A[0..100] by t1[-9..-8] B[100..200] by t1[-7..-6] C[300..400] by t1[-5..-4]");
    let stats = Stats::within(&Window::whole(&trace), Some(TimeRange::new(150, 250)));
    let names: Vec<_> = stats.operations.iter().map(|row| &row.name).collect();
    assert_eq!(names, ["B"]);
    assert_eq!(stats.streams[0].busy_ns, 50);
    assert!(stats.apis.is_empty());
}

#[test]
fn the_document_has_durations_and_empty_lists() {
    let document = serde_json::to_value(stats(&timeline("s1: A[0..10]"))).unwrap();
    assert_eq!(document["operations"][0]["time"]["p99_ns"], 10);
    assert_eq!(document["worst_stalls"], serde_json::json!([]));
}

#[test]
fn an_empty_trace_has_empty_tables() {
    let stats = stats(&Trace::default());
    assert_eq!(stats.begin_ns, None);
    assert!(stats.operations.is_empty() && stats.streams.is_empty() && stats.apis.is_empty());
}

#[test]
fn graphs_are_listed_with_their_replays_and_what_went_wrong() {
    let stats = stats(&timeline(
        "t1: capture(s1)[0..1] of g1 aclrtMemcpy(8)[2..3]=107030 end(s1)[6..7] of g1
         s1: A[captured] by t1[4..5] of g1 graph[20..30] by t1[18..19] of g1 graph[30..60] of g1
         t1: capture(s2)[10..11] of g2 end(s3)[12..13] of g2=107036",
    ));
    let [first, second] = &stats.graphs[..] else {
        panic!("{:?}", stats.graphs)
    };
    assert_eq!((first.graph, first.outcome, first.refused), (1, "ready", 1));
    assert_eq!(
        (first.nodes, first.replays, first.time.total_ns),
        (1, 2, 40)
    );
    assert_eq!(first.streams, [1]);
    assert_eq!((second.outcome, second.code), ("failed", Some(107_036)));
    assert_eq!(second.reason_call.as_deref(), Some("aclmdlRICaptureEnd"));
}
