//! Short tasks in a row have one time together with `--budget off`. It holds the truth, and costs the device little.

#![expect(clippy::print_stdout, reason = "a reader wants to see the figures")]

use std::collections::BTreeMap;

use ascend_trace_format::api::{TaskKind, Untimed};
use ascend_trace_recording::{StreamId, TaskId, TaskRun, Trace};
use serde_json::Value;

use crate::support::run::has_few_places;
use crate::support::truth::TruthLogTask;
use crate::support::{Recording, Run, program, run, tool, truth};

/// A pair around a short task takes longer than the task.
const DEVICE: &str = "record_ns=1300,turn_ns=2000,switch_ns=1800,memset_ns=0,memset_mbps=1000";

#[track_caller]
fn recorded(name: &str, words: &[&str], options: &[&str]) -> Recording {
    let recording = Run::new(&program(name))
        .words(words)
        .soft(DEVICE)
        .options(options)
        .budgeted()
        .traced();
    assert_eq!(recording.outcome.status, 0, "{}", recording.outcome);
    recording
}

const OFF: [&str; 2] = ["--budget", "off"];

#[track_caller]
fn json(command: &str, recording: &Recording) -> Value {
    let outcome = run(tool().args([command, "--json"]).arg(recording.trace())).expect(0);
    serde_json::from_str(&outcome.out()).unwrap()
}

#[track_caller]
fn whole(recording: &Recording) -> Trace {
    let opened = ascend_trace_recording::Recording::open(recording.trace(), |_, _| true);
    opened.unwrap().whole().unwrap()
}

/// A run with the ids of its tasks.
struct RunOfTasks {
    run: TaskRun,
    tasks: Vec<TaskId>,
}

/// The runs of a trace. Their tasks are alike and have no separate times.
#[track_caller]
fn runs(trace: &Trace) -> Vec<RunOfTasks> {
    let mut found = Vec::new();
    for first in (0..trace.tasks().len() as u32).map(TaskId) {
        let Some(run) = trace.run(first) else {
            continue;
        };
        let lane = trace.stream_tasks(trace.task(first).stream);
        let place = lane.iter().position(|id| *id == first).unwrap();
        let tasks = lane[place..place + run.tasks as usize].to_vec();
        for (id, number) in tasks.iter().zip(trace.task(first).sequence..) {
            let task = trace.task(*id);
            assert_eq!(task.sequence, number, "{task:?}");
            assert_eq!(task.untimed, Untimed::InRun, "{task:?}");
            assert_eq!(task.kind, trace.task(first).kind, "{task:?}");
            assert_eq!(task.time, None);
        }
        found.push(RunOfTasks { run, tasks });
    }
    found
}

/// The entry of the device's log for each task that ran. The tasks of a stream ran in their order.
#[track_caller]
fn matched(recording: &Recording, trace: &Trace) -> BTreeMap<TaskId, TruthLogTask> {
    let mut entries: BTreeMap<i64, Vec<TruthLogTask>> = BTreeMap::new();
    let is_task = |it: &TruthLogTask| !it.is_tracers() && it.kind != "completion";
    for entry in truth::read(&recording.truth()).into_iter().filter(is_task) {
        entries.entry(entry.stream_id).or_default().push(entry);
    }
    let mut known = BTreeMap::new();
    for (id, stream) in trace.streams().iter().enumerate() {
        let tasks = trace.stream_tasks(StreamId(id as u32)).iter().copied();
        let tasks: Vec<_> = tasks.filter(|id| trace.runs(trace.task(*id))).collect();
        let Some(mut own) = stream.acl_id.and_then(|id| entries.remove(&id.into())) else {
            assert_eq!(tasks, []);
            continue;
        };
        own.sort_by_key(|it| (it.begin, it.seq));
        let kinds: Vec<_> = tasks.iter().map(|id| trace.task(*id).kind.name()).collect();
        let true_kinds: Vec<_> = own.iter().map(|it| it.kind.as_str()).collect();
        assert_eq!(kinds, true_kinds, "stream {id}");
        known.extend(tasks.into_iter().zip(own));
    }
    known
}

/// Compares the runs with the device's log, and returns the number of their tasks.
#[track_caller]
fn assert_runs(recording: &Recording, trace: &Trace) -> usize {
    let known = matched(recording, trace);
    let found = runs(trace);
    for RunOfTasks { run, tasks } in &found {
        let truth: Vec<_> = tasks.iter().map(|id| &known[id]).collect();
        let total: i64 = truth.iter().map(|it| it.end - it.begin).sum();
        assert!(
            (run.least..=run.most).contains(&total),
            "{run:?}, truth {total}"
        );
        let (first, last) = (truth[0], truth[truth.len() - 1]);
        let (begin, end) = (run.time.begin - first.begin, run.time.end - last.end);
        let error = run.time.error;
        assert!(
            begin.abs() <= error && end.abs() <= error,
            "{run:?}: {begin} and {end} ns off"
        );
    }
    found.iter().map(|it| it.tasks.len()).sum()
}

/// The true total of the fills is inside its error.
#[track_caller]
fn assert_total(recording: &Recording) {
    let entries = truth::read(&recording.truth());
    let fills = entries.iter().filter(|it| it.kind == "memset");
    let fills: i64 = fills.map(|it| it.end - it.begin).sum();
    let stats = json("stats", recording);
    let rows = stats["operations"].as_array().unwrap();
    let row = rows.iter().find(|row| row["kind"] == "memset").unwrap();
    let total = row["time"]["estimated_total_ns"].as_i64().unwrap();
    let error = row["time"]["total_error_ns"].as_i64().unwrap();
    println!("total {total} +- {error}, truth {fills}");
    assert_eq!(row["time"]["unestimated"], 0, "{row}");
    assert!((total - fills).abs() <= error, "{row}, truth {fills}");
}

/// The time of the batches of `budget.c` on the device: from the end of the function that holds one to its last fill.
fn batches(recording: &Recording) -> i64 {
    let mut tasks = truth::read(&recording.truth());
    tasks.sort_by_key(|task| task.begin);
    let (mut sum, mut from, mut last) = (0, 0, 0);
    for task in &tasks {
        match task.kind.as_str() {
            "hostfunc" => {
                sum += last - from;
                (from, last) = (task.end, task.end);
            }
            "memset" => last = task.end,
            _ => {}
        }
    }
    sum + last - from
}

/// Batches of fills of this length take no longer than `most` of the time without events.
#[track_caller]
fn costs_little(length: &str, turns: &str, most: f64) {
    if has_few_places() {
        return;
    }
    let words = ["1", turns, length];
    let plain = batches(&recorded("budget", &words, &["--timing", "off"]));
    let recording = recorded("budget", &words, &OFF);
    let traced = batches(&recording);
    let trace = whole(&recording);
    let tasks = assert_runs(&recording, &trace);
    let fills = trace
        .tasks()
        .iter()
        .filter(|it| it.kind == TaskKind::Memset);
    let (all, single) = fills.fold((0, 0), |(all, single), it| {
        (all + 1, single + usize::from(it.time.is_some()))
    });
    let ratio = traced as f64 / plain as f64;
    println!("{length}: {ratio:.4} of the time, {tasks} of {all} in runs, {single} with own times");
    assert!(ratio <= most, "{length}: {traced} ns, plain {plain} ns");
    // Nearly all tasks are timed, and enough of them on their own.
    assert!(
        (tasks + single) * 20 >= all * 19,
        "{tasks} + {single} of {all}"
    );
    assert!(
        single as i64 * 1_000_000_000 / 30 >= plain,
        "{single} in {plain} ns"
    );
    assert_total(&recording);
    let info = json("info", &recording);
    assert_eq!(info["tasks"]["untimed"]["in-run"], tasks);
    assert_eq!(info["cost"]["run_tasks"], tasks);
    let stats = json("stats", &recording);
    assert_eq!(stats["tracing"]["run_tasks"], tasks);
}

#[test]
fn runs_of_fills_of_10_us_take_little_longer_than_without_events() {
    costs_little("10000", "60", 1.1);
}

#[test]
fn runs_of_fills_of_2_us_take_little_longer_than_without_events() {
    costs_little("2000", "120", 1.15);
}

#[test]
fn other_calls_on_a_stream_come_after_the_end_of_a_run() {
    if has_few_places() {
        return;
    }
    let words = [
        "record", "wait", "copy", "other", "host", "query", "capture", "replay", "thread",
        "device", "none",
    ];
    let recording = recorded("runs", &words, &OFF);
    let trace = whole(&recording);
    let tasks = assert_runs(&recording, &trace);
    println!("{tasks} tasks in runs");
    // All but the first rows have runs.
    assert!(tasks > 2 * 40 * words.len(), "{tasks}");
    assert_total(&recording);
    let info = json("info", &recording);
    assert_eq!(info["tasks"]["untimed"].get("contended"), None, "{info}");
}

/// The event after a run never comes between the work of a stream and a query of it.
#[test]
fn a_query_finds_a_stream_done_as_without_the_tool() {
    if has_few_places() {
        return;
    }
    let recording = recorded("runs", &["asked", "none"], &OFF);
    let trace = whole(&recording);
    assert!(assert_runs(&recording, &trace) > 40);
    assert_total(&recording);
}

#[test]
fn tasks_that_are_waited_for_one_by_one_have_times_of_their_own() {
    if has_few_places() {
        return;
    }
    let recording = recorded("runs", &["waited"], &OFF);
    let trace = whole(&recording);
    let fills = trace
        .tasks()
        .iter()
        .filter(|it| it.kind == TaskKind::Memset);
    let fills: Vec<_> = fills.collect();
    let (_, waited) = fills.split_at(fills.len() - 80);
    assert!(waited.iter().all(|it| it.time.is_some()));
    assert_runs(&recording, &trace);
}

/// Threads without a lock of the program's: a run that another thread's task came into has no time.
#[test]
fn threads_that_share_a_stream_leave_runs_true() {
    let recording = Run::new(&program("shared_stream"))
        .soft(DEVICE)
        .options(&OFF)
        .budgeted()
        .traced();
    assert_eq!(recording.outcome.status, 0, "{}", recording.outcome);
    let trace = whole(&recording);
    let tasks = assert_runs(&recording, &trace);
    println!("{tasks} tasks in runs");
}

#[test]
fn a_killed_program_loses_no_more_than_the_times_of_its_last_runs() {
    let recording = Run::new(&program("runs"))
        .words(&["killed"])
        .soft(DEVICE)
        .options(&OFF)
        .budgeted()
        .traced();
    let trace = whole(&recording);
    let fills = trace
        .tasks()
        .iter()
        .filter(|it| it.kind == TaskKind::Memset);
    assert!(fills.count() >= 20_000);
    assert!(runs(&trace).len() > 10);
}

/// The other ways of timing are literal.
#[test]
fn only_automatic_timing_without_a_budget_makes_runs() {
    for options in [
        &["--timing", "events"][..],
        &["--timing", "chained"],
        &["--budget", "2"],
    ] {
        let recording = recorded("runs", &["none"], options);
        assert_eq!(runs(&whole(&recording)).len(), 0, "{options:?}");
        assert_eq!(json("info", &recording)["cost"]["run_tasks"], 0);
    }
}
