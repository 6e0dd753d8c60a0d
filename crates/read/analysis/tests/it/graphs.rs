#![expect(
    clippy::unwrap_used,
    reason = "a test's helpers may panic like the test"
)]

use ascend_trace_analysis::Graphs;
use ascend_trace_analysis::graphs::{GraphOrigin, Outcome};
use ascend_trace_recording::file::{ChunkWriter, Encoder};
use ascend_trace_recording::{Recording, TimeRange, Trace};
use ascend_trace_testkit::timeline;

/// Two streams that are joined into one graph, as far as the end of the capture.
const FORKED: &str = "
    t1: capture(s1)[0..1] of g1
    s1: Add[captured] by t1[2..3] of g1 rec(E)[captured] by t1[4..5] of g1
    s2: wait(E)[captured] by t1[6..7] of g1 Mul[captured] by t1[8..9] of g1
        rec(F)[captured] by t1[10..11] of g1
    s1: wait(F)[captured] by t1[12..13] of g1";

fn forked(rest: &str) -> Trace {
    timeline(&format!(
        "{}\n{rest}",
        FORKED.replace("\n        rec", " rec")
    ))
}

fn names(trace: &Trace, graphs: &Graphs) -> Vec<String> {
    let nodes = graphs.all()[0].nodes.iter();
    nodes
        .map(|node| {
            let name = trace.task_name(trace.task(node.task));
            format!(
                "{} s{} {name}",
                node.number,
                trace.stream(node.stream).serial
            )
        })
        .collect()
}

/// The explanation and the name of the call to blame.
#[track_caller]
fn failure(trace: &Trace) -> (String, String) {
    let graphs = Graphs::of(trace);
    let why = graphs.failure(trace, &graphs.all()[0]).unwrap();
    let call = trace.call(why.call.unwrap());
    (why.text, trace.function(call.function).name.clone())
}

#[test]
fn a_graph_has_its_streams_nodes_dependencies_and_replays() {
    let trace = forked(
        "t1: end(s1)[14..15] of g1 aclmdlRIDestroy[90..91] of g1
         s1: graph[20..30] of g1 graph[30..40] of g1
         s3: graph[50..60] of g1",
    );
    let graphs = Graphs::of(&trace);
    let [graph] = graphs.all() else {
        panic!("{graphs:?}")
    };
    assert_eq!(
        (graph.making, graph.outcome),
        (GraphOrigin::Captured, Outcome::Ready)
    );
    let streams = graph.streams().into_iter();
    let serials: Vec<u32> = streams.map(|id| trace.stream(id).serial).collect();
    assert_eq!(serials, [1, 2]);
    assert_eq!(
        names(&trace, &graphs),
        [
            "1 s1 Add",
            "2 s1 aclrtRecordEvent",
            "3 s2 aclrtStreamWaitEvent",
            "4 s2 Mul",
            "5 s2 aclrtRecordEvent",
            "6 s1 aclrtStreamWaitEvent"
        ]
    );
    let none: Vec<u32> = Vec::new();
    let expected = [none, vec![1], vec![2], vec![3], vec![4], vec![2, 5]];
    assert_eq!(graph.dependencies(&trace), expected);
    let replays: Vec<(u32, u32)> = graph
        .replays
        .iter()
        .map(|replay| {
            let task = trace.task(replay.task.unwrap());
            (replay.number, trace.stream(task.stream).serial)
        })
        .collect();
    assert_eq!(replays, [(1, 1), (2, 1), (3, 3)]);
    assert_eq!(graph.making_span(&trace), Some(TimeRange::new(0, 15)));
    assert!(graph.destroyed.is_some());
    assert_eq!(graphs.failure(&trace, graph), None);
    assert!(graphs.refusals(&trace, graph).is_empty());
    let replay = graph.replays[2].task.unwrap();
    assert_eq!(graphs.replayed(&trace, replay), Some((0, 3)));
    assert_eq!(graphs.captured(&trace, replay), None);
    assert_eq!(graphs.captured(&trace, graph.nodes[3].task), Some((0, 4)));
}

#[test]
fn a_task_after_the_join_is_named() {
    let trace = forked(
        "s2: Sub[captured] by t1[14..15] of g1
         t1: end(s1)[16..17] of g1=107025",
    );
    let (text, call) = failure(&trace);
    assert_eq!(call, "Sub");
    assert!(
        text.contains("stream 2 had joined the origin again with node 5"),
        "{text}"
    );
    assert!(text.contains("got Sub (node 7)"), "{text}");
}

#[test]
fn a_stream_that_did_not_come_back_is_named_with_its_last_call() {
    let trace = timeline(
        "t1: capture(s1)[0..1] of g1 end(s1)[20..21] of g1=107025
         s1: rec(E)[captured] by t1[4..5] of g1
         s2: wait(E)[captured] by t1[6..7] of g1 Mul[captured] by t1[8..9] of g1",
    );
    let (text, call) = failure(&trace);
    assert_eq!(call, "Mul");
    assert!(
        text.contains("stream 2 joined the capture and did not come back"),
        "{text}"
    );
    assert!(text.contains("wait for that on stream 1"), "{text}");
}

#[test]
fn streams_that_only_wait_for_each_other_do_not_come_back() {
    let trace = timeline(
        "t1: capture(s1)[0..1] of g1 end(s1)[30..31] of g1=107025
         s1: rec(E)[captured] by t1[2..3] of g1
         s2: wait(E)[captured] by t1[4..5] of g1
         s3: wait(E)[captured] by t1[6..7] of g1
         s2: rec(F)[captured] by t1[8..9] of g1
         s3: wait(F)[captured] by t1[10..11] of g1 rec(G)[captured] by t1[12..13] of g1
         s2: wait(G)[captured] by t1[14..15] of g1 rec(H)[captured] by t1[16..17] of g1
         s3: wait(H)[captured] by t1[18..19] of g1 rec(I)[captured] by t1[20..21] of g1
         s2: wait(I)[captured] by t1[22..23] of g1",
    );
    let (text, call) = failure(&trace);
    assert_eq!(call, "aclrtStreamWaitEvent");
    assert!(
        text.contains("stream 2 had joined the origin again with node"),
        "{text}"
    );
}

#[test]
fn a_refused_call_is_listed_with_what_to_do() {
    let trace = timeline(
        "t1: capture(s1)[0..1] of g1 aclrtMemcpy(8)[2..3]=107030 sync(s1)[4..5] of g1=107027
         t1: end(s1)[6..7] of g1 aclrtMemcpy(8)[8..9]=107030",
    );
    let graphs = Graphs::of(&trace);
    let graph = &graphs.all()[0];
    assert_eq!(graph.outcome, Outcome::Ready);
    assert_eq!(graphs.failure(&trace, graph), None);
    let refusals = graphs.refusals(&trace, graph);
    assert_eq!(refusals.len(), 2, "{refusals:?}");
    assert!(refusals[0].text.contains("copy asynchronously"));
    assert!(refusals[1].text.contains("synchronised"));
}

#[test]
fn an_invalidated_capture_names_the_call_that_did_it() {
    let trace = timeline(
        "t1: capture(s1)[0..1] of g1 capture(s2)[2..3] of g2
         s1: rec(E)[captured] by t1[4..5] of g1
         s2: wait(E)[captured] by t1[6..7] of g2=107032
         t1: end(s1)[8..9] of g1=507903 end(s2)[10..11] of g2=507903",
    );
    let graphs = Graphs::of(&trace);
    for graph in graphs.all() {
        let why = graphs.failure(&trace, graph).unwrap();
        assert!(
            why.text
                .contains("aclrtStreamWaitEvent on stream 2 failed with 107032")
        );
        assert!(why.text.contains("belongs to another capture"));
        let call = trace.call(why.call.unwrap());
        assert_eq!(call.begin, 6);
    }
}

#[test]
fn the_threads_of_an_end_by_another_thread_are_named() {
    let trace = timeline(
        "t1: capture(s1)[0..1] of g1
         t2: end(s1)[2..3] of g1=107038",
    );
    let (text, call) = failure(&trace);
    assert_eq!(call, "aclmdlRICaptureEnd");
    assert!(text.contains("thread 1001 (t1) began") && text.contains("thread 1002 (t2) ended"));
}

#[test]
fn an_end_on_a_joined_stream_counts_only_until_the_right_one() {
    let wrong = "t1: end(s2)[14..15] of g1=107036";
    let (text, _) = failure(&forked(wrong));
    assert!(text.contains("began on stream 1") && text.contains("not on stream 2"));
    let trace = forked(&format!("{wrong}\n t1: end(s1)[16..17] of g1"));
    let graphs = Graphs::of(&trace);
    let graph = &graphs.all()[0];
    assert_eq!(graph.outcome, Outcome::Ready);
    let refusals = graphs.refusals(&trace, graph);
    assert!(
        refusals[0].text.contains("only the stream that began"),
        "{refusals:?}"
    );
}

#[test]
fn a_capture_that_is_never_ended_says_so_when_the_recording_is_over() {
    let trace = timeline("t1: capture(s1)[0..1] of g1\n s1: A[captured] by t1[2..3] of g1");
    let (text, call) = failure(&trace);
    assert_eq!(call, "aclmdlRICaptureBegin");
    assert!(text.contains("its capture was never ended"));
    let growing = timeline("t1: capture(s1)[0..1] of g1\n s2: A[?]");
    let graphs = Graphs::of(&growing);
    assert_eq!(graphs.failure(&growing, &graphs.all()[0]), None);
}

#[test]
fn graphs_of_two_processes_do_not_mix() {
    let trace = timeline(
        "p1.t1: capture(s1)[0..1] of g1 end(s1)[4..5] of g1
         p2.t1: capture(s1)[0..1] of g1 end(s1)[4..5] of g1=107025
         p1.s1: A[captured] by t1[2..3] of g1
         p2.s1: graph[8..9]",
    );
    let graphs = Graphs::of(&trace);
    let outcomes: Vec<_> = graphs.all().iter().map(|graph| graph.outcome).collect();
    assert_eq!(outcomes, [Outcome::Ready, Outcome::Failed(107_025)]);
}

/// The facts about each graph, with the texts of failures.
fn reported(trace: &Trace, graphs: &Graphs) -> Vec<(u32, Outcome, usize, Option<String>)> {
    let all = graphs.all().iter();
    all.map(|graph| {
        let why = graphs.failure(trace, graph).map(|why| why.text);
        (graph.serial, graph.outcome, graph.nodes.len(), why)
    })
    .collect()
}

#[test]
fn the_selected_calls_of_a_recording_show_the_same_graphs() {
    let unjoined = format!("{FORKED}\nt1: end(s1)[14..15] of g1 =107025");
    let texts = [
        FORKED.to_owned(),
        unjoined,
        format!(
            "{FORKED}\nt1: end(s1)[14..15] of g1\ns1: graph[20..30] of g1\nt1: sync(s1)[31..32]"
        ),
        "t1: capture(s1)[0..1] of g1 sync(s2)[2..3]=107030 end(s1)[4..5] of g1 =507903".to_owned(),
        "s1: graph[20..30] of g1 A[31..32]".to_owned(),
    ];
    for text in texts {
        let text = text.replace("\n        rec", " rec");
        let timeline = ascend_trace_testkit::Timeline::of(&text);
        let writer = ChunkWriter::create(Vec::new(), &timeline.session, &timeline.tables).unwrap();
        let mut writer = writer.with_index_every(4);
        let mut encoder = Encoder::new();
        for row in &timeline.rows {
            encoder.push(row);
            writer.write(&encoder.seal()).unwrap();
        }
        let mut recording = Recording::from_bytes(writer.into_inner()).unwrap();
        let calls = recording.graph_calls().unwrap();
        let some = Graphs::with_replays(&calls.trace, calls.replays.keys().copied());
        let whole = timeline.trace();
        let all = Graphs::of(&whole);
        assert_eq!(
            reported(&calls.trace, &some),
            reported(&whole, &all),
            "{text}"
        );
        let replays = all.all().iter().map(|graph| graph.replays.len() as u64);
        assert_eq!(
            calls.replays.values().sum::<u64>(),
            replays.sum::<u64>(),
            "{text}"
        );
    }
}
