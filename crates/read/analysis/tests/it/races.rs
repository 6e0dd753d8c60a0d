//! Uses of memory and their order, one rule at a time, each with and without the mistake.

use ascend_trace_analysis::checks::{Finding, Findings};
use ascend_trace_analysis::{Fold, Window};
use ascend_trace_format::range::RangeKind;
use ascend_trace_recording::rows::{LossRow, ProcessEndRow, RangeRow, Row};
use ascend_trace_testkit::Timeline;

/// The findings of errors and of dropped work: check, and the number of calls.
fn of_timeline(timeline: &Timeline) -> Vec<Finding> {
    let trace = timeline.trace();
    let mut found = Findings::default().of(&Window::whole(&trace));
    let other = [
        "device-sync",
        "failed-call",
        "pageable-copy",
        "unrecorded-event",
    ];
    found.retain(|it| !other.contains(&it.check));
    found
}

#[track_caller]
fn parsed(text: &str) -> Timeline {
    Timeline::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[track_caller]
fn finds(check: &str, text: &str) {
    let found = of_timeline(&parsed(text));
    let ids: Vec<&str> = found.iter().map(|it| it.check).collect();
    assert_eq!(ids, [check], "{text}\n{found:#?}");
}

#[track_caller]
fn is_fine(text: &str) {
    let found = of_timeline(&parsed(text));
    assert!(found.is_empty(), "{text}\n{found:#?}");
}

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
    let found = of_timeline(&parsed(&text));
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
fn which_uses_of_memory_disturb_each_other() {
    for (first, second, is_race) in [
        // Two reads.
        ("memcpy(64,9000,1000)", "memcpy(64,8000,1000)", false),
        // Next to each other, and one byte in common.
        ("memcpy(64,1000,5000)", "memcpy(64,9000,1064)", false),
        ("memcpy(65,1000,5000)", "memcpy(64,9000,1064)", true),
        ("memcpy(64,1000,5000)", "memcpy(64,9000,937)", true),
        ("memcpy(64,1000,5000)", "memcpy(64,9000,936)", false),
        // A write after a read, and after a write.
        ("memcpy(64,9000,1000)", "memcpy(64,1000,5000)", true),
        ("memcpy(64,1000,5000)", "memcpy(64,1032,6000)", true),
        ("memset(64,1000,0)", "memcpy(64,9000,1000)", true),
        ("memset(64,1000,0)", "memset(64,1000,0)", true),
        ("memset(64,1000,0)", "memset(64,2000,0)", false),
        // Nothing at all, and no address.
        ("memset(0,1000,0)", "memset(64,1000,0)", false),
        ("memset(64,0,0)", "memset(64,0,0)", false),
        // What kernels use is not known.
        ("memset(64,1000,0)", "Add(64,1000)", false),
    ] {
        let text = format!(
            "s1: {first}[1000..1010] by t1[0..5] | s2: {second}[1000..1010] by t1[100..105]"
        );
        match is_race {
            true => finds("data-race", &text),
            false => is_fine(&text),
        }
        // On one stream everything is in order.
        is_fine(
            &text
                .replace("s2:", "s1:")
                .replace("[1000..1010] by t1[100", "[1010..1020] by t1[100"),
        );
    }
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
    let mut timeline = parsed(&write_then_read(""));
    assert_eq!(of_timeline(&timeline).len(), 1);
    let lost = |calls, others, times| {
        Row::Loss(LossRow {
            thread: None,
            calls,
            others,
            times,
        })
    };
    let place = timeline.rows.len() - 1;
    timeline.rows.insert(place, lost(0, 3, 3));
    assert_eq!(of_timeline(&timeline).len(), 1, "only times are missing");
    timeline.rows.insert(place, lost(1, 0, 0));
    assert_eq!(of_timeline(&timeline).len(), 0);
}

#[test]
fn a_pause_of_the_recording_begins_again() {
    let paused = |begin_ns, end_ns| {
        let mut timeline = parsed(&write_then_read("t1: aclrtMalloc(64)[95..96]"));
        let thread = timeline.rows.iter().find_map(|row| match row {
            Row::Thread(row) => Some((row.process, row.thread)),
            _ => None,
        });
        let (process, thread) = thread.expect("a thread");
        let place = timeline.rows.len() - 1;
        let range = RangeRow {
            process,
            thread,
            begin_ns,
            end_ns,
            domain: RangeKind::Pause.domain(),
            name: String::new(),
        };
        timeline.rows.insert(place, Row::Range(range));
        of_timeline(&timeline).len()
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
fn freed_memory_begins_again() {
    let text = |between: &str| {
        format!(
            "t1: aclrtMalloc(64,1000)[-20..-10]
             s1: memcpy(64,1000,5000)[10..20] by t1[0..5]
             {between}
             s2: memcpy(64,9000,1000)[1000..1010] by t1[100..105]"
        )
    };
    finds("data-race", &text(""));
    is_fine(&text(
        "t1: aclrtFreeWithDevSync(1000)[10..40] aclrtMalloc(64,1000)[50..60]",
    ));
    is_fine(&text(
        "t1: sync(s1)[10..20] aclrtFree(1000)[21..25] aclrtMalloc(64,1000)[30..60]",
    ));
    // A pool gives memory in an order that the runtime keeps.
    is_fine(&text(
        "s2: aclrtMemPoolMallocAsync(64,1000)[50..51] by t1[50..51]",
    ));
    finds(
        "data-race",
        &text("s2: aclrtMemPoolMallocAsync(64,3000)[50..51] by t1[50..51]"),
    );
    // A caching allocator gives a block to the same stream again, or to another one that waits.
    is_fine(
        "t1: aclrtMalloc(4096,4096)[0..1]
             s1: memcpy(64,4096,9000)[10..20] by t1[2..3] memcpy(64,9500,4096)[20..30] by t1[4..5]
             s1: memcpy(32,4100,9000)[30..40] by t1[6..7] rec(E) by t1[8..9]
             t1: query(E)[50..60]
             s2: memcpy(64,4096,9100)[70..80] by t1[61..62]",
    );
}

#[test]
fn memory_that_is_freed_while_a_task_may_use_it_is_found() {
    let text = |between: &str, free: &str| {
        format!(
            "t1: aclrtMalloc(64,1000)[-20..-10] aclrtMallocHost(64,5000)[-9..-8]
             s1: memcpy(64,1000,5000)[1000..1010] by t1[0..5]
             {between}
             t1: {free}[100..110]"
        )
    };
    finds("freed-in-use", &text("", "aclrtFree(1000)"));
    finds("freed-in-use", &text("", "aclrtFreeHost(5000)"));
    finds(
        "freed-in-use",
        &text("t1: sync(s2)[10..90]", "aclrtFree(1000)"),
    );
    finds(
        "freed-in-use",
        &text(
            "s1: rec(E) by t1[10..11] | s2: wait(E) by t1[12..13]",
            "aclrtFree(1000)",
        ),
    );
    is_fine(&text("t1: sync(s1)[10..90]", "aclrtFree(1000)"));
    is_fine(&text("t1: sync(s1)[10..90]", "aclrtFreeHost(5000)"));
    is_fine(&text("t1: sync()[10..90]", "aclrtFree(1000)"));
    is_fine(&text(
        "s1: rec(E) by t1[10..11] | t1: sync(E)[20..90]",
        "aclrtFree(1000)",
    ));
    is_fine(&text("t2: sync(s1)[10..90]", "aclrtFree(1000)"));
    is_fine(&text(
        "s1: hostfunc[1020..1030] by t1[20..21]",
        "aclrtFree(1000)",
    ));
    is_fine(&text("", "aclrtFreeWithDevSync(1000)"));
    // Memory from an unrecorded call has no known size.
    is_fine(&text("", "aclrtFree(1008)"));
    let found = of_timeline(&parsed(&text("", "aclrtFree(1000)")));
    assert_eq!(
        found[0].what,
        "aclrtFree gave back memory that aclrtMemcpyAsync on stream 1 (call 2) may still write"
    );
}

#[test]
fn memory_of_a_pool_is_given_back_in_the_order_of_a_stream() {
    let text = |between: &str, on: &str| {
        format!(
            "s1: aclrtMemPoolMallocAsync(64,1000)[0..1] by t1[0..1] memcpy(64,1000,5000)[1000..1010] by t1[2..5]
             {between}
             {on}: aclrtMemPoolFreeAsync(1000)[2000..2001] by t1[100..105]"
        )
    };
    let found = of_timeline(&parsed(&text("", "s2")));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(
        (
            found[0].check,
            found[0].what.as_str(),
            found[0].advice.as_str()
        ),
        (
            "freed-in-use",
            "aclrtMemPoolFreeAsync gave back memory that aclrtMemcpyAsync on stream 1 (call 1) may still write",
            "record an event on stream 1 after call 1, and let stream 2 wait for it before"
        )
    );
    let reader = "s1: rec(E) by t1[6..7] | s2: wait(E) by t1[8..9] memcpy(64,9000,1000)[1100..1110] by t1[10..11]";
    finds("freed-in-use", &text(reader, "s1"));
    finds(
        "freed-in-use",
        &text("s1: rec(E) by t1[10..11] | s3: wait(E) by t1[12..13]", "s2"),
    );
    is_fine(&text("", "s1"));
    is_fine(&text(reader, "s2"));
    is_fine(&text(
        &format!("{reader} rec(F) by t1[12..13] | s1: wait(F) by t1[14..15]"),
        "s1",
    ));
    is_fine(&text("t1: sync(s1)[10..90]", "s2"));
    // Memory that is given back has no earlier uses, and memory from an unrecorded call no known size.
    is_fine(&text(
        "s1: aclrtMemPoolFreeAsync(1000)[1010..1011] by t1[10..11]",
        "s2",
    ));
    is_fine(&text("", "s2").replace("FreeAsync(1000)", "FreeAsync(1008)"));
}

#[test]
fn copies_in_rows_use_the_memory_of_their_rows() {
    // Width, target, its pitch, source, its pitch, rows.
    for (first, second, is_race) in [
        // The left and the right half of the rows.
        ("(8,1000,16,5000,8,4)", "(8,1008,16,6000,8,4)", false),
        ("(9,1000,16,5000,9,4)", "(8,1008,16,6000,8,4)", true),
        // The row after the last one, and the last one.
        ("(8,1000,16,5000,8,4)", "(8,1064,16,6000,8,4)", false),
        ("(8,1000,16,5000,8,4)", "(8,1048,16,6000,8,4)", true),
        // The second one reads written rows, the gaps between them, or memory in front of them.
        ("(8,1000,16,5000,8,4)", "(8,7000,8,1000,16,4)", true),
        ("(8,1000,16,5000,8,4)", "(8,7000,8,1008,16,4)", false),
        ("(8,1000,16,5000,8,4)", "(8,7000,8,936,16,4)", false),
        // Rows without gaps.
        ("(16,1000,16,5000,16,4)", "(64,1063,64,6000,64,1)", true),
        ("(16,1000,16,5000,16,4)", "(64,1064,64,6000,64,1)", false),
    ] {
        let text = format!(
            "s1: aclrtMemcpy2dAsync{first}[1000..1010] by t1[0..5]
             s2: aclrtMemcpy2dAsync{second}[1000..1010] by t1[100..105]"
        );
        match is_race {
            true => finds("data-race", &text),
            false => is_fine(&text),
        }
        is_fine(&format!("{text} | t1: sync(s1)[50..60]"));
    }
    let text = "s1: aclrtMemcpy2dAsync(8,1000,16,5000,8,4)[1000..1010] by t1[0..5] | t1: aclrtMemcpy2d(16,7000,16,1000,16,4)[50..60]";
    let found = of_timeline(&parsed(text));
    assert!(found[0].what.contains("reads 32 B that"), "{found:#?}");
}

/// Memory of 64 bytes at 1000 and at 2000; the first half of one is filled. Then a copy to the host, of all of the memory at an
/// address.
fn half_written_then_read(between: &str, address: u64) -> String {
    format!(
        "t1: aclrtMalloc(64,1000)[-20..-10] aclrtMalloc(64,2000)[-9..-8]
         s1: memset(32,1000,0)[1000..1010] by t1[0..5]
         {between}
         s1: aclrtMemcpy2dAsync(64,9000,64,{address},64,1,2)[5000..5010] by t1[100..105]"
    )
}

#[test]
fn a_copy_to_the_host_of_more_than_was_written_is_found() {
    let found = of_timeline(&parsed(&half_written_then_read("", 1000)));
    let words: Vec<(&str, &str)> = found
        .iter()
        .map(|it| (it.check, it.what.as_str()))
        .collect();
    assert_eq!(
        words,
        [(
            "unwritten-read",
            "aclrtMemcpy2dAsync on stream 1 copies memory to the host, and nothing had written 32 B of it"
        )]
    );
    for (between, address, is_found) in [
        // The rest is written, also in another way, or not quite.
        (
            "s1: memset(32,1032,0)[1010..1020] by t1[10..15]",
            1000,
            false,
        ),
        (
            "s1: memset(31,1032,0)[1010..1020] by t1[10..15]",
            1000,
            true,
        ),
        (
            "s1: memcpy(40,1024,7000)[1010..1020] by t1[10..15]",
            1000,
            false,
        ),
        (
            "s1: aclrtMemcpy2dAsync(16,1032,16,7000,32,2)[1010..1020] by t1[10..15]",
            1000,
            false,
        ),
        // A copy takes it along; of memory that nothing has written, nothing is said.
        (
            "s1: memcpy(64,2000,1000)[1010..1020] by t1[10..15]",
            2000,
            true,
        ),
        (
            "s1: memcpy(64,2000,7000)[1010..1020] by t1[10..15]",
            2000,
            false,
        ),
        ("", 2000, false),
        // Other tasks may write it, before or after they were submitted in a graph.
        ("s1: Add[1010..1020] by t1[10..15]", 1000, false),
        ("s2: HcclAllReduce[1010..1020] by t1[10..15]", 1000, false),
        ("s1: graph[1010..1020] by t1[10..15]", 1000, false),
        // The same memory from another allocation.
        (
            "t1: aclrtFree(1000)[50..60] aclrtMalloc(64,1000)[61..62]",
            1000,
            false,
        ),
        // A task of another thread may write it before the notify.
        (
            "s1: aclrtWaitAndResetNotify(7)[1010..1020] by t1[10..15]",
            1000,
            false,
        ),
    ] {
        let found = of_timeline(&parsed(&half_written_then_read(between, address)));
        let is_here = found.iter().any(|it| it.check == "unwritten-read");
        assert_eq!(is_here, is_found, "{between}: {found:#?}");
    }
    // A kernel of before the allocation cannot write it.
    let text = half_written_then_read("", 1000);
    finds(
        "unwritten-read",
        &format!("s1: Add[-200..-190] by t1[-300..-290] | {text}"),
    );
    // A copy within the device.
    is_fine(&text.replace("64,1,2)", "64,1,3)"));
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
    let found = of_timeline(&parsed(&text("", "aclrtMemcpy(64,9000,1000)")));
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

#[test]
fn a_stream_that_is_ended_by_force_is_found_with_its_work() {
    let text = |between: &str, end: &str| {
        format!(
            "s1: A[1000..1010] by t1[0..5] B[1010..1020] by t1[6..7] | {between} t1: {end}(s1)[100..110]"
        )
    };
    finds("destroyed-with-work", &text("", "force"));
    is_fine(&text("", "destroy"));
    is_fine(&text("t1: sync(s1)[20..90] |", "force"));
    is_fine(&text("t1: sync()[20..90] |", "force"));
    is_fine("t1: create(s1)[0..1] force(s1)[100..110] | s1:");
    let found = of_timeline(&parsed(&text("t1: sync(s1)[5..6] |", "force")));
    assert_eq!(
        found[0].what,
        "aclrtDestroyStreamForce on stream 1 ended it with up to 1 task that the host had not waited for"
    );
}

#[test]
fn an_event_that_changes_in_another_threads_wait_is_found() {
    let text = |change: &str| {
        format!("s1: A[0..900] by t1[0..5] rec(E) by t1[6..7] | t1: sync(E)[10..910] | {change}")
    };
    finds("destroyed-while-waited", &text("t2: destroy(E)[100..110]"));
    finds("recorded-while-waited", &text("s1: rec(E) by t2[100..110]"));
    is_fine(&text("t2: destroy(F)[100..110]"));
    is_fine(&text("t2: destroy(E)[920..930]"));
    is_fine(&text("t1: destroy(E)[920..930]"));
    is_fine(&text("s1: rec(E) by t2[8..9]"));
    is_fine(&text("s1: rec(F) by t2[100..110]"));
}

#[test]
fn leaks_at_the_end_of_a_process_are_found_by_the_call_that_made_them() {
    let ended_as = |command: &str, text: &str| {
        let mut timeline = parsed(text);
        for row in &mut timeline.rows {
            if let Row::Process(row) = row {
                row.command = command.to_owned();
            }
        }
        let place = timeline.rows.len() - 1;
        let row = ProcessEndRow {
            process: 1,
            end_ns: 1_000,
        };
        timeline.rows.insert(place, Row::ProcessEnd(row));
        let found = of_timeline(&timeline);
        let words = found
            .iter()
            .map(|it| format!("{} {}: {}", it.check, it.tid, it.what));
        words.collect::<Vec<_>>()
    };
    let ended = |text: &str| ended_as("./app", text);
    let made = "t1: aclrtMalloc(64,1000)[0..1] aclrtMalloc(192,2000)[2..3] create(E)[4..5] create(s1)[6..7]
                t2: aclrtMalloc(8,3000)[0..1] | s1: A[50..51] by t1[8..9]";
    assert_eq!(
        ended(&format!(
            "{made} | t1: aclrtFree(1000)[60..61] destroy(E)[62..63]"
        )),
        [
            "leak 1002: aclrtMalloc left 1 allocation with 8 B when the process ended",
            "leak 1001: aclrtMalloc left 1 allocation with 192 B when the process ended",
            "leak 1001: aclrtCreateStream left 1 stream when the process ended",
        ]
    );
    let all = "t1: aclrtFree(1000)[60..61] aclrtFree(2000)[62..63] aclrtFree(3000)[64..65] destroy(E)[66..67] destroy(s1)[68..69]";
    assert!(ended(&format!("{made} | {all}")).is_empty());
    // Frameworks of Python keep pools of streams and events.
    let pooled = ended_as("/usr/bin/python3.11\0train.py", made);
    assert!(
        pooled.len() == 2 && pooled.iter().all(|it| it.contains("aclrtMalloc")),
        "{pooled:?}"
    );
    // So do others: streams that are used again after the last was made.
    let streams = |then: &str| {
        let made = "t1: create(s1)[0..1] create(s2)[2..3] create(s3)[4..5] create(s4)[6..7] create(s5)[8..9]
                    s1: A[50..51] by t1[1..2]";
        ended(&format!("{made} | {then}"))
    };
    let used = "s2: A[50..51] by t1[30..31]";
    assert!(streams(&format!("s1: B[60..61] by t1[20..21] | {used}")).is_empty());
    // The first one was left before the others were made, or none was used.
    let left = "leak 1001: aclrtCreateStream left 5 streams when the process ended";
    assert_eq!(streams(used), [left]);
    // An address that is used again is another block.
    let again = "t1: aclrtMalloc(64,1000)[0..1] aclrtFree(1000)[2..3] aclrtMalloc(64,1000)[4..5] | s1: A[50..51]";
    assert_eq!(ended(again).len(), 1);
    // A process that was not seen to end may still give everything back.
    is_fine(made);
}

/// Graph 1 copies 64 bytes from 5000 to 1000; the case gives the calls after its capture, from 20 on.
fn captured(then: &str) -> String {
    format!(
        "t1: capture(s3)[0..1] of g1 end(s3)[10..11] of g1
         s3: memcpy(64,1000,5000)[captured] by t1[2..3] of g1
         {then}"
    )
}

#[test]
fn a_replay_uses_what_its_tasks_use() {
    let replay = "s1: graph[1000..1010] by t1[20..25] of g1";
    let read = "s2: memcpy(64,9000,1000)[5000..5010] by t1[100..105]";
    let found = of_timeline(&parsed(&captured(&format!("{replay} | {read}"))));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(
        found[0].what.starts_with(
            "aclrtMemcpyAsync on stream 2 reads 64 B that aclmdlRIExecuteAsync on stream 1 writes"
        ),
        "{found:#?}"
    );
    is_fine(&captured(&format!(
        "{replay} | t1: sync(s1)[30..1020] | {}",
        read.replace("100..105", "1030..1040")
    )));
    is_fine(&captured(&format!(
        "{replay} | s2: memcpy(64,9000,2000)[5000..5010] by t1[100..105]"
    )));
    // The memory that a graph uses after a change of its nodes is not known.
    let changed = "t1: aclmdlRICaptureTaskUpdateBegin(0)[12..13]";
    is_fine(&captured(&format!("{changed} | {replay} | {read}")));
}

#[test]
fn a_replay_after_its_memory_was_given_back_is_found() {
    let freed = |then: &str| {
        format!(
            "t1: aclrtMalloc(64,1000)[-9..-8] aclrtMalloc(64,3000)[-7..-6]
             {}",
            captured(&format!("t1: {then}"))
        )
    };
    let replay = "| s1: graph[1000..1010] by t1[60..65] of g1";
    let early = freed(&format!("aclrtFree(1000)[20..21] {replay}"));
    let found = of_timeline(&parsed(&early));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(
        found[0].what,
        "aclmdlRIExecuteAsync on stream 1 replays a graph that uses memory which aclrtFree (call 5) gave back"
    );
    // The same address is other memory.
    let again = "aclrtFree(1000)[20..21] aclrtMalloc(64,1000)[22..23]";
    finds("freed-under-graph", &freed(&format!("{again} {replay}")));
    is_fine(&freed(&format!("aclrtFree(3000)[20..21] {replay}")));
    is_fine(&freed(&format!(
        "sync()[70..1020] aclrtFree(1000)[1030..1031] {replay}"
    )));
    // A graph with the same number is another one after the end of the first.
    is_fine(&freed(
        "aclrtFree(1000)[20..21] aclmdlRIDestroy(7)[22..23] of g1",
    ));
}
