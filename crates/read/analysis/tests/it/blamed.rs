use std::collections::BTreeMap;

use ascend_trace_analysis::stats::{Grouping, StallGroup};
use ascend_trace_analysis::{Blamed, Cause, Fold, Stall, Stats, Window};
use ascend_trace_recording::Trace;
use ascend_trace_testkit::Timeline;

use super::random::{Dice, program};

fn groups(trace: &Trace, wanted: impl Fn(&Stall) -> bool) -> Vec<StallGroup> {
    let grouping = Grouping::of_those(|_: &Trace, stall: &Stall| wanted(stall));
    grouping.of(&Window::whole(trace)).rows()
}

/// A group in words: cause, whom, range, number of stalls, microseconds.
fn words(trace: &Trace, group: &StallGroup) -> String {
    let whom = match &group.blame.whom {
        Blamed::Task(stream, name) => format!("s{} {name}", trace.stream(*stream).number()),
        Blamed::Stream(stream) => format!("s{}", trace.stream(*stream).number()),
        Blamed::Call(thread, name) => format!("t{} {name}", trace.thread(*thread).tid),
        Blamed::NotKnown => "nobody".to_owned(),
    };
    let range = group.blame.range.as_deref().unwrap_or("-");
    let cause = group.blame.cause.name();
    let total = group.total_ns / 1_000;
    format!("{cause} {whom} {range} {} {total}", group.count)
}

/// Number and time of stalls by cause, of streams and of threads, as the tables have them.
fn by_cause(stats: &Stats) -> BTreeMap<(&'static str, bool), (u64, i64)> {
    let rows = stats.stall_causes.iter();
    rows.map(|row| ((row.cause, row.lane == "thread"), (row.count, row.total_ns)))
        .collect()
}

#[track_caller]
fn agree(groups: &[StallGroup], stats: &Stats) {
    let mut sums: BTreeMap<_, (u64, i64)> = BTreeMap::new();
    let mut shares: BTreeMap<_, f64> = BTreeMap::new();
    for group in groups {
        let key = (group.blame.cause.name(), group.blame.is_of_threads);
        let sum = sums.entry(key).or_default();
        sum.0 += group.count;
        sum.1 += group.total_ns;
        *shares.entry(key).or_default() += group.share;
    }
    assert_eq!(sums, by_cause(stats));
    for row in &stats.stall_causes {
        let share = shares[&(row.cause, row.lane == "thread")];
        assert!((share - row.share).abs() < 1e-9, "{} {share}", row.cause);
    }
}

#[test]
fn stalls_are_grouped_by_the_work_that_was_waited_for_and_the_call_that_came_late() {
    let text = "
        s1: A[0..40us] by t1[0..1us] rec(E) A[50us..90us] by t1[1us..2us] rec(F)
        s2: wait(E)[2us..40us] B[40us..41us] wait(F)[42us..90us] C[150us..160us] by t2[140us..141us]
        t1: sync(s1)[5us..95us]
        s3: D[0..5us] by t2[-2us..-1us] D[60us..65us] by t2[55us..56us] D[130us..131us] by t2[120us..121us]";
    let timeline = Timeline::of(text);
    let trace = timeline.with_ranges(&[(1, 7, 54, "load 7")]).trace();
    let groups = groups(&trace, |it| it.is_notable() && it.cause != Cause::Unknown);
    let words: Vec<String> = groups.iter().map(|it| words(&trace, it)).collect();
    assert!(
        words.contains(&"event-wait s1 A - 2 86".to_owned()),
        "{words:?}"
    );
    assert!(
        words
            .iter()
            .any(|it| it.starts_with("host-late t1002") && it.ends_with(" load # 1 55")),
        "{words:?}"
    );
    assert!(
        words.iter().any(|it| it == "host-late t1002 D - 1 65"),
        "{words:?}"
    );
    assert!(
        words.iter().any(|it| it.starts_with("host-sync s1 A")),
        "{words:?}"
    );
    let totals: Vec<i64> = groups.iter().map(|it| it.total_ns).collect();
    assert!(totals.is_sorted_by(|a, b| a >= b));
}

#[test]
fn totals_and_shares_of_groups_are_those_of_the_causes() {
    let mut dice = Dice(11);
    let mut most = 0;
    for _ in 0..40 {
        let text = program(&mut dice, 60);
        let trace = Timeline::of(&text).trace();
        let groups = groups(&trace, |_| true);
        agree(&groups, &Stats::of(&trace));
        most = most.max(groups.len());
    }
    assert!(most > 8, "{most}");
}

#[test]
fn a_least_length_leaves_stalls_out_and_keeps_shares_of_all() {
    let trace = Timeline::of(&program(&mut Dice(3), 80)).trace();
    let all = groups(&trace, |_| true);
    let long = groups(&trace, |it| it.length() >= 5_000);
    assert!(!long.is_empty());
    assert!(long.iter().map(|it| it.count).sum::<u64>() < all.iter().map(|it| it.count).sum());
    for group in &long {
        let same = all
            .iter()
            .find(|it| it.blame == group.blame)
            .expect("it is one of all");
        assert!(group.total_ns <= same.total_ns && group.max_ns == same.max_ns);
        let share = group.total_ns as f64 / same.total_ns as f64 * same.share;
        assert!((group.share - share).abs() < 1e-9);
    }
}
