//! What threads do to each other's streams, and what runs in threads of the runtime.

use ascend_trace_analysis::checks::{Finding, Findings};
use ascend_trace_analysis::{Fold, Window, WindowSize};
use ascend_trace_recording::Recording;
use ascend_trace_recording::rows::{LossRow, Row};
use ascend_trace_testkit::racy::Dice;
use ascend_trace_testkit::recording::indexed;
use ascend_trace_testkit::{Timeline, timeline};

/// The findings of a check in a timeline.
fn found(check: &str, text: &str) -> Vec<Finding> {
    let trace = timeline(text);
    let mut found = Findings::default().of(&Window::whole(&trace));
    found.retain(|it| it.check == check);
    found
}

/// The findings, in words.
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

/// Host functions that run for 10 µs, every 100 µs from 10 µs on. Thread 2 makes the calls that the case says for each of
/// them, by its number and its begin.
fn host_functions(count: i64, calls: impl Fn(i64, i64) -> String) -> String {
    let mut text = String::from("t1: create(s1)[0..1]\n");
    for number in 0..count {
        let begin = 10_000 + 100_000 * number;
        let launch = 1_000 * number + 10;
        text += &format!(
            "s1: aclrtLaunchHostFunc(1,2)[{begin}..{}] by t1[{launch}..{}]\n",
            begin + 10_000,
            launch + 5
        );
        let calls = calls(number, begin);
        if !calls.is_empty() {
            text += &format!("t2: {calls}\n");
        }
    }
    text
}

/// A call of 1 µs that begins 2 µs after the function.
fn inside(name: &str, begin: i64) -> String {
    format!("{name}(64)[{}..{}]", begin + 2_000, begin + 3_000)
}

#[test]
fn calls_in_host_functions_are_found() {
    let text = host_functions(5, |_, begin| inside("aclrtMalloc", begin));
    assert_eq!(
        words("call-in-callback", &text),
        ["1002 5: aclrtMalloc was called in a host function"]
    );
    // One of them makes the mistake, and the text names the thread of all.
    let text = host_functions(5, |number, begin| match number {
        3 => inside("aclrtMalloc", begin),
        _ => inside("aclrtGetDevice", begin),
    });
    assert_eq!(
        words("call-in-callback", &text),
        ["1002 1: aclrtMalloc was called in a host function"]
    );
}

#[test]
fn calls_at_the_time_of_host_functions_may_be_the_programs() {
    let malloc = |_: i64, begin: i64| inside("aclrtMalloc", begin);
    let fine = |text: &str| {
        let found = words("call-in-callback", text);
        assert!(found.is_empty(), "{text}: {found:?}");
    };
    // There are few of them.
    fine(&host_functions(4, malloc));
    // The thread makes another call: before the first one, between them, and over the end of one.
    let five = host_functions(5, malloc);
    fine(&format!("t2: aclrtSetDevice(0)[2..3]\n{five}"));
    fine(&format!("{five}t2: aclrtGetDevice(0)[50us..51us]"));
    fine(&format!("{five}t2: aclrtGetDevice(0)[19us..21us]"));
    fine(&format!("{five}t2: aclrtGetDevice(0)[900us..901us]"));
    // Calls that never wait.
    fine(&host_functions(5, |_, begin| {
        inside("aclrtGetDevice", begin)
    }));
    // The calls of each function come from another thread.
    let mut others = host_functions(5, |_, _| String::new());
    for number in 0..5 {
        let call = inside("aclrtMalloc", 10_000 + 100_000 * number);
        others += &format!("t{}: {call}\n", number + 2);
    }
    fine(&others);
    // A callback that a thread of the program runs.
    fine(&five.replace("aclrtLaunchHostFunc(1,2)", "aclrtLaunchCallback(1,2,3)"));
    // The thread may have made calls that are missing.
    let loss = Row::Loss(LossRow {
        thread: None,
        calls: 1,
        others: 0,
        times: 0,
    });
    let trace = Timeline::of(&five).with_rows([loss]).trace();
    let found = Findings::default().of(&Window::whole(&trace));
    assert!(
        found.iter().all(|it| it.check != "call-in-callback"),
        "{found:?}"
    );
    // Nothing says when the functions ran.
    let untimed = host_functions(5, malloc);
    let untimed = untimed.lines().map(|line| match line.split_once('[') {
        Some((before, _)) if line.starts_with("s1") => {
            let by = line.split_once("by").expect("it has a launch call").1;
            format!("{before}[not-harvested] by{by}\n")
        }
        _ => format!("{line}\n"),
    });
    fine(&untimed.collect::<String>());
}

/// Where a host function runs most of the time, calls of any thread are inside one.
#[test]
fn host_functions_without_pauses_say_nothing_of_threads() {
    let text = |pause: i64| {
        let mut text = String::from("t1: create(s1)[0..1]\n");
        for number in 0..8 {
            let begin = 10_000 + (10_000 + pause) * number;
            text += &format!(
                "s1: aclrtLaunchHostFunc(1,2)[{begin}..{}] by t1[{}..{}]\nt2: {}\n",
                begin + 10_000,
                10 * number + 10,
                10 * number + 15,
                inside("aclrtMalloc", begin)
            );
        }
        text
    };
    assert_eq!(words("call-in-callback", &text(0)), [""; 0]);
    assert_eq!(words("call-in-callback", &text(5_000)), [""; 0]);
    assert_eq!(words("call-in-callback", &text(20_000)).len(), 1);
}

/// The findings, for any cut of the recording.
#[test]
fn findings_about_threads_do_not_depend_on_where_a_recording_is_cut() {
    let mut dice = Dice(7);
    let overlaps = "s1: A[100us..110us] by t1[0..10] B[110us..120us] by t2[5..25] A[120us..130us] by t1[20..30]
                    s1: B[130us..140us] by t2[29..40] | t1: aclrtResetDevice(0)[50..51] aclrtMalloc(64)[60..61]=107002";
    let hosted = host_functions(8, |number, begin| match number % 3 {
        0 => format!(
            "{} {}",
            inside("aclrtMalloc", begin),
            inside("aclrtFree", begin + 2_000)
        ),
        _ => inside("aclrtGetDevice", begin),
    });
    let mistaken = format!("{hosted}t2: aclrtGetDevice(0)[850us..851us]");
    for text in [overlaps, &hosted, &mistaken] {
        let timeline = Timeline::of(text);
        let file = indexed(3, &timeline.session, &timeline.tables, timeline.rows);
        let mut recording = Recording::from_bytes(file).expect("it reads back");
        let mut found = |step| {
            let found = Findings::default().of_recording(&mut recording, step, |_| true);
            found
                .expect("it reads back")
                .expect("the reading was not cancelled")
        };
        let whole = found(WindowSize::WHOLE);
        assert_eq!(whole.is_empty(), text == mistaken, "{text}");
        for _ in 0..20 {
            let (rows, margin) = (1 + dice.roll(12) as u64, 1 + dice.roll(6) as usize);
            assert_eq!(
                found(WindowSize { rows, margin }),
                whole,
                "{rows} rows, margin {margin}\n{text}"
            );
        }
    }
}
