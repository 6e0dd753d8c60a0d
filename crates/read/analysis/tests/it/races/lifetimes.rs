//! Memory, streams and events that end too early, or that nothing ends.

use ascend_trace_recording::rows::{ProcessEndRow, Row};
use ascend_trace_testkit::Timeline;

use super::{finds, found, found_in, is_fine};

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
    let found = found(&text("", "aclrtFree(1000)"));
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
    let found = found(&text("", "s2"));
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
    let found = found(&text("t1: sync(s1)[5..6] |", "force"));
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
        let row = ProcessEndRow {
            process: 1,
            end_ns: 1_000,
        };
        let timeline = Timeline::of(text).with_rows([Row::ProcessEnd(row)]);
        let found = found_in(&timeline.changed(|row| {
            if let Row::Process(row) = row {
                row.command = command.to_owned();
            }
        }));
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
