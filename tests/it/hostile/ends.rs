//! Programs that end their objects, and themselves, at any time, by either layer's calls.

use std::collections::BTreeMap;

use crate::support::{Run, Tables, compile, truth};

/// Options of the runtime. It ends the process where the tracer interferes.
const SOFT: [&str; 6] = [
    "catch",
    "catch,query_ns=20000",
    "catch,record_ns=1500,record_jitter_ns=300",
    "catch,chip=310p",
    "catch,chip=950",
    "catch,chip=310b",
];

/// A wrong time is that of something else, or none at all. How close the times are, and how honest the bars, where a
/// thread loses its processor in the middle of a measurement, is judged elsewhere.
const FAR_NS: i64 = 1_000_000;

/// The programs get the same results as without the tracer, errors and their texts included, end the
/// same way, and no task has a wrong time.
#[track_caller]
fn hold(first: usize, count: usize, soft: &str) {
    let words = [first.to_string(), count.to_string()];
    let recording = Run::new(&compile::hostile("random_ends"))
        .words(&[&words[0], &words[1]])
        .soft(soft)
        .compared_but_for_losses();
    let tables = Tables::of(&recording);
    let mut lanes: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for entry in truth::read_torn(&recording.truth()) {
        let place = (entry.pid, entry.device, entry.kind.clone());
        lanes.entry(place).or_default().push(entry);
    }
    let (mut timed, mut found) = (0, 0);
    for task in &tables.tasks {
        if !task.text("untimed").is_empty() {
            continue;
        }
        timed += 1;
        let number = |name| task.number(name);
        let (begin, end, bar) = (number("begin_ns"), number("end_ns"), number("err_ns"));
        let place = (
            number("pid"),
            number("device"),
            task.text("kind").to_owned(),
        );
        let entries = lanes.get(&place).map_or(&[][..], Vec::as_slice);
        let far = bar + FAR_NS;
        let is_it = |entry: &&truth::TruthLogTask| {
            (entry.begin - begin).abs() <= far && (entry.end - end).abs() <= far
        };
        // The rest that a killed process has not written is not known.
        let is_known = entries.iter().any(|entry| entry.begin > end + far);
        match entries.iter().find(is_it) {
            Some(_) => found += 1,
            None => assert!(!is_known, "{soft}: {task:?}"),
        }
    }
    assert!(timed > count && found > timed / 2, "{found} of {timed}");
}

#[test]
fn random_programs_end_as_without_the_tracer() {
    for (place, soft) in SOFT.iter().enumerate().take(2) {
        hold(1 + 1000 * place, 40, soft);
    }
}

#[test]
#[ignore = "ten thousand programs"]
fn ten_thousand_random_programs_end_as_without_the_tracer() {
    for (round, soft) in SOFT.iter().cycle().take(50).enumerate() {
        hold(10_000 + 200 * round, 200, soft);
    }
}
