//! Waits in predictions that the recording does not show as such: locks that were free, joins of threads that had ended, ticks that a slower
//! thread misses, and waits that reached their time limit.

use std::collections::BTreeSet;

use ascend_trace_analysis::Window;
use ascend_trace_analysis::whatif::{Change, Prediction, WhatIf};
use ascend_trace_recording::rows::Row;
use ascend_trace_testkit::Timeline;

use super::whatif_waits::round;

/// A wait reached the time limit of the call.
const LIMIT: i64 = 507_046;

fn predicted(timeline: &Timeline, name: &str, factor: f64) -> Prediction {
    let names = BTreeSet::from([name.to_owned()]);
    let trace = timeline.trace();
    let whatif = WhatIf::of(&Window::whole(&trace));
    let report = whatif.predict(&[Change::Operation { names, factor }], Vec::new());
    report.predictions[0].clone()
}

/// The predicted time and its error, in microseconds.
fn lasts(prediction: &Prediction) -> (i64, i64) {
    let error = prediction.error_ns.expect("the error is known");
    (prediction.makespan_ns / 1_000, error / 1_000)
}

/// Two threads do A and B in turn. A is shifted so that they never do it at the same time, except for some rounds in the beginning
/// with `overlap`.
fn two_threads(overlap: bool) -> Timeline {
    let mut text = String::new();
    for number in 0..60 {
        for thread in 1..=2 {
            let apart = if overlap && number < 3 { 0 } else { 120 };
            let begin = number * 240 + i64::from(thread - 1) * apart;
            let (end, first) = round(thread, begin, 80, "A");
            text += &(first + &round(thread, end, 130, "B").1);
        }
    }
    Timeline::of(&text)
}

#[test]
fn a_lock_that_was_free_may_be_wanted_by_two() {
    // Each of 120 sections takes 85 µs and more.
    let in_turn = 120 * 85;
    let (time, error) = lasts(&predicted(&two_threads(false), "B", 0.1));
    assert!(
        time < in_turn && time + error >= in_turn,
        "{time} ± {error}"
    );
    let (time, error) = lasts(&predicted(&two_threads(true), "B", 0.1));
    assert!(time + error < in_turn, "{time} ± {error}");
}

/// In each round the first thread starts another one, which is done before the next round.
fn started_threads(count: u32) -> Timeline {
    let mut text = String::new();
    for number in 0..count {
        let begin = i64::from(number) * 1_000;
        text += &round(1, begin, 900, "A").1;
        text += &round(number + 2, begin + 20, 700, "B").1;
    }
    text += &round(1, i64::from(count) * 1_000, 900, "A").1;
    Timeline::of(&text)
}

#[test]
fn a_thread_that_starts_another_one_in_each_round_may_wait_for_its_end() {
    let (time, error) = lasts(&predicted(&started_threads(40), "A", 0.1));
    assert!(
        time < 40 * 700 && time + error >= 40 * 700,
        "{time} ± {error}"
    );
    // Few threads show nothing.
    let (time, error) = lasts(&predicted(&started_threads(10), "A", 0.1));
    assert!(time + error < 10 * 700, "{time} ± {error}");
}

#[test]
fn a_thread_that_misses_a_tick_may_wait_for_the_next_one() {
    let mut text = String::new();
    for number in 0..80 {
        // Every 4 ms, with up to 60 µs more.
        let begin = number * 4_000 + number * 37 % 60;
        text += &round(1, begin, 2_000, "A").1;
    }
    let ticks = Timeline::of(&text);
    let (time, error) = lasts(&predicted(&ticks, "A", 2.5));
    // 5 ms in each round, or 8 ms to the tick after the next one.
    assert!((400_000..430_000).contains(&time), "{time}");
    assert!(time + error >= 79 * 8_000, "{time} ± {error}");
    // In time for each tick.
    let (time, error) = lasts(&predicted(&ticks, "A", 1.5));
    assert!(time + error < 340_000, "{time} ± {error}");
}

/// A task of 3 ms in each round. The thread waits 1 ms at most, again and again.
fn limited(again: bool) -> Timeline {
    let mut text = String::new();
    for number in 0..20 {
        let begin = number * 3_100;
        text += &format!(
            "s1: A[{}us..{}us] by t1[{begin}us..{}us]\n",
            begin + 2,
            begin + 3_002,
            begin + 1
        );
        for part in 0..3 {
            let since = begin + 10 + 1_000 * part;
            let until = if part == 2 {
                begin + 3_005
            } else {
                since + 990
            };
            text += &format!("t1: sync(s1)[{since}us..{until}us]\n");
            if !again && part < 2 {
                text += &format!("t1: aclrtMalloc(8,8)[{}us..{}us]\n", until + 2, until + 3);
            }
        }
    }
    // Those that ended before their task.
    Timeline::of(&text).changed(|row| {
        if let Row::Call(call) = row
            && call.end_ns - call.begin_ns == 990_000
        {
            call.ret = LIMIT;
        }
    })
}

#[test]
fn waits_that_reach_their_limit_and_go_on_are_one_wait() {
    let (time, error) = lasts(&predicted(&limited(true), "A", 0.1));
    let in_truth = 19 * 3_100 + 3_005 - 20 * 2_700;
    assert!(
        (time - in_truth).abs() <= error.min(100),
        "{time} ± {error}"
    );
    // With another call in between, the number of rounds stays.
    let (time, _) = lasts(&predicted(&limited(false), "A", 0.1));
    assert!(time > 20 * 2_000, "{time}");
}
