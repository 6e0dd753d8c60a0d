//! Events that stay done until they are reset: mistakes with the reset, and without it.

use ascend_trace_analysis::checks::{Finding, Findings};
use ascend_trace_analysis::{Fold, Window};
use ascend_trace_recording::rows::Row;
use ascend_trace_testkit::Timeline;

/// How the events of a timeline were made: `aclrtCreateEvent` and its two forms with flags, and the flags.
const PLAIN: (u8, u32) = (0, 0x0e);
const HELD: (u8, u32) = (1, 1);

fn found_of(text: &str, (creation, flags): (u8, u32)) -> Vec<Finding> {
    let timeline = Timeline::of(text).changed(|row| {
        if let Row::Event(row) = row {
            (row.creation, row.flags) = (creation, flags);
        }
    });
    let trace = timeline.trace();
    let mut found = Findings::default().of(&Window::whole(&trace));
    found.retain(|it| it.check.contains("reset"));
    found
}

/// The findings about events that need resets.
fn found(text: &str) -> Vec<String> {
    let found = found_of(text, HELD).into_iter();
    let words = found.map(|it| format!("{} {}: {}", it.check, it.count, it.what));
    words.collect()
}

/// Stream 1 records, and streams 2 and 3 wait for it; the case gives the later calls, from 30 on.
fn two_waits(then: &str) -> String {
    format!(
        "s1: A[100..110] by t1[0..1] rec(E) by t1[2..3]
         s2: wait(E) by t1[10..11]
         s3: wait(E) by t1[12..13]
         {then}"
    )
}

#[test]
fn a_reset_that_another_wait_may_miss_is_found() {
    let text = two_waits("s2: reset(E) by t1[30..31]");
    assert_eq!(
        found(&text),
        [
            "reset-while-waited 1: aclrtResetEvent on stream 2 reset an event, and nothing puts this after \
             aclrtStreamWaitEvent on stream 3 (call 3)"
        ]
    );
    assert_eq!(&found_of(&text, HELD)[0].streams[..], &[2, 3]);
    for then in [
        // On a stream that does not wait, and in order with one wait only.
        "s1: reset(E) by t1[30..31]",
        "s4: reset(E) by t1[30..31]",
        "s2: rec(F) by t1[20..21] | s3: wait(F) by t1[22..23] | s4: wait(F) by t1[24..25] reset(E) by t1[30..31]",
        "t1: sync(s2)[20..120] | s2: reset(E) by t1[130..131]",
        // Recorded before the wait.
        "s2: reset(E) by t2[30..31]",
    ] {
        let found = found(&two_waits(then));
        assert_eq!(found.len(), 1, "{then}: {found:?}");
    }
}

#[test]
fn a_reset_after_all_waits_is_fine() {
    for then in [
        // The stream that resets waits for the other one.
        "s3: rec(F) by t1[20..21] | s2: wait(F) by t1[22..23] reset(E) by t1[30..31]",
        // Or the host does.
        "t1: sync(s3)[20..120] | s2: reset(E) by t1[130..131]",
        "t1: sync()[20..120] | s1: reset(E) by t1[130..131]",
        // No reset, and one of another event.
        "",
        "s2: rec(F) by t1[20..21] reset(F) by t1[30..31]",
        // The target of the stream's wait is not known.
        "s2: aclrtWaitAndResetNotify(7)[120..121] by t1[20..21] reset(E) by t1[130..131]",
    ] {
        let found = found(&two_waits(then));
        assert!(found.is_empty(), "{then}: {found:?}");
    }
    let one = "s1: A[100..110] by t1[0..1] rec(E) by t1[2..3] | s2: wait(E) by t1[10..11] reset(E) by t1[12..13]";
    assert_eq!(found(one), [""; 0]);
    // Other events need no reset, and one changes nothing.
    let early = two_waits("s2: reset(E) by t1[30..31]");
    assert!(found_of(&early, PLAIN).is_empty());
    // The reset failed.
    let failed = early.replace("reset(E) by t1[30..31]", "reset(E) by t1[30..31] =107000");
    assert_eq!(found(&failed), [""; 0]);
}

/// A round of a record and a wait, the calls of the case, and a second round that ends with a wait.
fn two_rounds(between: &str, wait: &str) -> String {
    format!(
        "s1: A[100..110] by t1[0..1] rec(E) by t1[2..3]
         s2: wait(E) by t1[10..11]
         {between}
         s1: B[1000..1010] by t1[900..901] rec(E) by t1[902..903]
         {wait}"
    )
}

const WAIT: &str = "s2: wait(E) by t1[910..911]";

#[test]
fn a_wait_for_a_second_record_without_a_reset_is_found() {
    assert_eq!(
        found(&two_rounds("", WAIT)),
        [
            "recorded-without-reset 1: aclrtStreamWaitEvent on stream 2 may wait for nothing: \
             aclrtRecordEvent on stream 1 (call 4) recorded the event again without a reset"
        ]
    );
    for between in [
        // The host knows that the first round is over, which resets nothing.
        "t1: sync()[20..200]",
        // Another event is reset.
        "s2: rec(F) by t1[20..21] reset(F) by t1[30..31]",
    ] {
        let found = found(&two_rounds(between, WAIT));
        assert_eq!(found.len(), 1, "{between}: {found:?}");
    }
    // A third stream waits.
    let other = two_rounds("", "s3: wait(E) by t1[910..911]");
    assert_eq!(found(&other).len(), 1);
}

#[test]
fn a_second_record_after_a_reset_is_fine() {
    assert_eq!(
        found(&two_rounds("s2: reset(E) by t1[12..13]", WAIT)),
        [""; 0]
    );
    // Events that are made in another way take each record for itself.
    assert!(found_of(&two_rounds("", WAIT), PLAIN).is_empty());
    assert!(found_of(&two_rounds("", WAIT), (2, 1)).is_empty());
    assert!(found_of(&two_rounds("", WAIT), (1, 8)).is_empty());
    for text in [
        // Nothing waited in between.
        "s1: A[100..110] by t1[0..1] rec(E) by t1[2..3] rec(E) by t1[4..5] | s2: wait(E) by t1[10..11]",
        // Nothing waits for the second record, except the host.
        "s1: A[100..110] by t1[0..1] rec(E) by t1[2..3] | s2: wait(E) by t1[10..11]
         s1: rec(E) by t1[20..21] | t1: sync(E)[30..200]",
    ] {
        assert_eq!(found(text), [""; 0], "{text}");
    }
    for wait in [
        // The second record is before the wait in another way.
        "t1: sync(s1)[905..1020] | s2: wait(E) by t1[1030..1031]",
        "s1: rec(F) by t1[904..905] | s2: wait(F) by t1[906..907] wait(E) by t1[910..911]",
        "s1: wait(E) by t1[910..911]",
    ] {
        assert_eq!(found(&two_rounds("", wait)), [""; 0], "{wait}");
    }
}
