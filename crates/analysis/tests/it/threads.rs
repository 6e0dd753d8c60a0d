//! What threads do to each other's streams, and what runs in threads of the runtime.

use ascend_trace_analysis::checks::{Finding, Findings};
use ascend_trace_analysis::{Fold, Window};
use ascend_trace_testkit::timeline;

/// What a check finds in a timeline.
fn found(check: &str, text: &str) -> Vec<Finding> {
    let trace = timeline(text);
    let mut found = Findings::default().of(&Window::whole(&trace));
    found.retain(|it| it.check == check);
    found
}

/// What was found, in words.
fn words(check: &str, text: &str) -> Vec<String> {
    let found = found(check, text).into_iter();
    let words = found.map(|it| format!("{} {}: {}", it.tid, it.count, it.what));
    words.collect()
}

#[test]
fn two_threads_inside_submissions_to_one_stream_are_found() {
    let text = "s1: A[100..110] by t1[0..10] B[110..120] by t2[5..15]";
    assert_eq!(
        words("shared-stream", text),
        [
            "1002 1: B on stream 1 was called while thread 1001 was inside A for the same stream (call 0)"
        ]
    );
    let finding = &found("shared-stream", text)[0];
    assert_eq!((finding.site.call, &finding.streams[..]), (1, &[1][..]));
}

#[test]
fn which_submissions_of_two_threads_overlap() {
    for (second, is_found) in [
        // Inside, over the end, and longer than the first one.
        ("B[110..120] by t2[2..8]", true),
        ("B[110..120] by t2[9..30]", true),
        ("B[110..120] by t2[0..30]", true),
        // One returned before the other began.
        ("B[110..120] by t2[10..20]", false),
        ("B[110..120] by t2[11..20]", false),
        // The same thread.
        ("B[110..120] by t1[10..20]", false),
        // Another task is one as well: a copy, a record and a wait.
        ("memcpy(64,1000,2000)[110..120] by t2[2..8]", true),
        ("rec(E)[110..111] by t2[2..8]", true),
        ("wait(E#0)[110..111] by t2[2..8]", true),
        // It did not get there.
        ("B[110..120] by t2[2..8] =107000", false),
    ] {
        let text = format!("s1: A[100..110] by t1[0..10] {second}");
        let found = words("shared-stream", &text);
        assert_eq!(!found.is_empty(), is_found, "{text}: {found:?}");
    }
}

#[test]
fn threads_with_streams_apart_share_none() {
    let apart = "s1: A[100..110] by t1[0..10] | s2: B[100..110] by t2[5..15]";
    assert_eq!(words("shared-stream", apart), [""; 0]);
    // The same number in another process.
    let processes = "p1.s1: A[100..110] by t1[0..10] | p2.s1: B[100..110] by t2[5..15]";
    assert_eq!(words("shared-stream", processes), [""; 0]);
    // A thread may wait for a stream to which another one submits.
    let waits = "s1: A[100..110] by t1[10..20] | t2: sync(s1)[5..200]";
    assert_eq!(words("shared-stream", waits), [""; 0]);
}

#[test]
fn the_default_stream_is_shared_as_well() {
    let text = "s0: A[100..110] by t1[0..10] B[110..120] by t2[5..15]";
    assert_eq!(words("shared-stream", text).len(), 1);
    let turns = "s0: A[100..110] by t1[0..10] B[110..120] by t2[10..20] A[120..130] by t1[20..30]";
    assert_eq!(words("shared-stream", turns), [""; 0]);
}

/// A finding covers all such calls of a thread for a stream.
#[test]
fn submissions_that_overlap_are_counted() {
    let text = "s1: A[100..110] by t1[0..10] B[110..120] by t2[5..15] A[120..130] by t1[20..30] B[130..140] by t2[25..35]
                s1: A[140..150] by t1[40..50] B[150..160] by t2[60..70]";
    let found = words("shared-stream", text);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("1002 2: "), "{found:?}");
    // Each of the two began while the other was inside.
    let both = "s1: A[100..110] by t1[0..10] B[110..120] by t2[5..25] A[120..130] by t1[20..30]";
    let found = words("shared-stream", both);
    assert_eq!(found.len(), 2, "{found:?}");
}
