//! Predictions for programs with threads that work in their pauses, and with functions that one thread of the host runs.

use std::collections::BTreeSet;

use ascend_trace_analysis::Window;
use ascend_trace_analysis::whatif::{Change, Prediction, WhatIf};
use ascend_trace_format::record::CpuTime;
use ascend_trace_recording::rows::Row;
use ascend_trace_testkit::Timeline;

use super::random::Dice;

const ROUNDS: i64 = 60;

/// A thread's tasks of about 1 ms, one after another. Another thread prepares the next one meanwhile: a task of 100 us, then 400 us
/// for itself, then it waits until the first thread takes the result.
fn producer_and_consumer() -> Timeline {
    let mut dice = Dice(7);
    let (mut text, mut now) = (String::new(), 0);
    for _ in 0..ROUNDS {
        let end = now + 1_000 + dice.roll(100);
        let then = end + 20;
        text += &format!(
            "s1: A[{}us..{end}us] by t1[{now}us..{}us] | t1: sync(s1)[{}us..{}us]
             s2: B[{}us..{}us] by t2[{then}us..{}us] | t2: sync(s2)[{}us..{}us] | ",
            now + 2,
            now + 1,
            now + 1,
            end + 3,
            then + 2,
            then + 100,
            then + 1,
            then + 1,
            then + 103
        );
        now = end + 10;
    }
    Timeline::of(text.trim_end_matches([' ', '|']))
}

/// Sets the processor time of the second thread in its pauses: by the length of a pause.
fn with_work(mut timeline: Timeline, cpu: impl Fn(i64) -> Option<CpuTime>) -> Timeline {
    let own = timeline.rows.iter().find_map(|row| match row {
        Row::Thread(thread) => (thread.tid == 1002).then_some(thread.thread),
        _ => None,
    });
    let mut reached = None;
    for row in &mut timeline.rows {
        let Row::Call(call) = row else { continue };
        if Some(call.thread) != own {
            continue;
        }
        if let Some(pause) = reached
            .map(|it| call.begin_ns - it)
            .filter(|it| *it > 100_000)
        {
            call.cpu = cpu(pause);
        }
        reached = Some(call.end_ns);
    }
    timeline
}

fn used(used_us: i64, pause: i64, blocks: u64) -> Option<CpuTime> {
    CpuTime::new(used_us as u64 * 1_000, pause as u64, blocks)
}

/// The prediction if the tasks of the first thread take a fifth of their time.
#[track_caller]
fn predicted(timeline: &Timeline, name: &str) -> Prediction {
    let names = BTreeSet::from([name.to_owned()]);
    let change = Change::Operation { names, factor: 0.2 };
    let trace = timeline.trace();
    let report = WhatIf::of(&Window::whole(&trace)).predict(&[change], Vec::new());
    report.predictions[0].clone()
}

/// Microseconds of a round, and the error of that.
fn round(prediction: &Prediction) -> (i64, i64) {
    let us = |ns: i64| ns / ROUNDS / 1_000;
    (
        us(prediction.makespan_ns),
        prediction.error_ns.map_or(i64::MAX, us),
    )
}

#[test]
fn a_thread_works_as_long_before_its_wait_as_its_processor_time_says() {
    let worked = with_work(producer_and_consumer(), |pause| used(400, pause, 1));
    let (time, error) = round(&predicted(&worked, "A"));
    // 103 us in calls, 400 us of work, and some more after the wait.
    assert!((465..=530).contains(&time), "{time}");
    assert!(error < 60, "{error}");
}

#[test]
fn without_a_processor_time_the_error_contains_both() {
    let (time, error) = round(&predicted(&producer_and_consumer(), "A"));
    assert!(time < 480 && time + error >= 500, "{time} ± {error}");
}

#[test]
fn a_thread_that_looks_for_its_turn_again_and_again_waits() {
    let spins = with_work(producer_and_consumer(), |pause| {
        used(pause / 1_000, pause, 0)
    });
    let plain = predicted(&producer_and_consumer(), "A");
    assert_eq!(round(&predicted(&spins, "A")), round(&plain));
}

#[test]
fn a_thread_that_blocks_more_often_may_sleep_before_its_wait() {
    let sleeps = with_work(producer_and_consumer(), |pause| used(5, pause, 2));
    let (time, error) = round(&predicted(&sleeps, "A"));
    assert!(time < 300 && time + error >= 500, "{time} ± {error}");
}

#[test]
fn functions_that_one_thread_runs_wait_for_their_turn() {
    // Two streams with a task of 300 us and a function of 200 us in turn: the second function waits for the first one.
    let (mut text, mut turn) = (String::new(), 0);
    let (mut ready, mut submitted) = ([0_i64; 2], 0);
    for number in 0..ROUNDS {
        let stream = (number % 2) as usize;
        let begin = ready[stream].max(submitted + 4);
        let end = begin + 300;
        let from = (end + 2).max(turn + 5);
        turn = from + 200;
        ready[stream] = turn;
        text += &format!(
            "s{}: A[{begin}us..{end}us] by t1[{submitted}us..{}us] hostfunc[{from}us..{turn}us] by t1[{}us..{}us] | ",
            stream + 1,
            submitted + 1,
            submitted + 1,
            submitted + 2
        );
        submitted += 2;
    }
    let timeline = Timeline::of(text.trim_end_matches([' ', '|']));
    let faster = predicted(&timeline, "A");
    // The functions alone take 200 us each. Without turns, a round would take 130 us.
    let (time, error) = round(&faster);
    assert!((198..=210).contains(&time), "{time} ± {error}");
}
