//! Random programs that copy between streams: those without a mistake give no error, and a mistake in one is found
//! and named.

mod program;

use std::sync::atomic::{AtomicU64, Ordering};

use ascend_trace_analysis::checks::{Finding, Findings, Severity};
use ascend_trace_analysis::{Fold, Step, Window};
use ascend_trace_recording::Archive;
use ascend_trace_testkit::recording::indexed;
use ascend_trace_testkit::{Timeline, timeline};

use super::random::Dice;
use program::{Conflict, Op, conflicts, correct, text};

const OPERATIONS: usize = 60;

/// The errors of a program.
fn errors(text: &str) -> Vec<Finding> {
    let trace = timeline(text);
    let mut found = Findings::default().of(&Window::whole(&trace));
    found.retain(|it| it.severity == Severity::Error);
    found
}

/// Makes one mistake in a program, of which something follows: a wait or a sync is missing, memory is freed too
/// early, or a record is moved before what it is to be after.
fn spoiled(ops: &[Op], dice: &mut Dice) -> Option<(Vec<Op>, &'static str)> {
    for _ in 0..40 {
        let place = dice.roll(ops.len() as u64) as usize;
        let mut changed = ops.to_vec();
        let what = match ops[place] {
            op if op.orders() => {
                changed.remove(place);
                "a missing wait"
            }
            Op::Free(_) => {
                let earlier = place.checked_sub(1 + dice.roll(6) as usize);
                let Some(earlier) = earlier else { continue };
                let op = changed.remove(place);
                changed.insert(earlier, op);
                "an early free"
            }
            Op::Record(..) => {
                let earlier = place.checked_sub(1 + dice.roll(6) as usize);
                let Some(earlier) = earlier else { continue };
                // The order of the recordings stays.
                let between = &ops[earlier..place];
                if between.iter().any(|it| matches!(it, Op::Record(..))) {
                    continue;
                }
                let op = changed.remove(place);
                changed.insert(earlier, op);
                "a moved record"
            }
            _ => continue,
        };
        if is_possible(&changed) && !conflicts(&changed).is_empty() {
            return Some((changed, what));
        }
    }
    None
}

/// Whether memory is used only while it is there, and only what was recorded is waited for.
fn is_possible(ops: &[Op]) -> bool {
    let mut recorded = [0; 4];
    let mut live: Vec<u64> = Vec::new();
    ops.iter().all(|op| match *op {
        Op::Record(_, event) => {
            recorded[event] += 1;
            true
        }
        Op::Wait(_, event, number)
        | Op::SyncEvent(event, number)
        | Op::QueryEvent(event, number) => number <= recorded[event],
        Op::Malloc(block) => {
            live.push(block);
            true
        }
        Op::Free(block) => {
            let was = live.contains(&block);
            live.retain(|it| *it != block);
            was
        }
        Op::Copy(_, to, from, _) | Op::Blocking(to, from, _) => {
            is_live(&live, to) && is_live(&live, from)
        }
        Op::Fill(_, to, _) => is_live(&live, to),
        _ => true,
    })
}

fn is_live(live: &[u64], address: u64) -> bool {
    address >= 1 << 20 || live.contains(&(address / 256 * 256))
}

/// Whether a finding is one of the conflicts, by the calls that it names.
fn is_named(finding: &Finding, conflicts: &[Conflict], ops: &[Op]) -> bool {
    let number = finding.what.split("(call ").nth(1);
    let number = number.and_then(|it| it.split(')').next()?.parse::<usize>().ok());
    let Some(before) = number else { return false };
    let check = |op: Op| match op {
        Op::Free(_) => "freed-in-use",
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

fn check_spoiled(seeds: std::ops::Range<u64>) {
    let (all, named) = (AtomicU64::new(0), AtomicU64::new(0));
    for_each(seeds, |seed| {
        let mut dice = Dice(seed);
        let ops = correct(&mut dice, OPERATIONS);
        let Some((ops, what)) = spoiled(&ops, &mut dice) else {
            return;
        };
        let text = text(&ops);
        let (found, expected) = (errors(&text), conflicts(&ops));
        // What is found has to be there.
        for finding in &found {
            assert!(
                is_named(finding, &expected, &ops),
                "seed {seed}, {what}: {finding:#?}, not {expected:?}\n{text}"
            );
        }
        all.fetch_add(1, Ordering::Relaxed);
        named.fetch_add(u64::from(!found.is_empty()), Ordering::Relaxed);
    });
    let (all, named) = (all.into_inner(), named.into_inner());
    assert!(all > 200 && named * 100 >= all * 99, "{named} of {all}");
}

#[test]
fn random_programs_without_a_mistake_give_no_error() {
    check_correct(0..400);
}

#[test]
fn a_mistake_in_a_random_program_is_found_and_named() {
    check_spoiled(0..400);
}

#[test]
#[ignore = "takes minutes"]
fn many_random_programs_without_a_mistake_give_no_error() {
    check_correct(1_000..21_000);
}

#[test]
#[ignore = "takes minutes"]
fn a_mistake_in_many_random_programs_is_found_and_named() {
    check_spoiled(1_000..6_000);
}

/// What is found, wherever the recording is cut.
#[test]
fn what_is_found_does_not_depend_on_where_a_recording_is_cut() {
    for_each(30_000..30_100, |seed| {
        let mut dice = Dice(seed);
        let ops = correct(&mut dice, OPERATIONS);
        let ops = spoiled(&ops, &mut dice).map_or(ops, |(ops, _)| ops);
        let text = text(&ops);
        let timeline = Timeline::parse(&text).expect("a timeline");
        let file = indexed(20, &timeline.session, &timeline.tables, timeline.rows);
        let mut archive = Archive::from_bytes(file).expect("it reads back");
        let mut found = |step| {
            let found = Findings::default().of_archive(&mut archive, step, |_| true);
            found.expect("it reads back").expect("nobody gave up")
        };
        let whole = found(Step::WHOLE);
        for _ in 0..3 {
            let (rows, margin) = (1 + dice.roll(60) as u64, 1 + dice.roll(30) as usize);
            assert_eq!(
                found(Step { rows, margin }),
                whole,
                "{rows} rows, margin {margin}\n{text}"
            );
        }
    });
}
