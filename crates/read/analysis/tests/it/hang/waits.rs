//! Waits for an event, a notify or a stream that nothing sets or frees.

use ascend_trace_analysis::hang::{RootKind, Verdict};

use super::{
    OPEN_NS, asleep, certain, chain, culprit, probable, report, report_seen, report_until, running,
};

#[test]
fn a_wait_for_an_event_that_is_never_recorded() {
    let report = report(
        "s1: A[1us..9us] by t1[0..1us] wait(E#0)[?] by t1[10us..11us] A[?] by t1[11us..12us]
         t1: sync(s1)[13us..20s?]",
    );
    let culprit = certain(&report, RootKind::Unrecorded);
    assert_eq!(
        culprit.what,
        "event 1 was not recorded after the wait for it, nor before"
    );
    assert_eq!(culprit.subject.event, Some(1));
    assert_eq!(culprit.threads, [1001]);
    assert_eq!(
        chain(&report),
        [
            "thread 1001 is in aclrtSynchronizeStream for 20.0 s: it waits for stream 1",
            "stream 1 is held by aclrtStreamWaitEvent for event 1",
        ]
    );
    let stream = &report.streams[0];
    let reported = (stream.pending, &*stream.head, &*stream.waits_for);
    assert_eq!(reported, (2, "aclrtStreamWaitEvent", "event 1"));
    assert_eq!(report.moved_ns, 13_000);
    assert_eq!(report.quiet_ns, OPEN_NS - 13_000);
}

#[test]
fn the_thread_that_recorded_the_event_before_is_named() {
    let report = report_seen(
        "s2: rec(E)[5us] by t2[4us..5us]
         s1: wait(E#1)[6us..7us] by t1[5us..6us]
         s2: reset(E)[8us] by t2[7us..8us]
         s1: wait(E#0)[?] by t1[10us..11us]
         t1: sync(s1)[13us..20s?] | t2: aclrtMalloc(64)[14us..15us]",
        asleep,
    );
    let culprit = probable(&report, RootKind::Unrecorded);
    assert_eq!(
        culprit.what,
        "event 1 was not recorded after the wait for it; thread 1002 recorded it last, 20.0 s ago on stream 2"
    );
    assert!(
        culprit
            .advice
            .ends_with("thread 1002 is outside AscendCL for 20.0 s"),
        "{culprit:?}"
    );
}

#[test]
fn a_reset_that_took_a_record_back_is_named() {
    let report = |waits: &str| {
        report(&format!(
            "s2: rec(E)[5us] by t1[4us..5us] reset(E)[9us] by t1[8us..9us]
             s1: {waits} wait(E#0)[?] by t1[10us..11us]
             t1: sync(s1)[13us..20s?]"
        ))
    };
    let taken = report("");
    assert_eq!(
        culprit(&taken).what,
        "event 1 was not recorded after the wait for it; thread 1001 recorded it last, 20.0 s ago on stream 2, \
         and aclrtResetEvent on stream 2 took that back 20.0 s ago, before a wait for it"
    );
    assert!(
        culprit(&taken)
            .advice
            .starts_with("submit the wait before the reset"),
        "{taken:#?}"
    );
    // A wait has used the record.
    let used = report("wait(E#1)[6us..7us] by t1[5us..6us]");
    assert_eq!(
        culprit(&used).what,
        "event 1 was not recorded after the wait for it; thread 1001 recorded it last, 20.0 s ago on stream 2"
    );
}

const LOST: &str = "a notify holds one signal";

#[test]
fn a_record_while_the_notify_is_set_is_lost() {
    let behind = |records: &str, waits: &str| {
        report(&format!(
            "s1: {records} aclrtRecordNotify(1)[?] by t1[1us..2us]
             s2: {waits}
             t1: sync(s1)[4us..5us] sync(s2)[13us..20s?]"
        ))
    };
    let first = "aclrtRecordNotify(1)[?] by t1[0..1us]";
    let twice = "aclrtWaitAndResetNotify(1)[?] by t1[6us..7us] Work[?] by t1[7us..8us] \
                 aclrtWaitAndResetNotify(1)[?] by t1[8us..9us] Work[?] by t1[9us..10us]";
    let lost = behind(first, twice);
    let found = certain(&lost, RootKind::Unset);
    assert!(
        found.what.contains(LOST) && found.what.contains("a record on stream 1 (call"),
        "{found:?}"
    );
    // The stream records it for itself, in its own order.
    let own = |tasks: &[&str]| {
        let tasks = tasks.iter().zip(0..);
        let tasks = tasks.map(|(it, at)| format!("{it}(1)[?] by t1[{at}us..{}us] ", at + 1));
        let tasks: String = tasks.collect();
        report(&format!(
            "s1: {tasks} Work[?] by t1[9us..10us] | t1: sync(s1)[13us..20s?]"
        ))
    };
    let (set, wait) = ("aclrtRecordNotify", "aclrtWaitAndResetNotify");
    let alone = own(&[set, set, wait, wait]);
    assert!(culprit(&alone).what.contains(LOST), "{alone:#?}");
    // By turns none is lost.
    assert!(running(&own(&[set, wait, set, wait])).starts_with("Work on stream 1"));
    // The first wait may be earlier than the second record.
    let unknown = report(&format!(
        "s1: {first} aclrtRecordNotify(1)[?] by t1[1us..2us] | s2: {twice} | t1: sync(s2)[13us..20s?]"
    ));
    assert!(
        running(&unknown).starts_with("Work on stream 2"),
        "{unknown:#?}"
    );
    let once = "aclrtWaitAndResetNotify(1)[?] by t1[6us..7us] Work[?] by t1[7us..8us]";
    assert!(running(&behind(first, once)).starts_with("Work on stream 2"));
}

/// The order of the streams' records and waits is not known.
#[test]
fn a_wait_that_does_not_end_has_lost_its_signal() {
    let text = "s1: aclrtRecordNotify(1)[?] by t1[0..1us] aclrtRecordNotify(1)[?] by t1[1us..2us]
                s2: aclrtWaitAndResetNotify(1)[?] by t1[2us..3us] aclrtWaitAndResetNotify(1)[?] by t1[3us..4us]
                s2: aclrtRecordNotify(2)[?] by t1[4us..5us]
                s3: aclrtWaitAndResetNotify(2)[?] by t1[5us..6us]
                t1: sync(s2)[13us..20s?] | t2: sync(s3)[14us..20s?]";
    let lost = report(text);
    let found = certain(&lost, RootKind::Unset);
    assert!(found.what.contains(LOST), "{found:?}");
    assert_eq!(lost.culprits.len(), 1, "{lost:#?}");
    assert_eq!(found.threads, [1001, 1002]);
    assert_eq!(lost.streams[0].stream_id, 2, "{lost:#?}");
    // Work behind it may be what runs.
    let works = format!("{text} | s2: Work[?] by t1[6us..7us] | s3: Work[?] by t1[7us..8us]");
    assert!(running(&report(&works)).starts_with("Work on stream"));
}

#[test]
fn a_stream_that_a_thread_waits_for_is_always_listed() {
    let text = "s1: A[1us..9us] by t1[0..1us] | t1: sync(s1)[13us..20s?]";
    let report = report(text);
    assert_eq!(report.verdict, Verdict::Quiet);
    assert_eq!(report.culprits[0].kind, RootKind::Unknown, "{report:#?}");
    let stream = &report.streams[0];
    let listed = (stream.stream_id, stream.pending, &*stream.waits_for);
    assert_eq!(listed, (1, 0, "not known"));
    assert_eq!(report.streams.len(), 1);
    // It may just be about to return.
    let soon = report_until(&text.replace("..20s", "..500ms"), 500_000_000);
    assert!(soon.streams.is_empty(), "{soon:#?}");
}

#[test]
fn streams_that_wait_for_each_other() {
    let report = report(
        "s1: aclrtWaitAndResetNotify(1)[?] by t1[0..1us] aclrtRecordNotify(2)[?] by t1[1us..2us]
         s2: aclrtWaitAndResetNotify(2)[?] by t1[2us..3us] aclrtRecordNotify(1)[?] by t1[3us..4us]
         s3: A[19s..19s] by t2[18s..18s]
         t1: sync(s1)[13us..20s?]",
    );
    let culprit = certain(&report, RootKind::Cycle);
    assert_eq!(
        culprit.what,
        "they wait for each other: stream 1 → stream 2 → stream 1"
    );
    assert!(
        culprit
            .advice
            .starts_with("submit the record, or what sets the signal"),
        "{culprit:?}"
    );
}

#[test]
fn streams_that_wait_for_each_other_by_events() {
    let report = report(
        "s1: wait(A#0)[?] by t1[0..1us] rec(B)[?] by t1[1us..2us]
         s2: wait(B#1)[?] by t1[2us..3us] rec(A)[?] by t1[3us..4us]
         t1: sync(s2)[13us..20s?]",
    );
    let culprit = culprit(&report);
    assert_eq!(culprit.kind, RootKind::Cycle, "{culprit:?}");
    // In the right order nothing waits.
    let right = super::report(
        "s1: rec(B)[?] by t1[1us..2us] wait(A#0)[?] by t1[2us..3us]
         s2: wait(B#1)[?] by t1[3us..4us] rec(A)[?] by t1[4us..5us]
         t1: sync(s2)[13us..20s?]",
    );
    assert_ne!(right.verdict, Verdict::Hangs, "{right:#?}");
}

#[test]
fn a_queue_that_is_full_behind_a_wait() {
    let report = report(
        "s1: wait(E#0)[?] by t1[0..1us] A[?] by t1[1us..2us] A[?] by t1[2us..3us] A[?] by t1[3us..4us]
         s1: A[?] by t1[5us..20s?]",
    );
    let culprit = certain(&report, RootKind::QueueFull);
    assert_eq!(
        culprit.what,
        "the queue of stream 1 is full behind a wait: event 1 was not recorded after the wait for it, nor before"
    );
}

#[test]
fn a_device_that_failed_before() {
    let report = report(
        "s1: A[?] by t1[0..1us]
         t1: sync(s1)[2us..3us]=507000 sync(s1)[4us..20s?]",
    );
    let culprit = culprit(&report);
    assert_eq!(
        (culprit.kind, culprit.code),
        (RootKind::Failed, Some(507_000))
    );
    assert!(
        culprit.what.starts_with(
            "aclrtSynchronizeStream on stream 1 returned 507000 (ACL_ERROR_RT_INTERNAL_ERROR)"
        ),
        "{culprit:?}"
    );
}

#[test]
fn tasks_proven_done_by_a_sync_are_not_pending() {
    // The kernel and the record have no times, and are done for all that.
    let report = report(
        "s1: A[?] by t1[0..1us] rec(E)[?] by t1[1us..2us] wait(F#0)[?] by t1[5us..6us]
         t1: sync(E)[3us..4us] sync(s1)[7us..20s?]",
    );
    assert_eq!(culprit(&report).kind, RootKind::Unrecorded);
    assert_eq!(report.streams[0].pending, 1);
}
