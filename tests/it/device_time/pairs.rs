//! What records and their neighbours take of the device's time: learnt, taken off durations, and in the bars of all tasks.

use crate::support::{Run, Tables, program, truth};

use super::judge::Spread;

/// Durations of the tasks of a program with busy streams, compared with the true ones.
pub(super) struct Durations {
    pub(super) timed: usize,
    inside: usize,
    both_inside: usize,
    /// Traced less true durations.
    off: Spread,
    pub(super) bars: Spread,
}

impl Durations {
    pub(super) fn of(words: &[&str], soft: &str, options: &[&str]) -> Self {
        Self::of_kind(("back_to_back", "memset"), words, soft, options)
    }

    fn of_kind((name, kind): (&str, &str), words: &[&str], soft: &str, options: &[&str]) -> Self {
        let recording = Run::new(&program(name))
            .words(words)
            .options(options)
            .soft(soft)
            .compared();
        let tables = Tables::of(&recording);
        let matched = truth::matched(&tables.tasks, &recording.truth());
        let mut durations = Self {
            timed: 0,
            inside: 0,
            both_inside: 0,
            off: Spread::default(),
            bars: Spread::default(),
        };
        for (task, true_one) in &matched {
            if task.text("kind") != kind || !task.text("untimed").is_empty() {
                continue;
            }
            let (begin, end) = (task.number("begin_ns"), task.number("end_ns"));
            let (bar, local) = (task.number("err_ns"), task.number("err_device_ns"));
            let off = (end - begin) - (true_one.end - true_one.begin);
            durations.timed += 1;
            durations.inside += usize::from(off.abs() <= 2 * local);
            let ends = [begin - true_one.begin, end - true_one.end];
            durations.both_inside += usize::from(ends.iter().all(|off| off.abs() <= bar));
            durations.off.0.push(off);
            durations.bars.0.push(local);
        }
        let [low, half, high] = [0.01, 0.5, 0.99].map(|share| durations.off.quantile(share));
        println!(
            "{soft} {options:?}: {} timed, durations inside {}, begins and ends inside {}, off {low} {half} {high}, \
             bar p50 {} p99 {}",
            durations.timed,
            durations.inside,
            durations.both_inside,
            durations.bars.quantile(0.5),
            durations.bars.quantile(0.99),
        );
        durations
    }

    /// All but one of a thousand are within their bars, and a few more where only few are timed.
    #[track_caller]
    pub(super) fn are_inside(&self) {
        let least = self.timed - self.timed / 1000 - 2;
        assert!(self.inside >= least, "{} of {}", self.inside, self.timed);
        let ends = self.both_inside;
        assert!(ends >= least, "begins and ends: {ends} of {}", self.timed);
    }

    pub(super) fn median_off(&self) -> i64 {
        self.off.quantile(0.5)
    }
}

const CLOCK: &str = "submit_ns=3000,tick_ns=20,drift_ppm=40,memset_ns=1000,memset_mbps=100,clock_offset_ns=412345678901";

/// Records that take 9 µs mostly, 50 µs now and then, and sometimes 150 µs.
#[test]
fn records_with_a_long_tail_are_in_the_bars_of_all_tasks() {
    for timing in ["events", "chained", "sample=4"] {
        let soft = format!("{CLOCK},record_ns=1000,record_tail_ns=8000");
        let words = ["8", "60", "1", "100", "900", "4900"];
        let durations = Durations::of(&words, &soft, &["--timing", timing]);
        assert!(durations.timed >= 300, "{}", durations.timed);
        durations.are_inside();
        assert!(durations.bars.quantile(0.5) <= 400_000);
    }
}

/// The first tasks are judged by the results at the end.
#[test]
fn few_records_with_a_long_tail_are_in_the_bars_too() {
    let soft = format!("{CLOCK},record_ns=1000,record_tail_ns=8000");
    let durations = Durations::of(&["2", "100", "0", "900"], &soft, &["--timing", "events"]);
    assert!(durations.timed >= 150, "{}", durations.timed);
    durations.are_inside();
}

/// Records of other tasks change nothing on a device with records without a tail.
#[test]
fn bars_are_narrow_where_records_have_no_tail() {
    let soft = format!("{CLOCK},record_ns=1500,record_jitter_ns=700");
    let words = ["24", "120", "0", "900", "4900"];
    let durations = Durations::of(&words, &soft, &["--timing", "auto"]);
    durations.are_inside();
    assert!(durations.median_off().abs() <= 200);
    assert!(durations.bars.quantile(0.5) <= 900);
}

/// From a record to a task, from a task to a record, and from one task to the next, the device takes some time.
#[test]
fn the_excess_of_a_pair_is_learnt_and_subtracted() {
    let turns = "record_ns=1300,record_jitter_ns=100,turn_ns=2000,turn_jitter_ns=300,switch_ns=1800,switch_jitter_ns=200";
    let soft = format!("{CLOCK},{turns}");
    for (timing, narrow) in [
        ("auto", true),
        ("sample=8", true),
        ("events", false),
        ("chained", true),
    ] {
        let words = ["24", "120", "0", "100", "900", "4900", "19900"];
        let durations = Durations::of(&words, &soft, &["--timing", timing]);
        durations.are_inside();
        if narrow {
            let off = durations.median_off();
            assert!(
                off.abs() <= 1_000,
                "{timing}: durations are off by {off} ns"
            );
            let bar = durations.bars.quantile(0.5);
            assert!(bar <= 1_400, "{timing}: the bar is {bar} ns");
        }
    }
}

/// Fewer tasks than it takes to learn that.
#[test]
fn bars_are_wide_without_a_measured_excess() {
    let soft = format!("{CLOCK},record_ns=1300,turn_ns=2000,switch_ns=1800");
    let durations = Durations::of(&["1", "60", "0", "4900"], &soft, &["--timing", "events"]);
    durations.are_inside();
}

/// A queue of kernels, fills and copies by turns, of which the hardware log has the kernels.
#[test]
fn the_hardware_log_corrects_the_times_of_events() {
    let turns = "record_ns=1300,record_jitter_ns=100,turn_ns=2000,turn_jitter_ns=300,switch_ns=1800,launch_ns=5000";
    let soft = format!("{CLOCK},{turns}");
    let of = |kind: &str, timing: &str| {
        let words = ["3", "3000", "q"];
        Durations::of_kind(("any_load", kind), &words, &soft, &["--timing", timing])
    };
    let (both, events) = (of("kernel", "both"), of("kernel", "events"));
    both.are_inside();
    events.are_inside();
    assert!(both.median_off().abs() <= 200, "{}", both.median_off());
    assert!(both.bars.quantile(0.5) <= 800);
    assert!(both.bars.quantile(0.5) * 3 <= events.bars.quantile(0.5));
    of("memcpy", "both").are_inside();
}

/// No two tasks in a row are the same.
#[test]
fn pairs_are_learnt_where_operations_come_by_turns() {
    let turns = "record_ns=1300,record_jitter_ns=100,turn_ns=2000,turn_jitter_ns=300,switch_ns=1800,launch_ns=5000";
    let soft = format!("{CLOCK},{turns},copy_ns=3000");
    for kind in ["kernel", "memcpy", "memset"] {
        let words = ["5", "6000", "q"];
        let durations =
            Durations::of_kind(("any_load", kind), &words, &soft, &["--timing", "auto"]);
        durations.are_inside();
        assert!(durations.median_off().abs() <= 1_500, "{kind}");
        assert!(durations.bars.quantile(0.5) <= 2_000, "{kind}");
    }
}
