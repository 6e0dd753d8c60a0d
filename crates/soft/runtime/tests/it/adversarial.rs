//! `order=adversarial`: programs in which an order is missing get a wrong value, and correct ones get the right ones.

mod programs;
mod values;

// These tests include the source, because they depend on no crate of the project.
#[path = "../../../../read/testkit/src"]
mod testkit {
    #[expect(unreachable_pub, reason = "it is public where it is a part of a crate")]
    #[allow(dead_code, unused_imports, reason = "other tests use it, too")]
    pub(crate) mod racy;
}

use std::fs::File;
use std::process::Command;
use std::time::Duration;

use crate::support::{compile, library_dir, programs_dir, run_input, scratch};
use testkit::racy::{Dice, MISTAKES, RacyMistake, RacyOp, observed};
use values::{can_go_wrong, right, text};

const LIMIT: Duration = Duration::from_secs(900);
const OPERATIONS: usize = 40;
/// Most runs that a mistake may need until it shows.
const SEEDS: u64 = 8;
/// The programs wait with calls that say so. The order must not depend on how busy the machine is.
const PATIENT: &str = "order_patience_ms=3600000";

/// What each program computes, as the driver prints it.
fn computed(name: &str, programs: &[Vec<RacyOp>], options: &str) -> Vec<u64> {
    computed_with(name, programs, &[("SOFTACL", options)])
}

fn computed_with(name: &str, programs: &[Vec<RacyOp>], env: &[(&str, &str)]) -> Vec<u64> {
    let driver = compile(&programs_dir().join("tools/racy.c"));
    let input = scratch("adversarial").join(name);
    let texts: String = programs.iter().map(|ops| text(ops)).collect();
    std::fs::write(&input, texts).unwrap();
    let mut command = Command::new(driver);
    command.stdin(File::open(input).unwrap());
    let output = run_input(&mut command, library_dir(), env, LIMIT).unwrap();
    assert!(output.status.success(), "{env:?}: {output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    let lines = said.lines().filter(|line| !line.ends_with("checks"));
    let hashes: Vec<u64> = lines
        .map(|line| u64::from_str_radix(line, 16).unwrap())
        .collect();
    assert_eq!(hashes.len(), programs.len());
    hashes
}

/// The same, with the lines of the truth log.
fn logged(programs: &[Vec<RacyOp>], options: &str) -> Vec<String> {
    let log = scratch("adversarial").join(format!("truth-{}", std::process::id()));
    let _ = std::fs::remove_file(&log);
    computed_with(
        "logged",
        programs,
        &[
            ("SOFTACL", options),
            ("SOFTACL_TRUTH", log.to_str().unwrap()),
        ],
    );
    let lines = std::fs::read_to_string(&log).unwrap();
    let _ = std::fs::remove_file(log);
    lines.lines().map(str::to_owned).collect()
}

fn adversarial(seed: u64) -> String {
    format!("order=adversarial,noise_seed={seed},{PATIENT}")
}

/// A program with one mistake that can lead to a wrong value.
fn spoiled(seed: u64, mistake: RacyMistake) -> Option<Vec<RacyOp>> {
    let mut dice = Dice(seed);
    let ops = observed(&mut dice, OPERATIONS);
    let changed = mistake.inject(&ops, &mut dice)?;
    can_go_wrong(&changed).then_some(changed)
}

/// `count` programs with each kind of mistake.
fn all_spoiled(first: u64, count: usize) -> Vec<(RacyMistake, Vec<RacyOp>)> {
    let of = |mistake| {
        let found = (first..).filter_map(move |seed| spoiled(seed, mistake));
        found.take(count).map(move |ops| (mistake, ops))
    };
    MISTAKES.into_iter().flat_map(of).collect()
}

fn check_correct(name: &str, seeds: std::ops::Range<u64>, orders: std::ops::Range<u64>) {
    let programs: Vec<Vec<RacyOp>> = seeds
        .map(|seed| observed(&mut Dice(seed), OPERATIONS))
        .collect();
    let right: Vec<u64> = programs.iter().map(|ops| right(ops)).collect();
    assert_eq!(computed(name, &programs, ""), right);
    for order in orders {
        // Quicker, and the host's time is that of the other test and of some of these.
        let time = if order % 4 == 1 {
            ""
        } else {
            ",virtual_ns=1000"
        };
        let options = adversarial(order) + time;
        assert_eq!(computed(name, &programs, &options), right, "{options}");
    }
}

#[expect(clippy::print_stdout, reason = "the figures by kind of mistake")]
fn check_spoiled(name: &str, first: u64, count: usize, more: &str) {
    let (mistakes, programs): (Vec<RacyMistake>, Vec<Vec<RacyOp>>) =
        all_spoiled(first, count).into_iter().unzip();
    let right: Vec<u64> = programs.iter().map(|ops| right(ops)).collect();
    let wrong = |options: &str| -> Vec<bool> {
        let values = computed(name, &programs, options);
        values
            .iter()
            .zip(&right)
            .map(|(is, right)| is != right)
            .collect()
    };
    let without = wrong(more);
    let mut found = vec![false; programs.len()];
    for order in 0..SEEDS {
        let seen = wrong(&format!("{},{more}", adversarial(order)));
        found
            .iter_mut()
            .zip(seen)
            .for_each(|(it, seen)| *it |= seen);
    }
    let count = |of: &[bool], is_counted: &dyn Fn(RacyMistake) -> bool| {
        let counted = of.iter().zip(&mistakes);
        counted
            .filter(|(wrong, kind)| **wrong && is_counted(**kind))
            .count()
    };
    for kind in MISTAKES {
        let all = mistakes.iter().filter(|it| **it == kind).count();
        let (with, without) = (
            count(&found, &|it| it == kind),
            count(&without, &|it| it == kind),
        );
        println!(
            "{kind:?}: wrong values in {with} of {all} programs, without the option in {without}"
        );
    }
    let (with, all) = (count(&found, &|_| true), programs.len());
    println!(
        "all: {with} of {all}, without the option {}",
        count(&without, &|_| true)
    );
    assert!(with * 10 >= all * 9, "{with} of {all}");
}

#[test]
fn correct_programs_compute_the_same_in_every_order() {
    check_correct("correct", 0..200, 0..12);
}

#[test]
fn programs_with_a_mistake_get_a_wrong_value() {
    check_spoiled("spoiled", 0, 15, "");
}

#[test]
fn programs_with_a_mistake_get_a_wrong_value_in_virtual_time() {
    check_spoiled("virtual", 100_000, 100, "virtual_ns=1000");
}

/// A wrong value that was seen once can be seen again.
#[test]
fn a_seed_repeats_an_order() {
    let programs: Vec<Vec<RacyOp>> = all_spoiled(300_000, 5)
        .into_iter()
        .map(|(_, ops)| ops)
        .collect();
    for seed in [1, 9] {
        let options = format!("{},virtual_ns=1000", adversarial(seed));
        let first = computed("repeated", &programs, &options);
        assert_eq!(computed("repeated", &programs, &options), first);
    }
}

/// One task at a time: in the order in which they ended, none began before the one before it ended.
#[test]
fn the_truth_log_has_the_order_in_which_tasks_ran() {
    let programs: Vec<Vec<RacyOp>> = (0..10)
        .map(|seed| observed(&mut Dice(seed), OPERATIONS))
        .collect();
    let number = |line: &str, name: &str| -> u64 {
        let (_, rest) = line.split_once(&format!("\"{name}\":")).unwrap();
        let end = rest.find([',', '}']).unwrap();
        rest[..end].parse().unwrap()
    };
    for time in ["", ",virtual_ns=1000"] {
        let lines = logged(&programs, &(adversarial(3) + time));
        // A wait begins, and others run until it ends.
        let moves = |line: &&String| line.contains("\"memcpy\"") || line.contains("\"memset\"");
        let mut tasks = 0;
        let mut last_end = 0;
        for line in lines.iter().filter(moves) {
            assert!(number(line, "begin_ns") >= last_end, "{line}");
            last_end = number(line, "end_ns");
            tasks += 1;
        }
        assert!(tasks > 100, "only {tasks}");
    }
}

#[test]
#[ignore = "a soak"]
fn many_correct_programs_compute_the_same_in_every_order() {
    check_correct("many-correct", 10_000..14_000, 0..40);
}

#[test]
#[ignore = "a soak"]
fn many_programs_with_a_mistake_get_a_wrong_value() {
    check_spoiled("many-spoiled", 200_000, 2_000, "");
}
