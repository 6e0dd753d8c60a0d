//! What puts uses of memory on two streams in order.

use ascend_trace_format::range::RangeKind;
use ascend_trace_recording::rows::{LossRow, RangeRow, Row};
use ascend_trace_testkit::Timeline;

use super::{finds, found, found_in, is_fine};

/// Stream 1 writes 64 bytes at 1000 by the call at 0, stream 2 reads them by the call at 100; between them is what
/// the case says, from 10 to 90.
fn write_then_read(between: &str) -> String {
    format!(
        "s1: memcpy(64,1000,5000)[1000..1010] by t1[0..5]
         {between}
         s2: memcpy(64,9000,1000)[5000..5010] by t1[100..105]"
    )
}

#[test]
fn a_read_on_another_stream_without_an_order_is_a_race() {
    let text = write_then_read("");
    let found = found(&text);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(
        found[0].what,
        "aclrtMemcpyAsync on stream 2 reads 64 B that aclrtMemcpyAsync on stream 1 writes (call 0): \
         nothing puts the two in order"
    );
    assert_eq!(
        found[0].advice,
        "record an event on stream 1 after call 0, and let stream 2 wait for it"
    );
    assert_eq!(
        (found[0].site.call, &found[0].streams[..]),
        (1, &[1, 2][..])
    );
}

#[test]
fn what_puts_two_streams_in_order() {
    for between in [
        "s1: rec(E) by t1[10..11] | s2: wait(E) by t1[20..21]",
        "s1: rec(E) by t1[10..11] | t1: sync(E)[20..90]",
        "s1: rec(E) by t1[10..11] | t1: query(E)[20..30]",
        "t1: sync(s1)[20..90]",
        "t1: query(s1)[20..30]",
        "t1: sync()[20..90]",
        // By way of a third stream.
        "s1: rec(E) by t1[10..11] | s3: wait(E) by t1[20..21] rec(F) by t1[30..31] | s2: wait(F) by t1[40..41]",
        // By way of the host, which waited for a stream that waited.
        "s1: rec(E) by t1[10..11] | s3: wait(E) by t1[20..21] | t1: sync(s3)[30..90]",
        // A later recording on the same stream.
        "s1: rec(E) by t1[10..11] rec(E) by t1[12..13] | s2: wait(E#2) by t1[20..21]",
        // Another thread waits, and returns before.
        "t2: sync(s1)[20..90]",
        "s1: rec(E) by t1[10..11] | s2: wait(E) by t2[20..21]",
        // The stream is ended, which waits for it.
        "t1: destroy(s1)[20..90]",
        // The host copied from pageable memory when the stream was empty.
        "s1: memcpy(64,7000,6000)[host-copy] by t1[20..90]",
    ] {
        is_fine(&write_then_read(between));
    }
}

#[test]
fn what_puts_no_two_streams_in_order() {
    for between in [
        // A wait for another event, by another stream, or for an older recording.
        "s3: rec(E) by t1[10..11] | s2: wait(E) by t1[20..21]",
        "s1: rec(E) by t1[10..11] | s3: wait(E) by t1[20..21]",
        "s1: rec(E) by t1[10..11]",
        // Another stream.
        "t1: sync(s2)[20..90]",
        "t1: sync(s3)[20..90]",
        // A wait that failed, and one that gave up.
        "s1: rec(E) by t1[10..11] | s2: wait(E) by t1[20..21] =107000",
        "t1: sync(s1)[20..90]=507046",
        "s1: rec(E) by t1[10..11] =107000 | s3: rec(F) by t1[12..13] | s2: wait(F) by t1[20..21]",
        // The other direction.
        "s2: rec(E) by t1[10..11] | s1: wait(E) by t1[20..21]",
        // Waiting for a stream that did not wait.
        "s1: rec(E) by t1[10..11] | t1: sync(s3)[30..90] | s3: wait(E) by t1[91..92]",
    ] {
        finds("data-race", &write_then_read(between));
    }
    // The record is before the write.
    finds(
        "data-race",
        "s1: rec(E) by t1[0..1] memcpy(64,1000,5000)[1000..1010] by t1[2..5]
         s2: wait(E) by t1[10..11] memcpy(64,9000,1000)[1000..1010] by t1[20..21]",
    );
    // The wait is after the read.
    finds(
        "data-race",
        "s1: memcpy(64,1000,5000)[1000..1010] by t1[0..5] rec(E) by t1[6..7]
         s2: memcpy(64,9000,1000)[1000..1010] by t1[20..21] wait(E) by t1[30..31]",
    );
    // The wait names the first recording, the write is before the second.
    finds(
        "data-race",
        "s1: rec(E) by t1[0..1] memcpy(64,1000,5000)[1000..1010] by t1[2..5] rec(E) by t1[6..7]
         s2: wait(E#1) by t1[10..11] memcpy(64,9000,1000)[1000..1010] by t1[20..21]",
    );
    // A sync that began before the write was submitted.
    finds(
        "data-race",
        "s1: memcpy(64,1000,5000)[1000..1010] by t1[20..25]
         t2: sync(s1)[10..50]
         s2: memcpy(64,9000,1000)[1000..1010] by t1[100..105]",
    );
}

#[test]
fn an_unknown_order_is_no_race() {
    for between in [
        "s2: aclrtWaitAndResetNotify(7)[50..60] by t1[20..21]",
        "s2: aclrtValueWait(64,5,1)[50..60] by t1[20..21]",
        "s2: wait(E#0) by t1[20..21]",
        // Another stream waits for a notify and hands it on.
        "s3: aclrtWaitAndResetNotify(7)[50..60] by t1[20..21] rec(E) by t1[22..23] | s2: wait(E) by t1[24..25]",
        // A callback may inform the program that the stream has reached it.
        "s1: hostfunc[1020..1030] by t1[20..21]",
        // A collective waits for other devices, which may be of this process.
        "s9@1: A[9..10] by t1[8..9] | s2: HcclAllReduce(1,64)[50..60] by t1[20..21]",
    ] {
        is_fine(&write_then_read(between));
    }
    // Work behind an unknown wait may also come after later submissions.
    is_fine(
        "s2: aclrtWaitAndResetNotify(7)[50..60] by t1[0..1] memcpy(64,9000,1000)[1000..1010] by t1[2..3]
         s1: memcpy(64,1000,5000)[500..600] by t1[10..11] notify(7)[600..610] by t1[12..13]",
    );
    // That ends when the host waits for the stream.
    finds(
        "data-race",
        &write_then_read("").replace(
            "s1: memcpy",
            "s2: aclrtWaitAndResetNotify(7)[-90..-80] by t1[-100..-99]
             t1: sync(s2)[-50..-10]
             s1: memcpy",
        ),
    );
    // A notify that is set waits for nothing.
    finds(
        "data-race",
        &write_then_read("s2: notify(7)[50..60] by t1[20..21]"),
    );
    // A collective of the only device waits for other processes, with other memory.
    finds(
        "data-race",
        &write_then_read("s2: HcclAllReduce(1,64)[50..60] by t1[20..21]"),
    );
}

#[test]
fn nothing_is_said_where_calls_are_missing() {
    let text = write_then_read("");
    assert_eq!(found(&text).len(), 1);
    let with_lost = |calls, others, times| {
        let row = LossRow {
            thread: None,
            calls,
            others,
            times,
        };
        found_in(&Timeline::of(&text).with_rows([Row::Loss(row)])).len()
    };
    assert_eq!(with_lost(0, 3, 3), 1, "only times are missing");
    assert_eq!(with_lost(1, 0, 0), 0);
}

#[test]
fn a_pause_of_the_recording_begins_again() {
    let paused = |begin_ns, end_ns| {
        let timeline = Timeline::of(&write_then_read("t1: aclrtMalloc(64)[95..96]"));
        let thread = timeline.rows.iter().find_map(|row| match row {
            Row::Thread(row) => Some((row.process, row.thread)),
            _ => None,
        });
        let (process, thread) = thread.expect("a thread");
        let range = RangeRow {
            process,
            thread,
            begin_ns,
            end_ns,
            domain: RangeKind::Pause.domain(),
            name: String::new(),
        };
        found_in(&timeline.with_rows([Row::Range(range)])).len()
    };
    assert_eq!(paused(20, 90), 0);
    assert_eq!(
        paused(-20, -10),
        0,
        "streams may wait for what was submitted in the pause"
    );
    assert_eq!(paused(200, 300), 1);
}

#[test]
fn a_copy_that_blocks_waits_for_no_stream() {
    let text = |between: &str, copy: &str| {
        format!(
            "s1: memcpy(64,1000,5000)[1000..1010] by t1[0..5]
             {between}
             t1: {copy}[100..110]"
        )
    };
    finds("data-race", &text("", "aclrtMemcpy(64,9000,1000)"));
    finds("data-race", &text("", "aclrtMemcpy(64,1000,9000)"));
    finds("data-race", &text("", "aclrtMemcpy(64,5000,9000)"));
    is_fine(&text("", "aclrtMemcpy(64,9000,5000)"));
    is_fine(&text("t1: sync(s1)[10..90]", "aclrtMemcpy(64,9000,1000)"));
    // Later submissions come after it.
    is_fine(
        "t1: aclrtMemcpy(64,1000,9000)[0..10] | s1: memcpy(64,2000,1000)[20..30] by t1[11..12]",
    );
    let found = found(&text("", "aclrtMemcpy(64,9000,1000)"));
    assert_eq!(
        found[0].advice,
        "wait for stream 1, or for an event on it, before"
    );
}

#[test]
fn captured_tasks_do_not_run() {
    is_fine(
        "t1: capture(s1)[-10..-9] of g1
         s1: memcpy(64,1000,5000)[captured] by t1[0..5] of g1
         t1: end(s1)[10..11] of g1
         s2: memcpy(64,9000,1000)[1000..1010] by t1[100..105]",
    );
    // A sync after a capture covers the submissions before it.
    is_fine(
        "s1: memcpy(64,1000,5000)[1..2] by t1[0..1]
         t1: capture(s1)[10..11] of g1
         s1: A[captured] by t1[12..13] of g1 B[captured] by t1[14..15] of g1
         t1: end(s1)[20..21] of g1 sync(s1)[30..40]
         s2: memcpy(64,9000,1000)[1000..1010] by t1[100..105]",
    );
}

#[test]
fn streams_that_come_after_others_have_a_separate_order() {
    let text = |last: &str| {
        format!(
            "t1: create(s1)[-20..-19]
             s1: memcpy(64,1000,5000)[10..20] by t1[0..5]
             t1: destroy(s1)[21..30] create(s3)[31..32]
             s3: memcpy(64,2000,5000)[1000..1010] by t1[40..41]
             s2: memcpy(64,9000,{last})[1000..1010] by t1[100..105]"
        )
    };
    is_fine(&text("1000"));
    finds("data-race", &text("2000"));
}

#[test]
fn processes_do_not_share_memory() {
    is_fine(
        "p1.s1: memcpy(64,1000,5000)[1000..1010] by t1[0..5]
         p2.s1: memcpy(64,9000,1000)[1000..1010] by t1[100..105]",
    );
}
