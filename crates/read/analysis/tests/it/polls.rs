//! Loops of queries wait for the objects that they query.

use std::collections::BTreeSet;

use ascend_trace_analysis::critical::{Critical, SegmentKind};
use ascend_trace_analysis::whatif::{Change, Narrow, Verdicts, WhatIf};
use ascend_trace_analysis::{Cause, Dependencies, EdgeKind, Window};
use ascend_trace_testkit::timeline;

use super::words;

/// The links from tasks to calls that waited for them.
fn syncs(text: &str) -> Vec<String> {
    let trace = timeline(text);
    let dependencies = Dependencies::of(&trace);
    let edges = dependencies.edges().iter();
    let own = edges.filter(|it| it.kind == EdgeKind::TaskToSync);
    let mut words: Vec<String> = own.map(|it| words::edge(&trace, it)).collect();
    words.sort();
    words
}

/// A stream is busy until 40 µs. The thread asks every 10 µs, and notices it at 42 µs.
const LOOP: &str = "\
    s1: A[2us..40us] by t1[0us..1us]
    t1: query(s1,1)[5us..6us] query(s1,1)[15us..16us] query(s1,1)[25us..26us] query(s1,1)[35us..36us]
    t1: query(s1,0)[41us..42us]
    s1: B[45us..55us] by t1[43us..44us] | t1: sync(s1)[46us..56us]";

#[test]
fn the_last_query_of_a_loop_waited_for_the_stream() {
    assert_eq!(syncs(LOOP), ["sync s1.0 > t1.5", "sync s1.1 > t1.7"]);
}

#[test]
fn a_loop_over_an_event_waited_for_its_record() {
    let text = "s1: A[2us..40us] by t1[0us..1us] rec(E)[40us..40us] by t1[1us..2us] B[41us..99us] by t1[2us..3us]
                t1: query(E,0)[5us..6us] query(E,0)[15us..16us] query(E,1)[41us..42us]";
    assert_eq!(syncs(text), ["sync s1.1 > t1.5"]);
}

#[test]
fn a_loop_over_two_streams_waited_for_both() {
    let text = "s1: A[2us..40us] by t1[0us..1us] | s2: B[3us..30us] by t1[1us..2us]
                t1: query(s1,1)[5us..6us] query(s2,1)[7us..8us] query(s1,1)[20us..21us] query(s2,0)[31us..32us]
                t1: query(s1,0)[41us..42us]";
    assert_eq!(syncs(text), ["sync s1.0 > t1.6", "sync s2.0 > t1.5"]);
}

#[test]
fn single_queries_wait_for_nothing() {
    let task = "s1: A[2us..40us] by t1[0us..1us]";
    // Done at once; never done; other work between; a pause of the host; another stream.
    for queries in [
        "t1: query(s1,0)[50us..51us]",
        "t1: query(s1,1)[5us..6us] query(s1,1)[7us..8us]",
        "t1: query(s1,1)[5us..6us] aclrtMalloc(8,8)[7us..8us] query(s1,0)[50us..51us]",
        "t1: query(s1,1)[5us..6us] query(s1,0)[50ms..51ms]",
        "s2: B[3us..4us] by t1[1us..2us] | t1: query(s1,1)[5us..6us] query(s2,0)[50us..51us]",
    ] {
        assert!(syncs(&format!("{task}\n{queries}")).is_empty(), "{queries}");
    }
}

/// The system may stop a thread that asks without a pause.
#[test]
fn a_loop_of_many_queries_may_stop_for_longer() {
    let waits = |count: i64, at: i64| {
        let mut text = "s1: A[2us..40us] by t1[0us..1us]\n".to_owned();
        for query in 0..count {
            text += &format!(
                "t1: query(s1,1)[{}..{}]\n",
                2_000 + 200 * query,
                2_100 + 200 * query
            );
        }
        !syncs(&format!("{text}t1: query(s1,0)[{at}ms..{}ms]", at + 1)).is_empty()
    };
    assert!(waits(100, 50));
    assert!(!waits(100, 150));
    assert!(!waits(20, 50));
    assert!(waits(20, 5));
}

#[test]
fn a_loop_stalls_its_thread_and_the_stream_that_it_submits_to() {
    let trace = timeline(LOOP);
    let wanted = [Cause::HostSync, Cause::ReturnLatency, Cause::HostBlocked];
    let found = words::stalls(&trace, &wanted);
    assert!(
        found
            .iter()
            .any(|it| it.starts_with("t1 5000..40000 host-sync by s1 A")),
        "{found:?}"
    );
    assert!(
        found
            .iter()
            .any(|it| it.starts_with("t1 40000..42000 return-latency")),
        "{found:?}"
    );
}

#[test]
fn the_critical_path_goes_through_the_task_that_a_loop_waited_for() {
    let trace = timeline(LOOP);
    let window = Window::whole(&trace);
    let report = Critical::of(&window, (0, 56_000));
    let kinds: Vec<SegmentKind> = report.segments.iter().map(|it| it.kind).collect();
    assert!(kinds.contains(&SegmentKind::Return), "{kinds:?}");
}

fn saved(change: Change) -> i64 {
    let trace = timeline(LOOP);
    let report = WhatIf::of(&Window::whole(&trace)).predict(&[change], Vec::new());
    report.predictions[0].saved_ns
}

#[test]
fn a_loop_ends_sooner_where_the_stream_does() {
    let names = |name: &str| BTreeSet::from([name.to_owned()]);
    let operation = Change::Operation {
        names: names("A"),
        factor: 0.5,
    };
    assert_eq!(saved(operation), 19_000);
    let none = Change::Sync {
        functions: names("aclrtStreamQuery"),
        narrow: Narrow::None,
    };
    // The loop returns at 7 µs, and B follows A.
    assert_eq!(saved(none), 5_000);
}

#[test]
fn loops_are_blocking_calls() {
    let trace = timeline(LOOP);
    let report = WhatIf::of(&Window::whole(&trace)).syncs(&Verdicts::default());
    let row = report
        .syncs
        .iter()
        .find(|it| it.function == "aclrtStreamQuery");
    let row = row.expect("a row for the loop");
    assert_eq!(
        (row.count, row.blocked_ns, row.returning_ns),
        (1, 37_000, 2_000)
    );
}
