//! Runs: tasks that have one time together count in totals, and have places within the time of their run.

use ascend_trace_analysis::{Dependencies, Estimates, Stats, place_untimed};
use ascend_trace_format::api::Untimed;
use ascend_trace_format::record::figure::{Figure, packed};
use ascend_trace_recording::rows::{CounterRow, Row};
use ascend_trace_recording::{TaskId, TaskRun, Trace};
use ascend_trace_testkit::Timeline;

/// Nanoseconds.
const US: i64 = 1_000;

/// Twenty tasks of 10 us that were timed alone.
const SINGLE: &str = "
    s1: A[100us..110us] A[112us..122us] A[124us..134us] A[136us..146us] A[148us..158us]
    s1: A[160us..170us] A[172us..182us] A[184us..194us] A[196us..206us] A[208us..218us]
    s1: A[220us..230us] A[232us..242us] A[244us..254us] A[256us..266us] A[268us..278us]
    s1: A[280us..290us] A[292us..302us] A[304us..314us] A[316us..326us] A[328us..338us]
";

/// These, and a run of five tasks that were all in the queue at its begin. `last` is the last of them.
fn with_run(last: &str, submitting_us: u32) -> Trace {
    let text = format!(
        "{SINGLE}
        s1: A[5000us..5058us] by t1[4000us..4001us] A[in-run] by t1[4002us..4003us]
        s1: A[in-run] by t1[4004us..4005us] A[in-run] by t1[4006us..4007us]
        s1: {last}[in-run] by t1[4008us..4009us] A[6000us..6010us] by t1[5990us..5991us]"
    );
    let timeline = Timeline::of(&text).with_times(|row| {
        if row.begin_device_ns == 5000 * US {
            row.run_tasks = 5;
            row.submitting_ns = submitting_us * 1_000;
        }
    });
    timeline.trace()
}

fn run_of(trace: &Trace) -> TaskRun {
    let mut ids = (0..trace.tasks().len() as u32).map(TaskId);
    ids.find_map(|id| trace.run(id)).expect("a run")
}

/// The estimated total of `A`, and its error.
fn total(trace: &Trace) -> (i64, i64) {
    let stats = Stats::of(trace);
    let mut rows = stats.operations.iter();
    let row = rows.find(|row| row.name == "A").expect("a row");
    assert_eq!(row.time.unestimated, 0);
    let total = row.time.estimated_total_ns.expect("a total");
    (total, row.time.total_error_ns.expect("its error"))
}

#[test]
fn the_tasks_of_a_run_have_no_times_of_their_own() {
    let trace = with_run("A", 12);
    let reasons = trace.tasks().iter().map(|task| task.untimed);
    let in_run = reasons.filter(|it| *it == Untimed::InRun).count();
    assert_eq!(in_run, 5);
    let timed = trace.tasks().iter().filter(|task| task.time.is_some());
    assert_eq!(timed.count(), 21);
    let run = run_of(&trace);
    assert_eq!((run.tasks, run.time.duration()), (5, 58 * US));
    // Of the time from one task to the next, only the limit is known.
    assert!(run.least <= 50 * US && 50 * US <= run.most, "{run:?}");
    assert!(run.least >= 45 * US && run.most <= 59 * US, "{run:?}");
    let stats = Stats::of(&trace);
    assert_eq!(stats.operations[0].time.max_ns, Some(10 * US));
}

#[test]
fn a_total_contains_the_time_of_a_run() {
    let (total, error) = total(&with_run("A", 12));
    assert!((total - 260 * US).abs() <= error, "{total} +- {error}");
    assert!(error <= 13 * US, "{total} +- {error}");
}

/// Slower tasks in a run are in the total, though all tasks that were timed alone are quick.
#[test]
fn a_total_follows_a_run_that_was_slower_than_single_tasks() {
    let text = format!(
        "{SINGLE}
        s1: A[5000us..5300us] by t1[4000us..4001us] A[in-run] by t1[4002us..4003us]
        s1: A[in-run] by t1[4004us..4005us] A[in-run] by t1[4006us..4007us]"
    );
    let timeline = Timeline::of(&text).with_times(|row| {
        if row.begin_device_ns == 5000 * US {
            row.run_tasks = 4;
            row.submitting_ns = 12_000;
        }
    });
    let (total, error) = total(&timeline.trace());
    let slow = 200 * US + 300 * US - 3 * 3 * US;
    assert!(total + error >= slow, "{total} +- {error}");
}

#[test]
fn a_run_of_several_operations_is_no_total_of_one() {
    let (total, error) = total(&with_run("B", 12));
    // Twenty-one tasks with times, and four with the usual one.
    assert!((total - 250 * US).abs() <= error, "{total} +- {error}");
}

/// The event after the run was submitted 40 us after its begin: the stream may have waited for that time in between.
#[test]
fn a_stream_that_may_have_waited_within_a_run_leaves_the_total_open() {
    let [sure, open] = [12, 1040].map(|closed| run_of(&with_run("A", closed)));
    assert_eq!(sure.most, open.most);
    assert!(open.least <= sure.least - 39 * US, "{sure:?} {open:?}");
}

#[test]
fn the_tasks_of_a_run_are_placed_evenly_within_it() {
    let trace = with_run("A", 12);
    let estimates = Estimates::of(&trace);
    let placed = place_untimed(&trace, &Dependencies::of(&trace), &estimates);
    let begins: Vec<i64> = placed.iter().map(|it| it.1.range.begin / US).collect();
    assert_eq!(begins, [5000, 5012, 5024, 5036, 5048]);
    let last = placed.last().unwrap().1;
    assert_eq!(last.range.end / US, 5058);
    assert!(placed.iter().all(|it| it.1.error <= 20 * US), "{placed:?}");
}

/// What pairs add is known, so the time between the tasks is known as well as that.
#[test]
fn the_time_between_tasks_is_known_as_well_as_a_pair_is() {
    let text = format!(
        "{SINGLE}
        s1: A[5000us..5063us] by t1[4000us..4001us] A[in-run] by t1[4002us..4003us]
        s1: A[in-run] by t1[4004us..4005us] A[in-run] by t1[4006us..4007us]
        s1: A[in-run] by t1[4008us..4009us]"
    );
    // A record of 1 us, and a way of 2 us from it to a task and back: 5 us. Between tasks 2 us.
    let figures = [
        (Figure::RecordNs, 1_000),
        (Figure::RecordOpenNs, 0),
        (Figure::KernelBeyondNs, 3_000),
        (Figure::KernelOpenNs, 0),
        (Figure::KernelShortestNs, 15_000),
    ];
    let figures = figures.map(|(figure, ns)| {
        Row::Counter(CounterRow {
            process: 1,
            what: figure.code(0).unwrap(),
            value: packed(40, ns),
        })
    });
    let timeline = Timeline::of(&text).with_rows(figures).with_times(|row| {
        row.submitting_ns = 1_000;
        // With their events.
        match row.begin_device_ns == 5000 * US {
            true => (row.run_tasks, row.submitting_ns) = (5, 12_000),
            false => row.end_device_ns += 5 * US,
        }
    });
    let trace = timeline.trace();
    let run = run_of(&trace);
    // 5 tasks of 10 us, 4 times 2 us between them, and 5 us for the pair.
    assert!((run.least..=run.most).contains(&(50 * US)), "{run:?}");
    // The time between two tasks is off by 1.5 us at most, and so is the pair.
    assert!(run.most - run.least <= 5 * 3_000 + 1_000, "{run:?}");
    assert!((run.total - 50 * US).abs() <= 5 * 1_500 + 1_000, "{run:?}");
}
