//! Uses of ended objects.

use ascend_trace_analysis::checks::{Finding, Findings};
use ascend_trace_analysis::{Fold, Window};
use ascend_trace_recording::Ending;
use ascend_trace_recording::rows::{LossRow, Row, StreamRow};
use ascend_trace_testkit::Timeline;

/// The findings of a timeline that has stream 9 as well, with the handle of stream 1: the tool takes a
/// stream that is used after its end for a new one.
fn found_of(text: &str, change: impl Fn(&mut Vec<Row>)) -> Vec<Finding> {
    let mut timeline = Timeline::of(text);
    let first = timeline
        .rows
        .iter()
        .enumerate()
        .find_map(|(at, row)| match row {
            Row::Stream(row) if row.serial == 1 => Some((at, row.clone())),
            _ => None,
        });
    if let Some((at, row)) = first {
        let late = StreamRow {
            serial: 9,
            acl_id: Some(9),
            ..row
        };
        timeline.rows.insert(at, Row::Stream(late));
    }
    change(&mut timeline.rows);
    let trace = timeline.trace();
    let mut found = Findings::default().of(&Window::whole(&trace));
    found.retain(|it| ["used-after-end", "failed-call"].contains(&it.check));
    found
}

fn found(text: &str) -> Vec<String> {
    words(&found_of(text, |_| {}))
}

fn words(found: &[Finding]) -> Vec<String> {
    let words = |it: &Finding| format!("{} {}: {}", it.check, it.count, it.what);
    found.iter().map(words).collect()
}

#[test]
fn a_stream_that_is_used_after_its_end_is_found() {
    let made = "t1: create(s1)[0..1] | s1: A[50..60] by t1[2..3]";
    let used = "t1: sync(s9)[30..31]=107017";
    let expected = |ender: &str, number: u32| {
        [format!(
            "used-after-end 1: aclrtSynchronizeStream used stream 1, which {ender} (call {number}) had ended"
        )]
    };
    let with = |end: &str| found(&format!("{made} | t1: {end} | {used}"));
    assert_eq!(
        with("destroy(s1)[10..20]"),
        expected("aclrtDestroyStream", 2)
    );
    assert_eq!(
        with("force(s1)[10..20]"),
        expected("aclrtDestroyStreamForce", 2)
    );
    assert_eq!(
        with("aclrtResetDevice(0)[10..20]"),
        expected("aclrtResetDevice", 2)
    );
    // The one that ended it counts, and not a later one.
    assert_eq!(
        with("destroy(s1)[10..20] aclrtResetDevice(0)[21..22]"),
        expected("aclrtDestroyStream", 2)
    );
}

#[test]
fn uses_that_are_allowed_after_an_end() {
    let made = "t1: create(s1)[0..1] | s1: A[50..60] by t1[2..3]";
    let failed = "failed-call 1: aclrtSynchronizeStream returned 107017";
    for then in [
        // Nothing ended it.
        "t1: sync(s9)[30..31]=107017",
        // It was ended later, at the same time, or not at all.
        "t1: sync(s9)[30..31]=107017 destroy(s1)[32..33]",
        "t1: sync(s9)[30..31]=107017 | t2: destroy(s1)[25..35]",
        "t1: destroy(s1)[10..20]=107000 sync(s9)[30..31]=107017",
        "t1: aclrtResetDevice(1)[10..20] sync(s9)[30..31]=107017",
        // Another stream was ended.
        "t1: create(s2)[4..5] destroy(s2)[10..20] sync(s9)[30..31]=107017",
        // The handle means a new stream.
        "t1: destroy(s1)[10..20] create(s9)[21..22] sync(s9)[30..31]=107017",
        "t1: destroy(s1)[10..20] query(s9)[21..22] sync(s9)[30..31]=107017",
        // The stream is the same as before: the reset left it.
        "t1: aclrtResetDevice(0)[10..20] sync(s1)[30..31]=107017",
    ] {
        let found = found(&format!("{made} | {then}"));
        assert!(found.iter().any(|it| it == failed), "{then}: {found:?}");
        assert!(
            found.iter().all(|it| it.starts_with("failed-call ")),
            "{then}: {found:?}"
        );
    }
    // A call that worked, and nothing at all.
    let fine = format!("{made} | t1: destroy(s1)[10..20] sync(s9)[30..31]");
    assert_eq!(found(&fine), [""; 0]);
    assert_eq!(found(made), [""; 0]);
}

#[test]
fn a_call_that_does_not_return_is_found_as_well() {
    let text = "t1: create(s1)[0..1] | s1: A[50..60] by t1[2..3] | t1: destroy(s1)[10..20] sync(s9)[30..90]";
    let never = |rows: &mut Vec<Row>| {
        for row in rows {
            if let Row::Call(row) = row
                && row.begin_ns == 30
            {
                row.ending = Ending::Open;
            }
        }
    };
    let found = found_of(text, never);
    assert_eq!(
        words(&found),
        [
            "used-after-end 1: aclrtSynchronizeStream used stream 1, which aclrtDestroyStream (call 2) had ended"
        ]
    );
    assert_eq!(&found[0].streams[..], &[1]);
    // It waits for a live stream.
    assert_eq!(
        words(&found_of(&text.replace("destroy(s1)[10..20]", ""), never)),
        [""; 0]
    );
}

#[test]
fn a_thread_without_a_device_after_its_reset_is_found() {
    let used = "aclrtMalloc(64)[30..31]=107002";
    let with = |before: &str| found(&format!("t1: aclrtSetDevice(0)[0..1] {before} {used}"));
    assert_eq!(
        with("aclrtResetDevice(0)[10..20]"),
        [
            "used-after-end 1: aclrtMalloc had no context: aclrtResetDevice (call 1) had ended the context that the thread used"
        ]
    );
    let failed = ["failed-call 1: aclrtMalloc returned 107002"];
    assert_eq!(with(""), failed);
    assert_eq!(
        with("aclrtResetDevice(0)[10..20] aclrtSetDevice(0)[21..22]"),
        failed
    );
    // Another thread has its own.
    assert_eq!(with("| t2: aclrtResetDevice(0)[10..20] | t1:"), failed);
    // Another code has another reason.
    let other =
        "t1: aclrtSetDevice(0)[0..1] aclrtResetDevice(0)[10..20] aclrtMalloc(64)[30..31]=107000";
    assert!(found(other)[0].starts_with("failed-call 1: aclrtMalloc returned 107000"));
}

/// Calls that are missing may have made something with the same handle.
#[test]
fn where_calls_are_missing_only_the_code_is_known() {
    let text = "t1: create(s1)[0..1] destroy(s1)[10..20] sync(s9)[30..31]=107017 | s1: A[50..60] by t1[2..3]";
    let lost = |rows: &mut Vec<Row>| {
        let loss = LossRow {
            thread: None,
            calls: 1,
            others: 0,
            times: 0,
        };
        let place = rows.len() - 1;
        rows.insert(place, Row::Loss(loss));
    };
    let found = words(&found_of(text, lost));
    assert_eq!(
        found,
        ["failed-call 1: aclrtSynchronizeStream returned 107017"]
    );
}

#[test]
fn memory_that_is_used_after_its_release_is_found() {
    let twice =
        "t1: aclrtMalloc(64,1000)[0..5] aclrtFree(1000)[10..15] aclrtFree(1000)[20..25]=107000";
    let expected = "used-after-end 1: aclrtFree used memory that aclrtFree (call 1) had given back";
    assert_eq!(found(twice), [expected]);
    // The memory is allocated again, or its allocation is not known.
    let failed = |text: &str| {
        let found = found(text);
        assert!(
            found.iter().all(|it| it.starts_with("failed-call 1")),
            "{found:#?}"
        );
        found.len()
    };
    let again = twice.replace("[10..15]", "[10..15] aclrtMalloc(64,1000)[16..17]");
    assert_eq!(failed(&again), 1);
    assert_eq!(failed(&twice.replace("(64,1000)", "(64,2000)")), 1);
    assert_eq!(
        failed(&twice.replace("aclrtFree(1000)[20", "aclrtFree(1064)[20")),
        1
    );
}
