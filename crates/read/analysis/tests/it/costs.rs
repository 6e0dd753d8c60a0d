//! Costs that checks find, as time that a program would save without them, by simulation.

use ascend_trace_analysis::checks::{Finding, Findings};
use ascend_trace_analysis::whatif::judge_costs;
use ascend_trace_analysis::{Fold, Window, WindowSize};
use ascend_trace_recording::Recording;
use ascend_trace_testkit::recording::indexed;
use ascend_trace_testkit::{Timeline, timeline};

/// The findings of one check, with the time saved without them, in microseconds, and its error.
fn saved(check: &str, text: &str) -> Vec<Option<(i64, i64)>> {
    let timeline = Timeline::of(text);
    let file = indexed(20, &timeline.session, &timeline.tables, timeline.rows);
    let mut recording = Recording::from_bytes(file).expect("it reads back");
    let found =
        Findings::to_be_judged().of_recording(&mut recording, WindowSize::default(), |_| true);
    let mut found = found.expect("it reads back").unwrap_or_default();
    judge_costs(&mut found, &mut recording, WindowSize::default()).expect("it reads back");
    let own = found.iter().filter(|it| it.check == check);
    let saved = |it: &Finding| Some((it.saved_ns? / 1_000, it.saved_error_ns? / 1_000));
    own.map(saved).collect()
}

/// In each of 20 rounds, stream 1 runs `first` for 300 µs and stream 2 `second` for the time of the case. The thread waits for the
/// device, and then works for 200 µs.
fn device_syncs(first: &str, (second, lasts): (&str, u64)) -> String {
    let round = |round: u64| {
        let at = |us: u64| format!("{}us", round * 2_000 + us);
        let until = 10 + lasts.max(300);
        format!(
            "s1: {first}[{}..{}] by t1[{}..{}] | s2: {second}[{}..{}] by t1[{}..{}] | t1: sync()[{}..{}]",
            at(5),
            at(305),
            at(0),
            at(1),
            at(5),
            at(5 + lasts),
            at(2),
            at(3),
            at(4),
            at(until)
        )
    };
    let rounds: Vec<String> = (0..20).map(round).collect();
    rounds.join(" | ")
}

/// A copy to the host.
const RESULT: &str = "aclrtMemcpy2dAsync(64,9000,64,2000,64,1,2)";

#[test]
fn a_wait_for_the_device_is_a_cost_where_one_stream_would_do() {
    let [Some((cost, error))] = saved("device-sync", &device_syncs(RESULT, ("B", 1_000)))[..]
    else {
        panic!("one cost");
    };
    // After each wait but the last one, the thread goes on 700 µs earlier; stream 2 has work for 1,000 µs of each round then.
    assert!(
        (12_000..=14_000).contains(&cost) && error < cost,
        "{cost} ± {error}"
    );
    let none = |first: &str, second: (&str, u64)| {
        let found = saved("device-sync", &device_syncs(first, second));
        assert!(found.is_empty(), "{first}, {second:?}: {found:?}");
    };
    // The stream with the copy is the last one, or both have copies, or none has.
    none(RESULT, ("B", 200));
    none(
        RESULT,
        ("aclrtMemcpy2dAsync(64,9900,64,2900,64,1,2)", 1_000),
    );
    none("A", ("B", 1_000));
    // The other stream writes memory that the next copy reads.
    none(RESULT, ("memcpy(64,2000,5000)", 1_000));
    // The device has nothing else to do: a wait for the stream takes as long.
    none(RESULT, ("B", 0));
}

/// Without a simulation, nothing shows that a narrower wait is possible.
#[test]
fn a_wait_for_one_of_several_streams_has_to_be_confirmed() {
    let text = device_syncs(RESULT, ("B", 1_000));
    let trace = timeline(&text);
    let of = |findings: Findings| {
        let found = findings.of(&Window::whole(&trace));
        found.iter().filter(|it| it.check == "device-sync").count()
    };
    assert_eq!(of(Findings::default()), 0);
    assert_eq!(of(Findings::to_be_judged()), 1);
}

#[test]
fn a_copy_of_pageable_memory_costs_what_the_end_waits_for() {
    let copies =
        "s1: memcpy(4096)[host-copy] by t1[10us..60us] memcpy(4096)[host-copy] by t1[61us..111us]";
    let [Some((alone, error))] = saved("pageable-copy", copies)[..] else {
        panic!("one cost");
    };
    assert!(
        (90..=101).contains(&alone) && error < alone,
        "{alone} ± {error}"
    );
    // The end waits for another stream in any case, such as for a late rank.
    let late = format!("s2: B[2us..900us] by t1[0..1us] | {copies} | t1: sync(s2)[120us..903us]");
    let [Some((hidden, _))] = saved("pageable-copy", &late)[..] else {
        panic!("one cost");
    };
    assert_eq!(hidden, 0);
}

#[test]
fn waits_after_each_task_cost_the_time_that_the_host_would_be_ahead() {
    let round = |round: u64| {
        let at = |us: u64| format!("{}us", round * 100 + us);
        let (from, to, done) = (at(2), at(12), at(80));
        format!(
            "s1: A[{from}..{to}] by t1[{}..{}] | t1: sync(s1)[{}..{done}]",
            at(0),
            at(1),
            at(1)
        )
    };
    let rounds: Vec<String> = (0..70).map(round).collect();
    let [Some((cost, error))] = saved("sync-each-task", &rounds.join(" | "))[..] else {
        panic!("one cost");
    };
    // In each round, the call waits for 11 µs, and then takes 68 µs to return.
    assert!(
        (700..=800).contains(&cost) && error < cost,
        "{cost} ± {error}"
    );
}

#[test]
fn streams_in_turn_cost_what_an_overlap_saves() {
    let round = |round: u64| {
        let at = |us: u64| format!("{}us", round * 100 + us);
        format!(
            "s1: A[{}..{}] by t1[{}..{}] | t1: sync(s1)[{}..{}] | s2: B[{}..{}] by t1[{}..{}] | t1: sync(s2)[{}..{}]",
            at(1),
            at(41),
            at(0),
            at(0),
            at(2),
            at(43),
            at(51),
            at(91),
            at(50),
            at(50),
            at(52),
            at(93)
        )
    };
    let rounds: Vec<String> = (0..20).map(round).collect();
    let [Some((cost, _))] = saved("streams-in-turn", &rounds.join(" | "))[..] else {
        panic!("one cost");
    };
    // Each of the streams works for 800 µs.
    assert!((800..=1_200).contains(&cost), "{cost}");
}

#[test]
fn a_cost_without_a_simulation_is_not_known() {
    let round = |it: u64| {
        let (from, to) = (10 * it, 10 * it + 1);
        format!("s1: memcpy(16)[{from}us..{to}us] by t1[{from}us..{to}us]")
    };
    let rounds: Vec<String> = (0..1_200).map(round).collect();
    let found = saved("small-copies", &rounds.join(" | "));
    assert!(found.iter().all(Option::is_none), "{found:?}");
}

/// The needless waits of a stream for work of `recording`, in 80 rounds.
fn needless(recording: u64, waits: u64) -> Vec<(u64, String)> {
    let round = |round: u64| {
        let at = |us: u64| format!("{}us", round * 100 + us);
        let task = format!(
            "s{recording}: A[{}..{}] by t1[{}..{}]",
            at(2),
            at(4),
            at(0),
            at(1)
        );
        let record = format!(
            "rec(E{round})[{}..{}] by t1[{}..{}]",
            at(5),
            at(5),
            at(2),
            at(3)
        );
        let wait = |it: u64| {
            let (begin, end) = (at(6 + 2 * it), at(7 + 2 * it));
            format!(
                "s1: wait(E{round})[{begin}..{end}] by t1[{}..{end}]",
                at(6 + 2 * it)
            )
        };
        let waits: Vec<String> = (0..waits).map(wait).collect();
        let last = format!(
            "s1: B[{}..{}] by t1[{}..{}]",
            at(30),
            at(31),
            at(20),
            at(21)
        );
        format!("{task} {record} | {} | {last}", waits.join(" | "))
    };
    let rounds: Vec<String> = (0..80).map(round).collect();
    let trace = timeline(&rounds.join(" | "));
    let found = Findings::default().of(&Window::whole(&trace));
    let own = found.into_iter().filter(|it| it.check == "needless-wait");
    own.map(|it| (it.count, it.what)).collect()
}

#[test]
fn waits_for_work_that_comes_before_anyway_are_found() {
    let words = "aclrtStreamWaitEvent on stream 1 waited 80 times for work that came before anyway: work of the same stream, \
                 or work that an earlier wait had put in order";
    assert_eq!(needless(1, 1), [(80, words.to_owned())]);
    assert_eq!(needless(2, 2), [(80, words.to_owned())]);
    assert_eq!(needless(2, 1), []);
}

/// Copies to the device and to the host in turn on a stream: the first one uses memory at 1,000, and the second one as the case
/// says. `between` is a task between them.
fn copies_in_turn(rounds: u64, second: u64, between: &str) -> Vec<(u64, i64)> {
    timed_copies_in_turn((rounds, rounds), second, between)
}

/// The same, where only the copies of the first rounds have times.
fn timed_copies_in_turn(
    (rounds, timed): (u64, u64),
    second: u64,
    between: &str,
) -> Vec<(u64, i64)> {
    let round = |round: u64| {
        let at = |us: u64| format!("{}us", round * 100 + us);
        let copy = |from: u64, until: u64, (to, of): (u64, u64), kind: u64| {
            let place = format!("64,{to},64,{of},64,1,{kind}");
            let range = match round < timed {
                true => format!("{}..{}", at(from), at(until)),
                false => "not-sampled".to_owned(),
            };
            format!("s1: aclrtMemcpy2dAsync({place})[{range}] by t1[")
        };
        let (first, second) = (
            copy(10, 50, (1_000, 5_000), 1),
            copy(60, 90, (9_000, second), 2),
        );
        let between = match between {
            "" => String::new(),
            name => format!(
                "s1: {name}[{}..{}] by t1[{}..{}] | ",
                at(50),
                at(60),
                at(2),
                at(3)
            ),
        };
        let (begin, end) = (at(0), at(1));
        format!(
            "{first}{begin}..{end}] | {between}{second}{}..{}]",
            at(4),
            at(5)
        )
    };
    let rounds: Vec<String> = (0..rounds).map(round).collect();
    let trace = timeline(&rounds.join(" | "));
    let found = Findings::default().of(&Window::whole(&trace));
    let own = found.iter().filter(|it| it.check == "copies-in-turn");
    own.map(|it| (it.count, it.total_ns / 1_000)).collect()
}

#[test]
fn copies_of_two_directions_in_turn_are_found() {
    // The shorter one takes 30 µs.
    assert_eq!(copies_in_turn(20, 2_000, ""), [(20, 600)]);
    assert_eq!(copies_in_turn(15, 2_000, ""), []);
    // It reads memory that the first one writes.
    assert_eq!(copies_in_turn(20, 1_010, ""), []);
    // A task between them may write it.
    assert_eq!(copies_in_turn(20, 2_000, "A"), []);
    assert_eq!(copies_in_turn(20, 2_000, "rec(E)"), [(20, 600)]);
    // Pairs without times save as much as the others, if enough have times.
    assert_eq!(timed_copies_in_turn((60, 20), 2_000, ""), [(60, 1_800)]);
    assert_eq!(timed_copies_in_turn((60, 10), 2_000, ""), []);
    assert_eq!(timed_copies_in_turn((60, 20), 1_010, ""), []);
}
