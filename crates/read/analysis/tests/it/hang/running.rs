//! Tasks and host functions that run: the program is slow, and does not hang.

use ascend_trace_analysis::hang::{Hangs, Report, RootKind};
use ascend_trace_recording::rows::Row;
use ascend_trace_testkit::Timeline;

use super::{chain, culprit, hangs, report, running};

#[test]
fn a_kernel_that_runs_for_long() {
    let kernel = |usual: &str| {
        report(&format!(
            "s1: MatMul[1us..{usual}] by t1[0..1us] MatMul[?] by t1[{usual}..{usual}]
             t1: sync(s1)[4s..20s?]"
        ))
    };
    // It is for the reader to judge: the program goes on when it ends.
    let quick = kernel("9us");
    assert_eq!(
        running(&quick),
        "MatMul on stream 1 has not ended for 20.0 s; the longest of 1 before took 8.00 µs"
    );
    running(&kernel("3s"));
}

/// A program with a host function behind a kernel.
fn before_a_host_function(kernel: &str, usual: &str) -> Report {
    report(&format!(
        "s1: gemm[1us..{usual}] by t1[0..1us] {kernel} by t1[10us..11us] hostfunc[?] by t1[12us..13us]
         t1: sync(s1)[14us..20s?]"
    ))
}

#[test]
fn a_host_function_is_named_behind_work_of_which_the_end_is_not_known() {
    let what = |report: &Report| running(report).to_owned();
    let short = before_a_host_function("gemm[not-sampled]", "9us");
    let name = |report: &Report| {
        let last = &report.threads[0].last_calls;
        let last = last.last().expect("the launch of the host function");
        (last.name.clone(), last.call)
    };
    let (function, call) = name(&short);
    assert_eq!(
        what(&short),
        format!(
            "the host function of {function} on stream 1 has not returned, or gemm before it has not ended, for 20.0 s; \
             gemm has no time; the longest of 1 before took 8.00 µs"
        )
    );
    assert_eq!(short.culprits[0].subject.call, Some(call));
    assert!(short.culprits[0].advice.contains("stacks of all threads"));
    // It is usually long, or not known.
    let long = before_a_host_function("gemm[not-sampled]", "3s");
    assert_eq!(
        what(&long),
        format!(
            "gemm on stream 1 has not ended, or the host function of {function} behind it has not returned, for 17.0 s; \
             gemm has no time; the longest of 1 before took 3.00 s"
        )
    );
    let unknown = before_a_host_function("attn[not-sampled]", "9us");
    assert!(what(&unknown).starts_with("attn on stream 1 has not ended, or the host function of"));
    // Its time comes when it has ended, so it runs.
    let runs = before_a_host_function("gemm[?]", "9us");
    assert_eq!(
        what(&runs),
        "gemm on stream 1 has not ended for 20.0 s; the longest of 1 before took 8.00 µs"
    );
    // The host function is behind a wait that nothing ends.
    let stopped = before_a_host_function("gemm[not-sampled] by t1[9us..10us] wait(E#0)[?]", "9us");
    assert_eq!(culprit(&stopped).kind, RootKind::Unrecorded);
}

#[test]
fn tasks_without_times_are_all_that_may_run() {
    let pending = |count: usize, reason: &str| {
        let tasks: String = (0..count)
            .map(|it| format!(" Work[{reason}] by t1[{it}us..{}us]", it + 1))
            .collect();
        let report = report(&format!("s1:{tasks} | t1: sync(s1)[14us..20s?]"));
        running(&report).to_owned()
    };
    let reason = "not-sampled";
    assert_eq!(
        pending(1, reason),
        "Work on stream 1 has not ended for 20.0 s"
    );
    assert_eq!(
        pending(2, reason),
        "Work on stream 1, or the task behind it, has not ended for 20.0 s"
    );
    assert_eq!(
        pending(4, reason),
        "Work on stream 1, or one of 3 tasks behind it, has not ended for 20.0 s"
    );
    assert_eq!(pending(4, "?"), "Work on stream 1 has not ended for 20.0 s");
}

#[test]
fn the_host_function_of_a_graph_is_named() {
    let replayed = |node: &str| {
        let report = report(&format!(
            "s1 by t1: Work[captured] of g1 {node}[captured] of g1
             s1: graph[?] by t1[3us..4us] of g1 | t1: sync(s1)[14us..20s?]"
        ));
        let culprit = &report.culprits[0];
        (running(&report).to_owned(), culprit.advice.clone())
    };
    let (what, advice) = replayed("hostfunc");
    assert!(
        what.contains(", a graph with a host function, on stream 1 has not ended"),
        "{what}"
    );
    assert!(advice.contains("stacks of all threads"), "{advice}");
    let (what, advice) = replayed("Other");
    assert!(!what.contains("host function"), "{what}");
    assert!(!advice.contains("stacks"), "{advice}");
}

#[test]
fn a_stream_that_only_waits_is_not_blamed() {
    for (kind, name) in [("Huge", "Huge"), ("hostfunc", "host function")] {
        let report = report(&format!(
            "s2: Tiny[1us..2us] by t1[0..1us]
             s1: {kind}[?] by t1[3us..4us] rec(E)[?] by t1[4us..5us]
             s2: wait(E#1)[?] by t1[5us..6us] Tiny[?] by t1[6us..7us] rec(F)[?] by t1[7us..8us]
             s3: wait(F#1)[?] by t1[8us..9us] Tiny[?] by t1[9us..10us]
             t1: sync(s3)[11us..20s?]"
        ));
        let what = running(&report);
        assert!(
            what.contains(name) && what.contains("on stream 1"),
            "{what}"
        );
        let culprit = &report.culprits[0];
        assert_eq!(report.culprits.len(), 1, "{report:#?}");
        let mut streams = culprit.streams.clone();
        streams.sort_unstable();
        assert_eq!(streams, [1, 2, 3]);
        let chain = chain(&report);
        assert_eq!(
            chain[1..4],
            [
                "stream 3 is held by aclrtStreamWaitEvent for event 2",
                "the record of event 2 is pending on stream 2, submitted by thread 1001 20.0 s ago",
                "stream 2 is held by aclrtStreamWaitEvent for event 1",
            ]
        );
        assert_eq!(report.streams[2].head, "aclrtStreamWaitEvent");
        assert_eq!(report.streams[2].waits_for, "event 2");
    }
}

/// The record of F is before all that holds stream 2: it was reached.
#[test]
fn a_record_that_its_stream_has_reached_holds_no_other_stream() {
    let report = report(
        "s2: rec(F)[?] by t1[0..1us]
         s1: wait(F#1)[?] by t1[1us..2us] Huge[?] by t1[3us..4us] rec(E)[?] by t1[4us..5us]
         s2: wait(E#1)[?] by t1[5us..6us] Tiny[?] by t1[6us..7us]
         t1: sync(s2)[11us..20s?]",
    );
    let what = running(&report);
    assert_eq!(what, "Huge on stream 1 has not ended for 20.0 s");
}

/// Another thread makes this call while a host function runs, and has this name.
fn in_host_function(call: &str, name: &str) -> Report {
    let timeline = Timeline::of(&format!(
        "s1: A[1us..9us] by t1[0..1us] hostfunc[?] by t1[10us..11us] A[?] by t1[11us..12us]
         t1: sync(s1)[13us..20s?] | t2: {call}"
    ));
    let timeline = timeline.changed(|row| {
        if let Row::Thread(row) = row {
            let is_second = row.tid == 1002;
            row.name = if is_second { name } else { "app" }.to_owned();
        }
    });
    hangs(Hangs::default(), &timeline)
}

#[test]
fn a_host_function_that_waits_for_its_own_stream_hangs() {
    let report = in_host_function("sync(s1)[15us..20s?]", "runtime-host");
    let culprit = culprit(&report);
    assert_eq!(culprit.kind, RootKind::Cycle, "{report:#?}");
    assert_eq!(
        culprit.what,
        "they wait for each other: stream 1 → thread 1002 → stream 1"
    );
    assert_eq!(
        culprit.advice,
        "do not wait for the stream in its host function"
    );
    // A worker of the program has the program's name, or worked before.
    let worker = in_host_function("sync(s1)[15us..20s?]", "app");
    assert!(running(&worker).contains("host function"), "{worker:#?}");
    let earlier = in_host_function("sync(s1)[2us..3us] sync(s1)[15us..20s?]", "worker");
    assert!(running(&earlier).contains("host function"), "{earlier:#?}");
}
