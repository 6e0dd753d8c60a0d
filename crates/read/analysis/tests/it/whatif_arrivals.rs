//! Predictions for programs with times from outside: requests that arrive, and threads that a flag stops.

use std::collections::BTreeSet;

use ascend_trace_analysis::Window;
use ascend_trace_analysis::whatif::{Change, Prediction, WhatIf};
use ascend_trace_format::record::CpuTime;
use ascend_trace_recording::rows::Row;
use ascend_trace_testkit::Timeline;

use super::random::Dice;

#[track_caller]
fn predicted(timeline: &Timeline, factor: f64) -> Prediction {
    let names = BTreeSet::from(["A".to_owned()]);
    let change = Change::Operation { names, factor };
    let trace = timeline.trace();
    let report = WhatIf::of(&Window::whole(&trace)).predict(&[change], Vec::new());
    report.predictions[0].clone()
}

/// Saved microseconds, and the error of that.
fn saved(prediction: &Prediction) -> (i64, i64) {
    let error = prediction.error_ns.unwrap_or(i64::MAX);
    (prediction.saved_ns / 1_000, error / 1_000)
}

/// A task of 1 ms on the first thread, which it waits for.
fn work(begin: i64) -> String {
    let end = begin + 1_005;
    format!(
        "s1: A[{}us..{}us] by t1[{begin}us..{}us] | t1: sync(s1)[{}us..{end}us] | ",
        begin + 3,
        begin + 1_003,
        begin + 2,
        begin + 2
    )
}

/// Sets the processor time of a thread in pauses of 200 us and more.
fn with_blocks(mut timeline: Timeline, blocks: u64) -> Timeline {
    let mut reached = None;
    for row in &mut timeline.rows {
        let Row::Call(call) = row else { continue };
        let pause = reached.map(|it| call.begin_ns - it);
        if let Some(pause) = pause.filter(|it| *it >= 200_000) {
            let used = if blocks == 0 { pause as u64 } else { 20_000 };
            call.cpu = CpuTime::new(used, pause as u64, blocks);
        }
        reached = Some(call.end_ns);
    }
    timeline
}

/// Requests at times that have nothing to do with each other, in one thread. It blocks before each.
fn requests(blocks: u64) -> Timeline {
    let mut dice = Dice(5);
    let (mut text, mut now) = (String::new(), 0);
    for _ in 0..60 {
        text += &work(now);
        now += 1_205 + dice.roll(3_000);
    }
    with_blocks(Timeline::of(text.trim_end_matches([' ', '|'])), blocks)
}

#[test]
fn requests_may_arrive_no_sooner_in_a_faster_program() {
    let (time, error) = saved(&predicted(&requests(1), 0.1));
    assert!(time - error <= 900 + 100, "{time} ± {error}");
    // They may come as soon as the program can take them as well.
    assert!(time + error >= 60 * 900, "{time} ± {error}");
}

#[test]
fn a_slower_program_may_have_shorter_pauses() {
    let (time, error) = saved(&predicted(&requests(1), 1.2));
    assert!(time + error >= -200 - 100, "{time} ± {error}");
    assert!(time - error <= -60 * 200, "{time} ± {error}");
}

#[test]
fn pauses_in_which_a_thread_works_are_no_waits_for_requests() {
    let (time, error) = saved(&predicted(&requests(0), 0.1));
    assert!((54_000 - time).abs() <= error, "{time} ± {error}");
    assert!(error < 20_000, "{error}");
}

/// Rounds of one thread, until `end_us` a thread that has a short task each 4 ms, and the end of both.
fn monitored(until_us: i64) -> Timeline {
    let mut text = String::new();
    let mut now = 0;
    for _ in 0..100 {
        text += &work(now);
        now += 1_200;
    }
    let mut tick = 50;
    while tick < until_us {
        text += &format!(
            "s2: B[{}us..{}us] by t2[{tick}us..{}us] | t2: sync(s2)[{}us..{}us] | ",
            tick + 3,
            tick + 10,
            tick + 2,
            tick + 2,
            tick + 12
        );
        tick += 4_000;
    }
    // The first thread waits for the end of the other one.
    let end = now.max(tick) + 20;
    text += &format!("t1: sync(s1)[{end}us..{}us]", end + 2);
    Timeline::of(&text)
}

#[test]
fn a_thread_that_a_flag_stops_does_not_hold_the_end() {
    let (time, error) = saved(&predicted(&monitored(120_000), 0.5));
    assert!(
        (50_000 - time).abs() <= error.min(6_000),
        "{time} ± {error}"
    );
}

#[test]
fn a_thread_that_goes_on_alone_holds_the_end() {
    let (time, error) = saved(&predicted(&monitored(200_000), 0.5));
    assert!(time - error <= 0, "{time} ± {error}");
    assert!(time < 10_000, "{time} ± {error}");
}
