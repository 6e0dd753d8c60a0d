//! Predictions of `what-if` against programs that really run with the change, each once, in virtual time.

mod clocked;
mod differences;
mod judge;
mod ledger;
mod pairs;
mod random;
mod script;

use judge::{Judge, Judged, close, verdict};

/// Random programs of a usual run of the tests.
const RANDOM: u64 = 40;

fn random(seeds: impl Iterator<Item = u64>) -> Vec<Judged> {
    let judged = seeds.map(|seed| Judge::new().judge(&random::pair(seed)));
    judged.collect()
}

#[test]
fn programs_made_by_hand_take_as_long_with_a_change_as_predicted() {
    let pairs = pairs::all();
    assert!(pairs.len() >= 30, "{} pairs", pairs.len());
    let mut judge = Judge::new();
    let judged: Vec<Judged> = pairs.iter().map(|it| judge.judge(it)).collect();
    verdict(&judged);
}

#[test]
fn waits_that_are_no_blocking_calls_are_followed() {
    let mut judge = Judge::new();
    let judged: Vec<Judged> = pairs::hidden_waits()
        .iter()
        .map(|it| judge.judge(it))
        .collect();
    verdict(&judged);
    close(&judged);
}

#[test]
fn waits_of_threads_for_each_other_are_followed() {
    let mut judge = Judge::new();
    let pairs = pairs::waits_of_threads();
    let judged: Vec<Judged> = pairs.iter().map(|it| judge.judge(it)).collect();
    verdict(&judged);
}

#[test]
fn tasks_without_a_time_are_within_the_error() {
    let mut judge = Judge::new();
    let judged: Vec<Judged> = pairs::untimed().iter().map(|it| judge.judge(it)).collect();
    let beyond: String = judged
        .iter()
        .filter(|it| !it.is_honest())
        .map(|it| format!("{it}\n"))
        .collect();
    assert!(beyond.is_empty(), "beyond their error:\n{beyond}");
}

#[test]
fn random_programs_take_as_long_with_a_change_as_predicted() {
    verdict(&random(0..RANDOM));
}

#[test]
#[ignore = "two hundred programs, each run three times"]
fn two_hundred_random_programs_take_as_long_with_a_change_as_predicted() {
    verdict(&random(1_000..1_200));
}

/// Else the figures above would be those of one run among many.
#[test]
fn virtual_time_is_the_same_in_each_run() {
    let pairs = (0..4).map(random::pair);
    for pair in pairs.chain(pairs::all().pop()) {
        let (once, again) = (pair.original.truth(), pair.original.truth());
        assert_eq!(once, again, "{}", pair.name);
    }
}
