//! Communication between ranks, of timelines of a few lines.

use std::fmt::Write as _;

use ascend_trace_analysis::communication::{Communication, CommunicationFold};
use ascend_trace_analysis::{Fold, Window};
use ascend_trace_recording::TimeRange;
use ascend_trace_testkit::timeline;
use serde_json::Value;

/// The tables as their JSON.
fn of(text: &str) -> Value {
    let trace = timeline(text);
    let found = CommunicationFold::default().of(&Window::whole(&trace));
    serde_json::to_value::<Communication>(found).expect("it is JSON")
}

/// Ranks that make a communicator, and gather 1,000 floats each time: when each rank begins, and when all end. A device
/// in this language measures without an error.
fn gathers(rounds: &[(&[i64], i64)]) -> String {
    let ranks = rounds.first().map_or(0, |it| it.0.len());
    let mut text = String::new();
    for rank in 0..ranks {
        let p = rank + 1;
        let _ = writeln!(
            text,
            "p{p}.t1: HcclCommInitRootInfo({ranks},{rank},7)[0..10us]\np{p}.s1@{rank}:"
        );
        for (begins, end) in rounds {
            let begin = begins[rank];
            let called = begin - 5;
            let _ = writeln!(
                text,
                "p{p}.s1: HcclAllGather(7,1000,4)[{begin}us..{end}us] by t1[{called}us..{}us]",
                called + 1
            );
        }
    }
    text
}

fn number(row: &Value, key: &str) -> i64 {
    row[key]
        .as_i64()
        .unwrap_or_else(|| panic!("{key} of {row}"))
}

#[test]
fn the_time_is_split_where_the_last_rank_begins() {
    let found = of(&gathers(&[(&[20, 50], 90), (&[100, 100], 140)]));
    assert_eq!(found["groups"][0]["ranks"], 2);
    assert_eq!(found["groups"][0]["unknown"], Value::Null);
    let row = &found["collectives"][0];
    let [calls, time, wait, transfer] =
        ["calls", "time_ns", "wait_ns", "transfer_ns"].map(|it| number(row, it));
    let (error, bytes) = (number(row, "wait_error_ns"), number(row, "bytes"));
    assert_eq!((calls, bytes), (4, 4 * 8_000));
    assert_eq!(time, 190_000);
    assert_eq!(wait + transfer, time);
    assert!((wait - 30_000).abs() <= error, "{row}");
    // 8,000 bytes in 40 microseconds, of which a rank moves one half.
    let (algorithm, error) = (
        number(row, "algorithm_bandwidth"),
        number(row, "algorithm_bandwidth_error"),
    );
    assert!((algorithm - 200_000_000).abs() <= error, "{row}");
    assert_eq!((number(row, "bus_bandwidth") - algorithm / 2).abs() / 2, 0);
    assert_eq!(row["bandwidth_is_least"], false);
    assert_eq!(
        (number(row, "last_rank"), number(row, "last_count")),
        (1, 1)
    );
    let [first, second] = [0, 1].map(|it| &found["ranks"][it]);
    assert!(number(first, "wait_ns") > 0 && number(first, "last_count") == 0);
    assert!(number(second, "last_wait_ns") == wait && number(second, "last_count") == 1);
}

#[test]
fn one_rank_alone_shows_the_least_bandwidth_and_no_wait() {
    let found = of("t1: HcclCommInitRootInfo(2,0,7)[0..10us]
         s1: HcclAllGather(7,1000,4)[20us..60us] by t1[15us..16us]");
    let group = &found["groups"][0];
    assert_eq!(
        (number(group, "ranks"), number(group, "recorded_ranks")),
        (2, 1)
    );
    assert_eq!(group["unknown"], "not all ranks are in the recording");
    let row = &found["collectives"][0];
    for unknown in [
        "wait_ns",
        "transfer_ns",
        "last_rank",
        "late_rank",
        "algorithm_bandwidth_error",
    ] {
        assert_eq!(row[unknown], Value::Null, "{unknown} of {row}");
    }
    assert_eq!(row["bandwidth_is_least"], true);
    let least = number(row, "algorithm_bandwidth");
    assert!(least > 0 && least <= 200_000_000, "{row}");
}

#[test]
fn of_a_communicator_that_no_call_made_no_size_is_known() {
    let found = of("s1: HcclAllGather(9,1000,4)[20us..60us] HcclBroadcast(9,1000,4,0)[60us..70us]");
    assert_eq!(found["groups"][0]["ranks"], Value::Null);
    assert_eq!(
        found["groups"][0]["unknown"],
        "no recorded call made the communicator"
    );
    let rows = found["collectives"].as_array().expect("rows");
    let of = |name: &str| rows.iter().find(|it| it["name"] == name).expect("a row");
    assert_eq!(of("HcclAllGather")["bytes"], Value::Null);
    assert_eq!(of("HcclAllGather")["algorithm_bandwidth"], Value::Null);
    assert_eq!(of("HcclBroadcast")["bytes"], 4_000);
    assert_eq!(of("HcclBroadcast")["bandwidth_is_least"], true);
}

/// Rounds in which the ranks begin at these times after the begin of the round.
fn rounds(count: i64, begins: impl Fn(i64) -> Vec<i64>) -> Value {
    let all = (0..count).map(|round| {
        let begins: Vec<i64> = begins(round)
            .iter()
            .map(|it| 20 + 200 * round + it)
            .collect();
        (begins, 120 + 200 * round)
    });
    let all: Vec<_> = all.collect();
    let all: Vec<(&[i64], i64)> = all.iter().map(|it| (it.0.as_slice(), it.1)).collect();
    of(&gathers(&all))["collectives"][0].clone()
}

#[test]
fn only_a_rank_that_is_last_more_often_than_chance_is_late() {
    let late = rounds(20, |_| vec![0, 3, 60, 5]);
    assert_eq!(
        (number(&late, "late_rank"), number(&late, "last_count")),
        (2, 20)
    );
    // Each is the last one in turn.
    let even = rounds(20, |round| {
        (0..4).map(|it| 10 * ((it + round) % 4)).collect()
    });
    assert_eq!(even["late_rank"], Value::Null, "{even}");
    assert_eq!(even["with_last"], 20);
    // Always the last one, for a time that does not matter.
    let short = rounds(20, |_| vec![0, 0, 1, 0]);
    assert_eq!(short["late_rank"], Value::Null, "{short}");
    let few = rounds(3, |_| vec![0, 3, 60, 5]);
    assert_eq!(few["late_rank"], Value::Null, "{few}");
    let together = rounds(20, |_| vec![0; 4]);
    assert_eq!(
        (&together["with_last"], &together["last_rank"]),
        (&0.into(), &Value::Null)
    );
}

#[test]
fn the_slowest_link_comes_first() {
    let mut text = String::new();
    for rank in 0..4 {
        let _ = writeln!(
            text,
            "p{}.t1: HcclCommInitRootInfo(4,{rank},7)[0..10us]",
            rank + 1
        );
    }
    for (from, length) in [(0, 40), (1, 160), (2, 40)] {
        let (sender, receiver, end) = (from + 1, from + 2, 100 + 200 * from + length);
        let begin = 100 + 200 * from;
        let called = begin - 5;
        let _ = writeln!(
            text,
            "p{sender}.s1@{from}: HcclSend(7,1000,4,{})[{begin}us..{end}us] by t1[{called}us..{}us]",
            from + 1,
            called + 1
        );
        let _ = writeln!(
            text,
            "p{receiver}.s2@{}: HcclRecv(7,1000,4,{from})[{}us..{end}us] by t1[{called}us..{}us]",
            from + 1,
            begin - 4,
            called + 1
        );
    }
    let found = of(&text);
    let links = found["links"].as_array().expect("links");
    assert_eq!(links.len(), 3);
    let ranks = ["from_rank", "to_rank"].map(|it| number(&links[0], it));
    assert_eq!(ranks, [1, 2]);
    let of_usual = links[0]["of_usual"].as_f64().expect("three links");
    assert!((of_usual - 0.25).abs() < 0.05, "{of_usual}");
    // The receiver came first, and waited for the sender.
    let wait = number(&links[0], "wait_ns");
    assert!(
        (wait - 4_000).abs() <= number(&links[0], "wait_error_ns"),
        "{wait}"
    );
}

#[test]
fn computing_on_the_device_is_counted_within_collectives() {
    let text = "t1: HcclCommInitRootInfo(2,0,7)[0..10us]
         s1: HcclAllGather(7,1000,4)[20us..60us] by t1[15us..16us]
         s2: MatMul[10us..30us] by t1[5us..6us] Add[50us..90us] by t1[16us..17us]
         p2.s1@1: MatMul[20us..60us]";
    let found = of(text);
    let row = &found["collectives"][0];
    let off = (number(row, "computing_ns") - 20_000).abs();
    assert!(off <= number(row, "computing_error_ns"), "{row}");
    assert_eq!(row["computing_is_least"], false);
}

#[test]
fn a_range_has_the_collectives_that_overlap_it() {
    let trace = timeline(&gathers(&[(&[20, 50], 90), (&[100, 120], 140)]));
    let begin = trace
        .tasks()
        .iter()
        .filter_map(|it| it.time)
        .map(|it| it.end);
    let after = begin.min().expect("there are tasks") + 1_000;
    let fold = CommunicationFold::within(Some(TimeRange::new(after, i64::MAX)));
    let found = fold.of(&Window::whole(&trace));
    let found = serde_json::to_value(found).expect("it is JSON");
    let row = &found["collectives"][0];
    assert_eq!((number(row, "calls"), number(row, "with_last")), (2, 1));
}
