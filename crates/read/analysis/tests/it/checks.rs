//! Timelines with findings, and timelines without.

use ascend_trace_analysis::checks::{Finding, Findings, all};
use ascend_trace_analysis::{Fold, Window};
use ascend_trace_testkit::{Timeline, timeline};

/// The findings of a timeline: check, thread, number of calls, and text.
fn found(text: &str) -> Vec<String> {
    let trace = timeline(text);
    words(&Findings::default().of(&Window::whole(&trace)))
}

fn words(found: &[Finding]) -> Vec<String> {
    let words = |it: &Finding| format!("{} {} {}: {}", it.check, it.tid, it.count, it.what);
    found.iter().map(words).collect()
}

#[test]
fn an_asynchronous_copy_of_pageable_memory_is_found() {
    let copies = "s1: memcpy(4096)[host-copy] by t1[0..5us] memcpy(4096)[host-copy] by t1[6us..9us]
                  s2: memcpy(64)[host-copy] by t2[0..1us]";
    assert_eq!(
        found(copies),
        [
            "pageable-copy 1001 2: aclrtMemcpyAsync copied 8 KiB of pageable memory and blocked for 8.00 µs",
            "pageable-copy 1002 1: aclrtMemcpyAsync copied 64 B of pageable memory and blocked for 1.00 µs",
        ]
    );
    assert!(found("s1: memcpy(4096)[2us..5us] by t1[0..1us]").is_empty());
    // A wait for the task before is no cost of the copy.
    let late = "s1: A[1us..700us] by t1[0..1us] memcpy(4096)[host-copy] by t1[2us..703us]";
    let words = found(late);
    assert!(
        words[0].ends_with("4 KiB of pageable memory and blocked for 3.00 µs"),
        "{words:?}"
    );
    // A copy that says that it blocks.
    assert!(found("t1: aclrtMemcpy(4096)[0..5us]").is_empty());
}

#[test]
fn a_failed_call_is_found_with_its_code() {
    let calls = "t1: aclrtMalloc(64)[0..1us]=107000 aclrtMalloc(64)[2us..3us] aclrtMalloc(8)[4us..5us]=107000";
    assert_eq!(
        found(calls),
        ["failed-call 1001 2: aclrtMalloc returned 107000 ACL_ERROR_RT_PARAM_INVALID"]
    );
    assert!(found("t1: aclrtMalloc(64)[0..1us]").is_empty());
    // Answers of a wait with a limit, and of a callback thread without a callback.
    let answers = "t1: sync(s1)[0..1us]=507046 aclrtProcessReport(100)[2us..3us]=507012";
    assert_eq!(found(answers), [""; 0]);
}

#[test]
fn a_capture_that_failed_is_found_with_the_rule_that_was_broken() {
    let capture = "t1: capture(s1)[0..1] of g1 end(s1)[10..11] of g1 =107025
                   s1: A[captured] by t1[2..3] of g1 rec(E)[captured] by t1[3..4] of g1
                   s2: wait(E)[captured] by t1[4..5] of g1 B[captured] by t1[6..7] of g1";
    let found = found(capture);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("failed-capture 1001 1: graph 1 was not made: stream 2 joined"),
        "{found:?}"
    );
    let good = "t1: capture(s1)[0..1] of g1 end(s1)[10..11] of g1
                s1: A[captured] by t1[2..3] of g1";
    assert!(self::found(good).is_empty());
}

#[test]
fn a_call_that_a_capture_refused_is_found_where_the_capture_succeeded() {
    let capture = "t1: capture(s1)[0..1] of g1
                   s1: A[captured] by t1[2..3] of g1
                   t1: aclrtMemcpy(64)[4..5]=107030 aclrtMemcpy(64)[6..7]=107030 end(s1)[10..11] of g1";
    let words = found(capture);
    assert_eq!(words.len(), 1, "{words:?}");
    let expected = "refused-in-capture 1001 2: aclrtMemcpy was refused during the capture of graph 1: \
                    calls that block the host are not allowed";
    assert!(words[0].starts_with(expected), "{words:?}");
    // A capture that failed has its own check, and outside of captures nothing is refused.
    let failed = capture.replace("end(s1)[10..11] of g1", "end(s1)[10..11] of g1 =507903");
    let failed = found(&failed);
    assert!(
        failed.iter().all(|it| it.starts_with("failed-capture")),
        "{failed:?}"
    );
    assert!(found("t1: aclrtMemcpy(64)[4..5]=107030").is_empty());
}

#[test]
fn the_default_stream_in_a_capture_is_found() {
    let capture = |then: &str| {
        found(&format!(
            "t1: capture(s1)[0..1] of g1 end(s1)[10..11] of g1
             s1: A[captured] by t1[2..3] of g1 rec(E)[captured] by t1[3..4] of g1
             {then}"
        ))
    };
    let words = capture("s0: wait(E)[captured] by t1[5..6] of g1 =107031");
    let expected = "refused-in-capture 1001 1: aclrtStreamWaitEvent was refused during the capture of graph 1: it would \
                    draw the default stream into the capture, which cannot be captured";
    assert_eq!(words, [expected]);
    // Its own work is no part of the capture.
    assert_eq!(capture("s0: B[20..30] by t1[5..6]"), [""; 0]);

    let begin = |stream: &str| {
        found(&format!(
            "s0: A[20..30] by t1[5..6] | t1: capture({stream})[0..1]=100000"
        ))
    };
    assert_eq!(
        begin("s0"),
        [
            "failed-call 1001 1: aclmdlRICaptureBegin returned 100000: the default stream cannot be captured"
        ]
    );
    assert_eq!(
        begin("s1"),
        ["failed-call 1001 1: aclmdlRICaptureBegin returned 100000"]
    );
}

#[test]
fn a_device_sync_is_found_where_one_stream_was_busy() {
    // The thread submits more after it.
    let more = "s3: C[20us..21us] by t1[20us..20us]";
    let with_more = |text: &str| found(&format!("{text} | {more}"));
    let one =
        "s1: A[1us..9us] by t1[0..100] | s2: B[1us..2us] by t1[200..300] | t1: sync()[5us..10us]";
    assert_eq!(
        with_more(one),
        [
            "device-sync 1001 1: aclrtSynchronizeDevice waited 5.00 µs for the device, on which stream 1 alone was busy"
        ]
    );
    // The last wait of the thread.
    assert!(found(one).is_empty());
    let both =
        "s1: A[1us..9us] by t1[0..100] | s2: B[1us..8us] by t1[200..300] | t1: sync()[5us..10us]";
    assert!(with_more(both).is_empty());
    let stream = "s1: A[1us..9us] by t1[0..100] | t1: sync(s1)[5us..10us]";
    assert!(with_more(stream).is_empty());
    // Nothing was left to wait for.
    let none = "s1: A[1us..2us] by t1[0..100] | t1: sync()[5us..6us]";
    assert!(with_more(none).is_empty());
    // Its effect is another one.
    let frees = "s1: A[1us..9us] by t1[0..100] | t1: aclrtFreeWithDevSync(4096)[5us..10us]";
    assert!(with_more(frees).is_empty());
}

/// Rounds of 100 µs: a time in one of them, in words.
fn rounds(count: u64, of: impl Fn(u64, &dyn Fn(u64) -> String) -> String) -> String {
    let round = |it: u64| of(it, &|us: u64| format!("{}us", it * 100 + us));
    (0..count).map(round).collect::<Vec<_>>().join(" | ")
}

#[test]
fn a_wait_after_each_few_short_tasks_is_found() {
    let waits = |count: u64, tasks: u64, ends: u64| {
        let words = found(&rounds(count, |_, at| {
            let task = |it: u64| {
                let begin = 2 + it * ends;
                let (from, to) = (at(begin), at(begin + ends));
                format!("s1: A[{from}..{to}] by t1[{}..{}]", at(0), at(1))
            };
            let all: Vec<String> = (0..tasks).map(task).collect();
            let sync = format!("t1: sync(s1)[{}..{}]", at(1), at(80));
            format!("{} | {sync}", all.join(" | "))
        }));
        assert!(
            words.iter().all(|it| it.starts_with("sync-each-task")),
            "{words:?}"
        );
        words.first().cloned()
    };
    assert_eq!(
        waits(70, 1, 10).as_deref(),
        Some(
            "sync-each-task 1001 70: aclrtSynchronizeStream was called after each of 70 short tasks: they ran for 700 µs in \
             all, and the waits took 5.53 ms"
        )
    );
    assert_eq!(
        waits(70, 3, 10).as_deref(),
        Some(
            "sync-each-task 1001 70: aclrtSynchronizeStream was called 70 times for 210 short tasks: they ran for 2.10 ms in \
             all, and the waits took 5.53 ms"
        )
    );
    // Many tasks, long ones, and few waits.
    assert_eq!(waits(70, 5, 5), None);
    assert_eq!(waits(70, 3, 20), None);
    assert_eq!(waits(60, 1, 10), None);
}

#[test]
fn loops_of_queries_for_short_tasks_count_as_well() {
    let found_of = |first: u64| {
        found(&rounds(70, |_, at| {
            let task = format!("s1: A[{}..{}] by t1[{}..{}]", at(2), at(12), at(0), at(1));
            let (from, to) = (at(4), at(5));
            format!(
                "{task} | t1: query(s1,{first})[{from}..{to}] query(s1,0)[{}..{}]",
                at(30),
                at(31)
            )
        }))
    };
    assert_eq!(
        found_of(1),
        [
            "sync-each-task 1001 70: a loop of aclrtStreamQuery waited after each of 70 short tasks: they ran for 700 µs in all, \
             and the waits took 1.89 ms"
        ]
    );
    // The first query finds the work done, so nothing waits.
    assert!(found_of(0).is_empty());
}

#[test]
fn waits_for_short_tasks_without_times_count_as_well() {
    let found_of = |timed: u64, sync_end: u64| {
        found(&rounds(100, |round, at| {
            let range = match round < timed {
                true => format!("{}..{}", at(2), at(12)),
                false => "not-sampled".to_owned(),
            };
            let task = format!("s1: A[{range}] by t1[{}..{}]", at(0), at(1));
            format!("{task} | t1: sync(s1)[{}..{}]", at(1), at(sync_end))
        }))
    };
    assert_eq!(
        found_of(20, 40),
        [
            "sync-each-task 1001 100: aclrtSynchronizeStream was called after each of 100 short tasks: they ran for 1.00 ms (20 \
             have times) in all, and the waits took 3.90 ms"
        ]
    );
    // Tasks without times may have run for most of a long wait.
    assert!(found_of(20, 80).is_empty());
    // Of no task, the duration is known.
    assert!(found_of(0, 40).is_empty());
}

/// A thread uses two streams in turn, for 40 µs each. `between` has its calls between the two.
fn in_turn(count: u64, between: impl Fn(&dyn Fn(u64) -> String) -> String) -> Vec<String> {
    let words = found(&rounds(count, |_, at| {
        let first = format!("s1: A[{}..{}] by t1[{}..{}]", at(1), at(41), at(0), at(0));
        let second = format!(
            "s2: B[{}..{}] by t1[{}..{}]",
            at(51),
            at(91),
            at(50),
            at(50)
        );
        let sync = format!("t1: sync(s2)[{}..{}]", at(52), at(93));
        format!("{first} | {} | {second} | {sync}", between(at))
    }));
    let own = words.into_iter();
    own.filter(|it| it.starts_with("streams-in-turn")).collect()
}

#[test]
fn streams_that_the_host_uses_in_turn_are_found() {
    let waits = |at: &dyn Fn(u64) -> String| format!("t1: sync(s1)[{}..{}]", at(2), at(43));
    assert_eq!(
        in_turn(20, waits),
        [
            "streams-in-turn 1001 37: aclrtSynchronizeStream waited for one of streams 1, 2 before the thread submitted to \
             another, 37 times: their work did not overlap"
        ]
    );
    // The thread did not wait for the first stream, waited for it seldom, or made few turns.
    assert_eq!(in_turn(20, |_| String::new()), [""; 0]);
    assert_eq!(in_turn(8, waits), [""; 0]);
    // It had other work to do in the meantime.
    let late = found(&rounds(40, |round, at| {
        let stream = 1 + round % 2;
        format!(
            "s{stream}: A[{}..{}] by t1[{}..{}] | t1: sync(s{stream})[{}..{}]",
            at(1),
            at(31),
            at(0),
            at(0),
            at(2),
            at(33)
        )
    }));
    assert_eq!(late, [""; 0]);
}

#[test]
fn streams_with_an_order_of_their_own_are_used_in_turn_for_a_reason() {
    let waits = |at: &dyn Fn(u64) -> String| format!("t1: sync(s1)[{}..{}]", at(2), at(43));
    // An event.
    let ordered = in_turn(20, |at| {
        let (rec, wait) = (at(44), at(45));
        format!(
            "{} | s1: rec(E)[{rec}] by t1[{rec}..{rec}] | s2: wait(E)[{wait}] by t1[{wait}..{wait}]",
            waits(at)
        )
    });
    assert_eq!(ordered, [""; 0]);
    // The second stream reads the memory that the first one writes, or different memory.
    let copies = |from: u64| {
        let words = found(&rounds(20, |_, at| {
            format!(
                "s1: memcpy(64,1000,5000)[{}..{}] by t1[{}..{}] | t1: sync(s1)[{}..{}] sync(s2)[{}..{}]
                 s2: memcpy(64,3000,{from})[{}..{}] by t1[{}..{}]",
                at(1), at(41), at(0), at(0), at(2), at(43), at(52), at(93), at(51), at(91), at(50), at(50)
            )
        }));
        words
            .iter()
            .filter(|it| it.starts_with("streams-in-turn"))
            .count()
    };
    assert_eq!((copies(1000), copies(9000)), (0, 1));
}

/// The same where all events are made by `aclrtCreateEventExWithFlag`.
fn found_with_ex_events(text: &str) -> Vec<String> {
    let trace = Timeline::of(text).with_events(2).trace();
    words(&Findings::default().of(&Window::whole(&trace)))
}

#[test]
fn a_wait_for_an_event_without_a_record_is_found() {
    let waits = "s1: wait(E#0) by t1[0..1] A[1us..5us] by t1[2..3] | t1: sync(E#0)[4..5]";
    assert_eq!(
        found_with_ex_events(waits),
        [
            "unrecorded-event 1001 1: aclrtStreamWaitEvent waited for nothing: event 1 had not been recorded",
            "unrecorded-event 1001 1: aclrtSynchronizeEvent waited for nothing: event 1 had not been recorded",
        ]
    );
    // Others refuse that, or hold until the next record.
    assert!(found(waits).is_empty());
    let good = "s1: A[0..9] rec(E) | s2: wait(E) B[10..20] | t1: sync(E)[8..12]";
    assert!(found_with_ex_events(good).is_empty());
    // In the first round of a pipeline, a later wait has a record to wait for.
    let rounds = "s1: wait(E#0) by t1[0..1] A[20..40] by t1[2..3] rec(E) by t1[4..5] | s2: wait(E) by t1[6..7] B[50..60] by t1[8..9]";
    assert_eq!(found_with_ex_events(rounds), [""; 0]);
    // Several events: one finding for the calls of a thread.
    let several = "s1: wait(E#0) by t1[0..1] wait(F#0) by t1[2..3] wait(F#0) by t1[4..5] | s1: wait(G#0) by t2[6..7]";
    assert_eq!(
        found_with_ex_events(several),
        [
            "unrecorded-event 1001 3: aclrtStreamWaitEvent waited for nothing: 2 events had not been recorded, first event 1",
            "unrecorded-event 1002 1: aclrtStreamWaitEvent waited for nothing: event 3 had not been recorded",
        ]
    );
    let failed = "s1: wait(E#0) by t1[0..1] =107000";
    let failed = found_with_ex_events(failed);
    assert!(
        failed.iter().all(|it| it.starts_with("failed-call ")),
        "{failed:?}"
    );
}

#[test]
fn streams_that_come_and_go_are_found() {
    let life = |number: i64, every: i64| {
        let at = number * every;
        format!(
            "t1: create(s1)[{at}..{}] destroy(s1)[{}..{}]\n",
            at + 5,
            at + 50,
            at + 60
        )
    };
    let text = |times: i64, every: i64| {
        let lives: String = (0..times).map(|it| life(it, every)).collect();
        lives + "s1: A[1us..2us] by t1[6..7]"
    };
    let said = |count: u64| {
        format!(
            "short-lived 1001 {count}: {count} streams were made after others had been destroyed"
        )
    };
    // The calls take a thousandth of the time.
    assert_eq!(found(&text(65, 15_000)), [said(64)]);
    assert!(found(&text(64, 15_000)).is_empty());
    // They take a part of it that matters.
    assert_eq!(found(&text(17, 100)), [said(16)]);
    assert!(found(&text(16, 100)).is_empty());
    // All are made before the first one goes.
    let many = (0..80).map(|number| format!("t1: create(s{number})[{number}..{}]\n", number + 1));
    let gone = (0..80).map(|number| {
        let at = 1_000 + number;
        format!("t1: destroy(s{number})[{at}..{}]\n", at + 1)
    });
    let pool: String = many.chain(gone).collect();
    assert!(found(&pool).is_empty());
}

#[test]
fn a_callback_without_a_thread_for_reports_is_found() {
    let launched = "s1: aclrtLaunchCallback(1,2,3)[1us..5us] by t1[0..1] aclrtLaunchCallback(1,2,3)[6us..7us] by t1[2..3]";
    assert_eq!(
        found(launched),
        [
            "unserved-callback 1001 2: aclrtLaunchCallback launched callbacks, and no thread called aclrtProcessReport"
        ]
    );
    let served = format!("{launched} | t2: aclrtProcessReport(100)[0..7us]");
    assert!(found(&served).is_empty());
    let later = "s1: aclrtLaunchCallback(1,2,3)[1us..5us] by t1[2..3] aclrtLaunchCallback(1,2,3)[6us..7us] by t1[4..5]";
    let own = |thread: &str| {
        let subscribed = format!("t1: subscribe(s1,{thread})[0..1]");
        found(&format!(
            "{subscribed} | t2: aclrtProcessReport(100)[0..7us] | {later}"
        ))
    };
    assert!(own("t2").is_empty());
    assert_eq!(
        own("t3"),
        [
            "unserved-callback 1001 2: aclrtLaunchCallback launched callbacks, and the thread that is subscribed to the stream did not call aclrtProcessReport"
        ]
    );
}

/// A thread that runs callbacks may begin before the program subscribes it, and end after that.
#[test]
fn a_wait_for_callbacks_is_no_mistake_before_the_thread_is_subscribed() {
    let waits =
        "t2: aclrtProcessReport(100)[0..1us]=107012 aclrtProcessReport(100)[8us..9us]=107012";
    let subscribed = |thread: &str| {
        found(&format!(
            "{waits} | t1: subscribe(s1,{thread})[2us..3us] unsubscribe(s1,{thread})[6us..7us]"
        ))
    };
    assert!(subscribed("t2").is_empty());
    let failed = ["failed-call 1002 2: aclrtProcessReport returned 107012"];
    assert_eq!(subscribed("t3"), failed);
    assert_eq!(found(waits), failed);
}

#[test]
fn calls_in_a_callback_are_found() {
    let run = |calls: &str| {
        found(&format!(
            "t1: subscribe(s1,t2)[0..1] | s1: aclrtLaunchCallback(1,2,3)[30us..40us] by t1[2us..3us]
             t2: aclrtProcessReport(100)[10us..50us] {calls}"
        ))
    };
    assert_eq!(
        run(
            "sync(s1)[31us..32us] aclrtMalloc(64,1000)[33us..34us] aclrtMalloc(64,2000)[35us..36us]"
        ),
        [
            "call-in-callback 1002 2: aclrtMalloc was called in a callback",
            "call-in-callback 1002 1: aclrtSynchronizeStream was called in a callback",
        ]
    );
    assert!(run("aclrtGetDevice(0)[31us..32us] sync(s1)[51us..52us]").is_empty());
}

#[test]
fn many_streams_at_a_time_are_found() {
    let made = |from: u32, upto: u32| -> String {
        (from..upto)
            .map(|it| format!("t1: create(s{it})[{it}..{}]\n", it + 1))
            .collect()
    };
    let with_most = |text: &str| {
        let found = found(text);
        found.into_iter().find(|it| it.starts_with("near-limit"))
    };
    assert_eq!(with_most(&made(1, 409)), None);
    assert_eq!(
        with_most(&made(1, 451)).as_deref(),
        Some("near-limit 1001 42: the process had 450 streams at a time")
    );
    // Most programs reset the device at their end.
    let ended = format!("{}t1: aclrtResetDevice(0)[900..901]", made(1, 451));
    assert!(with_most(&ended).is_some());
    let gone: String = (1..301)
        .map(|it| format!("t1: destroy(s{it})[{}..{}]\n", it + 500, it + 501))
        .collect();
    let later: String = (1_001..1_300)
        .map(|it| format!("t1: create(s{it})[{it}..{}]\n", it + 1))
        .collect();
    assert_eq!(with_most(&format!("{}{gone}{later}", made(1, 401))), None);
    let reset = "t1: aclrtResetDevice(0)[900..901]\n";
    assert_eq!(with_most(&format!("{}{reset}{later}", made(1, 401))), None);
}

#[test]
fn the_worst_findings_come_first() {
    let all = "t1: capture(s3)[0..1] of g1 end(s3)[10..11] of g1 =107025 | s3: A[captured] by t1[2..3] of g1
               s1: memcpy(4096)[host-copy] by t1[1us..6us] | t1: aclrtMalloc(64)[7us..8us]=207001";
    let found = found(all);
    let checks: Vec<&str> = found.iter().filter_map(|it| it.split(' ').next()).collect();
    assert_eq!(checks, ["failed-capture", "pageable-copy", "out-of-memory"]);
}

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/CHECKS.md");
const BEGIN: &str = "<!-- checks: made from the comments of crates/read/analysis/src/checks -->\n";
const END: &str = "<!-- end -->\n";

/// The pages of all checks.
fn pages() -> String {
    let page = |entry: ascend_trace_analysis::checks::ListedCheck| {
        format!(
            "\n## `{}`\n\n{}: {}.\n\n{}\n",
            entry.id,
            entry.severity.name(),
            entry.summary,
            entry.manual
        )
    };
    all().into_iter().map(page).collect::<String>() + "\n"
}

#[test]
fn the_document_has_the_page_of_every_check() {
    let text = std::fs::read_to_string(DOCUMENT).expect("the document exists");
    let (before, rest) = text
        .split_once(BEGIN)
        .expect("it says where the pages begin");
    let (written, after) = rest.split_once(END).expect("it says where they end");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let text = format!("{before}{BEGIN}{}{END}{after}", pages());
        std::fs::write(DOCUMENT, text).expect("the document can be written");
        return;
    }
    assert_eq!(written, pages(), "UPDATE_EXPECT=1 writes it again");
}

#[test]
fn every_check_has_a_unique_name() {
    let mut ids: Vec<&str> = all().iter().map(|entry| entry.id).collect();
    let sorted = ids.is_sorted();
    ids.dedup();
    assert!(sorted && ids.len() == all().len(), "{ids:?}");
}
