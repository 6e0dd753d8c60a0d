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

/// A call that passes messages: begin and end of its task, and of each message whether it is received (1), its elements, their
/// type and the other rank.
type Batch<'a> = (i64, i64, &'a [[u64; 4]]);

/// Ranks and their calls.
fn batches(ranks: &[&[Batch<'_>]]) -> String {
    let mut text = String::new();
    for (rank, calls) in ranks.iter().enumerate() {
        let (p, size) = (rank + 1, ranks.len());
        let _ = writeln!(
            text,
            "p{p}.t1: HcclCommInitRootInfo({size},{rank},7)[0..10us]\np{p}.s1@{rank}:"
        );
        for (begin, end, messages) in *calls {
            let words: Vec<String> = messages.iter().flatten().map(u64::to_string).collect();
            let called = begin - 5;
            let _ = writeln!(
                text,
                "p{p}.s1: HcclBatchSendRecv(7,{})[{begin}us..{end}us] by t1[{called}us..{}us]",
                words.join(","),
                called + 1
            );
        }
    }
    text
}

#[track_caller]
fn near(row: &Value, key: &str, expected: i64) {
    let found = number(row, &format!("{key}_ns"));
    let error = number(row, &format!("{key}_error_ns"));
    assert!(
        (found - expected).abs() <= error,
        "{key}: {expected} in {row}"
    );
}

#[test]
fn a_call_with_several_messages_waits_for_the_last_of_its_ranks() {
    // Rank 1 passes messages to and from both others in one call.
    let found = of(&batches(&[
        &[(20, 90, &[[0, 1000, 4, 1]])],
        &[(40, 90, &[[1, 1000, 4, 0], [0, 500, 3, 2]])],
        &[(70, 90, &[[1, 500, 3, 1]])],
    ]));
    let row = &found["collectives"][0];
    assert_eq!((number(row, "calls"), number(row, "split")), (3, 3));
    // Rank 0 waits for 20 us, rank 1 for 30 us until rank 2 begins.
    near(row, "wait", 50_000);
    assert_eq!(number(row, "bytes"), 2 * (4000 + 1000));
    let links = found["links"].as_array().expect("links");
    let of_link = |from: i64| {
        let own = |it: &&Value| number(it, "from_rank") == from;
        links.iter().find(own).expect("the link has messages")
    };
    let (first, second) = (of_link(0), of_link(1));
    assert_eq!((number(first, "calls"), number(first, "bytes")), (2, 8000));
    near(first, "wait", 20_000);
    near(second, "wait", 30_000);
    // Only one end of each has a call with that message alone.
    assert_eq!(second["bandwidth_is_least"], false, "{second}");
}

#[test]
fn the_end_of_a_group_has_the_waits_of_its_messages() {
    let mut text = String::new();
    for (rank, begin) in [(0, 20), (1, 50)] {
        let (p, other) = (rank + 1, 1 - rank);
        let [sent, received] = [["1000,4", "500,3"], ["500,3", "1000,4"]][rank];
        let _ = writeln!(
            text,
            "p{p}.t1: HcclCommInitRootInfo(2,{rank},7)[0..1us]
             p{p}.s1@{rank}: HcclSend(7,{sent},{other})[in-group] by t1[2us..3us] \
             HcclRecv(7,{received},{other})[in-group] by t1[4us..5us] \
             HcclGroupEnd[{begin}us..90us] by t1[6us..7us]"
        );
    }
    let found = of(&text);
    let collectives = found["collectives"].as_array().expect("rows");
    assert_eq!(collectives.len(), 1, "{found}");
    let row = &collectives[0];
    assert_eq!(row["name"], "HcclGroupEnd");
    assert_eq!((number(row, "calls"), number(row, "split")), (2, 2));
    near(row, "wait", 30_000);
    assert_eq!(number(row, "bytes"), 2 * (4000 + 1000));
    let links = found["links"].as_array().expect("links");
    let bytes: i64 = links.iter().map(|it| number(it, "bytes")).sum();
    assert_eq!((links.len(), bytes), (2, 2 * (4000 + 1000)), "{found}");
}

#[test]
fn messages_that_do_not_fit_together_have_no_waits() {
    // Rank 1 receives another number of elements.
    let found = of(&batches(&[
        &[(20, 90, &[[0, 1000, 4, 1], [1, 10, 4, 1]])],
        &[(40, 90, &[[1, 999, 4, 0], [0, 10, 4, 0]])],
    ]));
    let row = &found["collectives"][0];
    assert_eq!(number(row, "split"), 0, "{row}");
    assert_eq!(row["wait_ns"], Value::Null);
}

#[test]
fn stages_of_a_pipeline_have_their_waits() {
    const FORWARD: [u64; 4] = [0, 1000, 4, 1];
    const BACK: [u64; 4] = [1, 1000, 4, 1];
    const FROM_FIRST: [u64; 4] = [1, 1000, 4, 0];
    const TO_FIRST: [u64; 4] = [0, 1000, 4, 0];
    let found = of(&batches(&[
        &[(20, 60, &[FORWARD]), (60, 120, &[FORWARD, BACK])],
        &[(30, 60, &[FROM_FIRST]), (100, 120, &[TO_FIRST, FROM_FIRST])],
    ]));
    let stages = found["stages"].as_array().expect("stages");
    let shown = stages.iter().map(|it| {
        (
            number(it, "stage"),
            number(it, "group_rank"),
            number(it, "calls"),
        )
    });
    assert_eq!(shown.collect::<Vec<_>>(), [(0, 0, 2), (1, 1, 2)]);
    // The first one waits from 20 to 30, and from 60 to 100.
    near(&stages[0], "waiting", 50_000);
    near(&stages[1], "waiting", 0);
    let share = stages[0]["waiting_share"].as_f64().expect("it is known");
    assert!((share - 0.5).abs() < 0.05, "{share}");
}

#[test]
fn a_cut_list_of_messages_leaves_later_waits_unknown() {
    let text = batches(&[
        &[
            (20, 60, &[[0, 10, 4, 1]]),
            (70, 100, &[[0, 10, 4, 1], [0, 10, 4, 1]]),
        ],
        &[
            (30, 60, &[[1, 10, 4, 0]]),
            (80, 100, &[[1, 10, 4, 0], [1, 10, 4, 0]]),
        ],
    ]);
    let mut timeline = ascend_trace_testkit::Timeline::of(&text);
    let mut calls = timeline.rows.iter_mut().filter_map(|row| match row {
        ascend_trace_recording::rows::Row::Call(call) => Some(call),
        _ => None,
    });
    let last = calls.rfind(|it| !it.strings.is_empty());
    last.expect("a call with messages").strings = vec![Some("[0, 10, …]".into())];
    let found = CommunicationFold::default().of(&Window::whole(&timeline.trace()));
    let found = serde_json::to_value::<Communication>(found).expect("it is JSON");
    let row = &found["collectives"][0];
    assert_eq!(
        (number(row, "calls"), number(row, "split")),
        (4, 2),
        "{row}"
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
