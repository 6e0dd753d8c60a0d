//! Waits of threads outside of AscendCL in predictions: for the ends of other threads, for a clock, and with work after them.

use std::collections::BTreeSet;

use ascend_trace_analysis::Window;
use ascend_trace_analysis::whatif::{Change, Narrow, Report, WhatIf};
use ascend_trace_testkit::timeline;

use super::random::Dice;

fn predicted(text: &str, change: Change) -> Report {
    WhatIf::of(&Window::whole(&timeline(text))).predict(&[change], Vec::new())
}

fn faster(name: &str) -> Change {
    let names = BTreeSet::from([name.to_owned()]);
    let factor = 0.5;
    Change::Operation { names, factor }
}

/// The saved time and its error, in microseconds.
fn saved(report: &Report) -> (i64, i64) {
    let prediction = &report.predictions[0];
    let error = prediction.error_ns.expect("the error is known");
    (prediction.saved_ns / 1_000, error / 1_000)
}

/// A round of a thread with its stream: a task, and a wait for it. Returns its end, and the text.
pub(super) fn round(thread: u32, begin: i64, lasts: i64, name: &str) -> (i64, String) {
    round_of((1, thread), begin, lasts, name)
}

/// The same of a process.
fn round_of((process, thread): (u32, u32), begin: i64, lasts: i64, name: &str) -> (i64, String) {
    let end = begin + 2 + lasts;
    let text = format!(
        "p{process}.s{thread}: {name}[{}us..{end}us] by t{thread}[{begin}us..{}us] | p{process}.t{thread}: sync(s{thread})[{}us..{}us]\n",
        begin + 2,
        begin + 1,
        begin + 1,
        end + 3
    );
    (end + 3, text)
}

/// The first thread makes a call, other ones work, and it makes a call again `lag` after the last one ended.
fn joined(lag: i64) -> String {
    let mut text = "t1: aclrtMalloc(1)[0..1us]\n".to_owned();
    let mut last = 0;
    for (thread, name, lasts) in [(2, "A", 400), (3, "B", 300)] {
        let mut now = 10;
        for _ in 0..10 {
            let (end, round) = round(thread, now, lasts, name);
            text += &round;
            now = end;
        }
        last = last.max(now);
    }
    text + &format!("t1: aclrtFree(1)[{}us..{}us]\n", last + lag, last + lag + 1)
}

#[test]
fn a_thread_that_joins_others_goes_on_when_the_last_of_them_ends() {
    // Thread 2 saves 10 times 200 µs, and thread 3 then ends last: after 3,060 µs and not after 4,060 µs.
    let (time, error) = saved(&predicted(&joined(20), faster("A")));
    assert_eq!(time, 1_000);
    assert!(error < 100, "{error}");
    assert_eq!(saved(&predicted(&joined(20), faster("B"))).0, 0);
    let handovers = predicted(&joined(20), faster("A")).handovers;
    let [join] = handovers.as_slice() else {
        panic!("one wait: {handovers:?}");
    };
    let names = (
        join.before.as_str(),
        join.after.as_str(),
        join.by,
        join.count,
    );
    assert_eq!(
        names,
        ("aclrtFree", "aclrtSynchronizeStream", Some(1002), 1)
    );
}

#[test]
fn a_call_long_after_the_ends_of_others_may_be_work_of_the_thread() {
    let report = predicted(&joined(9_000), faster("A"));
    assert!(report.handovers.is_empty(), "{:?}", report.handovers);
    let (time, error) = saved(&report);
    assert_eq!(time, 0);
    // It may also be a wait.
    assert!(error >= 1_000, "{error}");
}

/// Rounds of one thread. `next` gives the begin of the next round, for the number of the round and its end.
fn rounds(next: impl Fn(i64, i64) -> i64) -> String {
    let (mut text, mut now) = (String::new(), 0);
    for number in 0..80 {
        let (end, round) = round(1, now, 2_000, "A");
        text += &round;
        now = next(number, end);
    }
    text
}

#[test]
fn a_thread_that_a_clock_wakes_saves_nothing() {
    // Every 4 ms, with up to 60 µs more.
    let late = |number: i64| number * 37 % 60;
    let ticks = rounds(|number, _| (number + 1) * 4_000 + late(number));
    let (time, error) = saved(&predicted(&ticks, faster("A")));
    // Only the last round is shorter.
    assert_eq!(time, 1_000);
    assert!(error < 3_000, "{error}");
    // Work that becomes too long for the period delays the later rounds.
    let names = BTreeSet::from(["A".to_owned()]);
    let slower = Change::Operation { names, factor: 3.0 };
    let (time, _) = saved(&predicted(&ticks, slower));
    assert!(time < -150_000, "{time}");
}

#[test]
fn pauses_of_the_same_time_are_no_clock() {
    let mut dice = Dice(3);
    let late: Vec<i64> = (0..80).map(|_| dice.roll(60)).collect();
    let pauses = rounds(|number, end| end + 2_000 + late[number as usize]);
    let (time, _) = saved(&predicted(&pauses, faster("A")));
    assert_eq!(time, 80_000);
}

/// A thread works on results of another one, and 860 µs after each wait it submits more. `follows` says that it waits.
fn late(follows: bool) -> String {
    let mut dice = Dice(5);
    let (mut text, mut now, mut other) = (String::new(), 0, 0);
    for number in 0..80 {
        // All durations differ by little.
        let (end, first) = round(1, now, 2_500 + dice.roll(40), "A");
        text += &first;
        if number > 0 {
            text += &round(2, other, 100, "B").1;
        }
        now = end + 5;
        other = match follows {
            true => end + 860 + dice.roll(10),
            // Each of its rounds takes the same time. The first thread happens to be as fast on average.
            false if number > 0 => other + 2_529,
            false => end + 860,
        };
    }
    text
}

#[test]
fn work_after_a_wait_does_not_hide_the_wait() {
    let report = predicted(&late(true), faster("A"));
    assert_eq!(report.handovers.len(), 1, "{:?}", report.handovers);
    let (time, error) = saved(&report);
    // 80 rounds of 1,260 µs.
    assert!((98_000..103_000).contains(&time), "{time}");
    // The second thread may also work for most of each pause, and then wait for a short time.
    assert!((60_000..time + 5_000).contains(&error), "{error}");
    let report = predicted(&late(false), faster("A"));
    assert!(report.handovers.is_empty(), "{:?}", report.handovers);
}

/// Two threads meet after each round: the first one waits for a kernel of this duration, the second one for a short kernel, and then works
/// for 1,200 µs. Returns the end as well.
fn meeting(kernel: i64) -> (String, i64) {
    let mut dice = Dice(17);
    let (mut text, mut now) = (String::new(), 0);
    for _ in 0..80 {
        let (end, first) = round(1, now + dice.roll(5), kernel, "A");
        let (other, second) = round(2, now + dice.roll(5), 100, "B");
        text += &(first + &second);
        now = end.max(other + 1_200) + 4;
    }
    (text, now)
}

#[test]
fn work_before_a_wait_is_in_the_error() {
    let (slow, end) = meeting(2_000);
    let report = predicted(&slow, faster("A"));
    assert!(!report.handovers.is_empty());
    let (time, error) = saved(&report);
    let in_truth = end - meeting(1_000).1;
    assert!(
        (time - in_truth).abs() <= error,
        "{time} ± {error}, in truth {in_truth}"
    );
    assert!(error < end / 2, "{error}");
}

/// Two processes work in turn, or the second one works for itself.
fn two_processes(in_turn: bool) -> String {
    let mut dice = Dice(11);
    let (mut text, mut now, mut other) = (String::new(), 0, 500);
    for _ in 0..80 {
        let (end, first) = round_of((1, 1), now, 2_000 + dice.roll(40), "A");
        let begin = if in_turn {
            end + 40 + dice.roll(10)
        } else {
            other
        };
        let (done, second) = round_of((2, 1), begin, 600 + dice.roll(40), "B");
        text += &(first + &second);
        now = if in_turn { done } else { end + 700 } + 40 + dice.roll(10);
        other = done + 1_370 + dice.roll(10);
    }
    text
}

#[test]
fn a_process_waits_for_another_one() {
    let report = predicted(&two_processes(true), faster("A"));
    let waits: Vec<_> = report
        .handovers
        .iter()
        .map(|it| (it.process, it.by))
        .collect();
    assert_eq!(waits, [(1, Some(2001)), (2, Some(1001))]);
    let (time, error) = saved(&report);
    assert!((79_000..82_000).contains(&time), "{time}");
    assert!((50_000..time + 8_000).contains(&error), "{error}");
    let (time, error) = saved(&predicted(&two_processes(true), faster("B")));
    assert!((23_000..26_000).contains(&time), "{time} ± {error}");
    let alone = predicted(&two_processes(false), faster("A"));
    assert!(alone.handovers.is_empty(), "{:?}", alone.handovers);
}

/// Copies of two sizes and kernels, each after a wait. `time` returns whether a task has a time.
fn tasks(time: impl Fn(i64) -> bool, lasts: impl Fn(i64) -> i64) -> String {
    let (mut text, mut now) = (String::new(), 0);
    for number in 0..60 {
        let (size, duration) = match number % 2 {
            0 => (4_096, lasts(number)),
            _ => (64, 5),
        };
        let begin = now + 2;
        let end = begin + duration;
        let range = match time(number) {
            true => format!("{begin}us..{end}us"),
            false => "not-sampled".to_owned(),
        };
        text += &format!(
            "s1: memcpy({size})[{range}] by t1[{now}us..{}us] | t1: sync(s1)[{}us..{}us]\n",
            now + 1,
            now + 1,
            end + 3
        );
        now = end + 10;
    }
    text
}

#[test]
fn a_task_without_a_time_takes_the_time_of_tasks_that_move_as_much() {
    let copies = |factor| Change::Copy { factor };
    let some = |number: i64| number % 5 != 2;
    let steady = predicted(&tasks(some, |_| 200), copies(0.5));
    let all = predicted(&tasks(|_| true, |_| 200), copies(0.5));
    let ((time, error), (whole, _)) = (saved(&steady), saved(&all));
    assert!(
        (time - whole).abs() <= error && error < whole / 20,
        "{time} ± {error}: {whole}"
    );
    // Where the times of copies of this size differ, so may those that are not known.
    let apart = predicted(&tasks(some, |number| 50 + number * 31 % 300), copies(0.5));
    let (time, error) = saved(&apart);
    assert!(error > time / 10, "{time} ± {error}");
}

/// A call that does not wait any more may also not be made.
#[test]
fn the_error_holds_a_call_that_is_left_out() {
    // Each call takes 30 µs to return, and the host then works for as long as the next task.
    let (mut text, mut now) = (String::new(), 0);
    for _ in 0..40 {
        let end = now + 52;
        text += &format!(
            "s1: A[{}us..{end}us] by t1[{now}us..{}us] | t1: sync(s1)[{}us..{}us]\n",
            now + 2,
            now + 1,
            now + 1,
            end + 30
        );
        now = end + 80;
    }
    let functions = BTreeSet::from(["aclrtSynchronizeStream".to_owned()]);
    let narrow = Narrow::None;
    let (time, error) = saved(&predicted(&text, Change::Sync { functions, narrow }));
    // The wait for the task is saved in each round, and maybe the call as well.
    assert!((1_950..2_100).contains(&time), "{time}");
    assert!((1_000..1_500).contains(&error), "{error}");
}

/// The first thread works. The second one makes a call every `period` until the first one ends.
fn watched(period: i64) -> String {
    let (mut text, mut now) = (String::new(), 0);
    for _ in 0..40 {
        let (end, round) = round(1, now, 1_500, "A");
        text += &round;
        now = end + 20;
    }
    let looks = now / period;
    for look in 0..=looks {
        let at = 10 + look * period + look % 3;
        text += &format!("t2: aclrtGetMemInfo[{at}us..{}us]\n", at + 2);
    }
    let last = now.max(10 + looks * period) + 40;
    text + &format!("t1: aclrtFree(1)[{last}us..{}us]\n", last + 1)
}

#[test]
fn a_thread_that_looks_now_and_then_does_not_hold_the_end() {
    let report = predicted(&watched(2_000), faster("A"));
    let (time, error) = saved(&report);
    // 40 rounds of 750 µs.
    assert!((29_000..=30_000).contains(&time), "{time}");
    assert!(error < 5_000, "{error}");
}

/// A thread submits each round, and waits for the results of another thread in every fourth one.
fn every_fourth() -> String {
    let mut dice = Dice(9);
    let (mut text, mut now) = (String::new(), 0);
    for number in 0..80 {
        let (end, first) = round(1, now, 500, "A");
        text += &first;
        now = end + 40 + dice.roll(9);
        if number % 4 == 3 {
            let (ready, other) = round(2, end + 10 + dice.roll(9), 2_000 + dice.roll(60), "B");
            text += &other;
            now = ready + 10 + dice.roll(5);
        }
    }
    text
}

#[test]
fn a_wait_in_some_rounds_alone_is_found() {
    let report = predicted(&every_fourth(), faster("B"));
    let waits = report.handovers.iter().map(|it| (it.tid, it.count));
    let waits: Vec<_> = waits.collect();
    assert!(
        waits.contains(&(1001, 20)) || waits.contains(&(1001, 19)),
        "{waits:?}"
    );
    let (time, error) = saved(&report);
    // 20 rounds of 1,015 µs.
    assert!((19_000..21_500).contains(&time), "{time}");
    assert!(error < 6_000, "{error}");
}

/// Two threads that have nothing to do with each other. The pauses of the second one are work of very different durations.
fn apart() -> String {
    let mut dice = Dice(4);
    let (mut text, mut now) = (String::new(), 0);
    for _ in 0..80 {
        let (end, round) = round(1, now, 1_200, "A");
        text += &round;
        now = end + 100 + dice.roll(100);
    }
    let mut now = 5;
    for _ in 0..60 {
        let (end, round) = round(2, now, 700, "B");
        text += &round;
        now = end + 300 + dice.roll(900);
    }
    text
}

#[test]
fn pauses_that_follow_nothing_are_no_waits() {
    let report = predicted(&apart(), faster("A"));
    assert!(report.handovers.is_empty(), "{:?}", report.handovers);
    let (time, error) = saved(&report);
    assert!(time > 10_000, "{time}");
    // They take 45 ms in all.
    assert!(error < 20_000, "{error}");
}
