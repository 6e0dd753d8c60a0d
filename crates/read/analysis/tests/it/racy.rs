//! Random programs that copy between streams: those without a mistake give no error, and a mistake in one is found
//! and named.

mod text;

use std::sync::atomic::{AtomicU64, Ordering};

use ascend_trace_analysis::checks::{Finding, Findings, Severity};
use ascend_trace_analysis::{Fold, Window, WindowSize};
use ascend_trace_recording::Recording;
use ascend_trace_testkit::racy::{
    Dice, MISTAKES, OpConflict, RacyMistake, RacyOp, conflicts, correct,
};
use ascend_trace_testkit::recording::indexed;
use ascend_trace_testkit::{Timeline, timeline};

use text::text;

const OPERATIONS: usize = 60;

/// The errors of a program.
fn errors(text: &str) -> Vec<Finding> {
    let trace = timeline(text);
    let mut found = Findings::default().of(&Window::whole(&trace));
    found.retain(|it| it.severity == Severity::Error);
    found
}

/// Whether a finding is one of the conflicts, by the calls that it names.
fn is_named(finding: &Finding, conflicts: &[OpConflict], ops: &[RacyOp]) -> bool {
    let number = finding.what.split("(call ").nth(1);
    let number = number.and_then(|it| it.split(')').next()?.parse::<usize>().ok());
    let Some(before) = number else { return false };
    let check = |op: RacyOp| match op {
        RacyOp::Free(_) => "freed-in-use",
        _ => "data-race",
    };
    let after = finding.site.call as usize;
    conflicts.contains(&(before, after)) && check(ops[after]) == finding.check
}

/// On all processors.
fn for_each(seeds: std::ops::Range<u64>, run: impl Fn(u64) + Sync) {
    let next = AtomicU64::new(seeds.start);
    let some = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return;
            }
            run(seed);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(some);
        }
    });
}

fn check_correct(seeds: std::ops::Range<u64>) {
    for_each(seeds, |seed| {
        let ops = correct(&mut Dice(seed), OPERATIONS);
        assert!(conflicts(&ops).is_empty(), "seed {seed}");
        let text = text(&ops);
        let found = errors(&text);
        assert!(found.is_empty(), "seed {seed}: {found:#?}\n{text}");
    });
}

/// A program with a mistake. The seed determines its kind.
fn spoiled(seed: u64) -> Option<(Vec<RacyOp>, RacyMistake)> {
    let mut dice = Dice(seed);
    let ops = correct(&mut dice, OPERATIONS);
    let mistake = MISTAKES[seed as usize % MISTAKES.len()];
    Some((mistake.inject(&ops, &mut dice)?, mistake))
}

/// How many programs with a kind of mistake there were, and in how many of them it was found.
#[derive(Default)]
struct Count {
    all: AtomicU64,
    named: AtomicU64,
}

#[expect(clippy::print_stdout, reason = "the figures by kind of mistake")]
fn check_spoiled(seeds: std::ops::Range<u64>, least: u64) {
    let counts: [Count; MISTAKES.len()] = Default::default();
    for_each(seeds, |seed| {
        let Some((ops, mistake)) = spoiled(seed) else {
            return;
        };
        let text = text(&ops);
        let (found, expected) = (errors(&text), conflicts(&ops));
        // Every finding must be a real one.
        for finding in &found {
            assert!(
                is_named(finding, &expected, &ops),
                "seed {seed}, {mistake:?}: {finding:#?}, not {expected:?}\n{text}"
            );
        }
        let count = &counts[mistake as usize];
        count.all.fetch_add(1, Ordering::Relaxed);
        let is_found = u64::from(!found.is_empty());
        count.named.fetch_add(is_found, Ordering::Relaxed);
    });
    for (count, mistake) in counts.into_iter().zip(MISTAKES) {
        let (all, named) = (count.all.into_inner(), count.named.into_inner());
        println!("{mistake:?}: {named} of {all}");
        assert!(
            all >= least && named * 100 >= all * 99,
            "{mistake:?}: {named} of {all}"
        );
    }
}

#[test]
fn random_programs_without_a_mistake_give_no_error() {
    check_correct(0..400);
}

#[test]
fn a_mistake_in_a_random_program_is_found_and_named() {
    check_spoiled(0..600, 60);
}

#[test]
#[ignore = "takes minutes"]
fn many_random_programs_without_a_mistake_give_no_error() {
    check_correct(1_000..21_000);
}

#[test]
#[ignore = "takes minutes"]
fn a_mistake_in_many_random_programs_is_found_and_named() {
    check_spoiled(1_000..7_000, 600);
}

/// The findings, for any cut of the recording.
#[test]
fn findings_do_not_depend_on_where_a_recording_is_cut() {
    for_each(30_000..30_100, |seed| {
        let mut dice = Dice(seed);
        let ops = spoiled(seed).map_or_else(|| correct(&mut dice, OPERATIONS), |(ops, _)| ops);
        let text = text(&ops);
        let timeline = Timeline::of(&text);
        let file = indexed(20, &timeline.session, &timeline.tables, timeline.rows);
        let mut recording = Recording::from_bytes(file).expect("it reads back");
        let mut found = |step| {
            let found = Findings::default().of_recording(&mut recording, step, |_| true);
            found
                .expect("it reads back")
                .expect("the reading was not cancelled")
        };
        let whole = found(WindowSize::WHOLE);
        for _ in 0..3 {
            let (rows, margin) = (1 + dice.roll(60) as u64, 1 + dice.roll(30) as usize);
            assert_eq!(
                found(WindowSize { rows, margin }),
                whole,
                "{rows} rows, margin {margin}\n{text}"
            );
        }
    });
}
