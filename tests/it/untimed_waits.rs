//! Stalls of waits without a time, compared with the truth.

use std::collections::BTreeMap;

use crate::support::{CsvRow, Run, Tables, program, truth};

/// Waits that are compared. Shorter ones may be less than the error of a clock.
const LEAST_NS: i64 = 50_000;

/// Only every eighth task has a time. The others bound how long the waits between them held their streams.
#[test]
fn most_waits_between_sampled_tasks_have_a_stall_that_holds_the_truth() {
    let recording = Run::new(&program("two_streams_in_turn"))
        .options(&["--timing", "sample=8"])
        .soft("memset_ns=20000,memset_mbps=5000")
        .traced();
    assert_eq!(recording.outcome.status, 0, "{}", recording.outcome);
    let tables = Tables::of(&recording);
    let is_wait = |row: &&CsvRow| row.text("cause") == "event-wait";
    let stalls = tables.stalls.iter().filter(is_wait);
    let stalls: BTreeMap<i64, _> = stalls.map(|row| (row.number("call"), row)).collect();
    let (mut all, mut found, mut inside) = (0, 0, 0);
    let mut held = BTreeMap::new();
    for (task, entry) in truth::matched(&tables.tasks, &recording.truth()) {
        if task.text("kind") != "wait" || entry.end - entry.begin < LEAST_NS {
            continue;
        }
        all += 1;
        let sum: &mut (i64, i64) = held.entry(entry.stream_id).or_default();
        sum.0 += entry.end - entry.begin;
        let Some(stall) = stalls.get(&task.number("call")) else {
            continue;
        };
        found += 1;
        sum.1 += stall.number("end_ns") - stall.number("begin_ns");
        // A time of a device on the host's clock is a few microseconds off.
        let error = stall.maybe("split_err_ns").unwrap_or(0) + LEAST_NS;
        let is_near = |column, truth: i64| (stall.number(column) - truth).abs() <= error;
        let is_inside = is_near("begin_ns", entry.begin) && is_near("end_ns", entry.end);
        inside += usize::from(is_inside);
    }
    assert!(all > 200, "{all}");
    assert!(found * 10 >= all * 8, "{found} of {all} waits have a stall");
    assert!(
        inside * 100 >= found * 95,
        "{inside} of {found} stalls hold the truth"
    );
    // The parts of a gap may go to the wrong wait, but their sum is known.
    for (stream, (truth, reported)) in held {
        assert!(
            (truth - reported).abs() * 4 <= truth,
            "stream {stream}: {reported} of {truth} ns"
        );
    }
}
