//! `--budget` limits the time that events take on a device. The recording has this time, and totals of operations still
//! hold the truth.

#![expect(clippy::print_stdout, reason = "a reader wants to see the figures")]

use std::collections::BTreeMap;

use ascend_trace_analysis::{Dependencies, Estimates, place_untimed};
use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::{Placement, TaskId};
use serde_json::Value;

use crate::support::run::has_few_places;
use crate::support::{Recording, Run, program, run, tool, truth};

/// A pair around a short task takes longer than the task.
const DEVICE: &str = "record_ns=1300,turn_ns=2000,switch_ns=1800,memset_ns=0,memset_mbps=1000";
const BUDGET: f64 = 0.02;
/// At the begin of a stream, its events may take this long, where that is more.
const BEGIN_NS: f64 = 3_500_000.0;

/// Fills of this length in batches: `phase` is that of `budget.c`.
fn recorded(phase: &str, batches: u32, options: &[&str]) -> Recording {
    let recording = Run::new(&program("budget"))
        .words(&["1", &batches.to_string(), phase])
        .soft(DEVICE)
        .options(options)
        .budgeted()
        .traced();
    assert_eq!(recording.outcome.status, 0, "{}", recording.outcome);
    recording
}

#[track_caller]
fn json(command: &str, recording: &Recording) -> Value {
    let outcome = run(tool().args([command, "--json"]).arg(recording.trace())).expect(0);
    serde_json::from_str(&outcome.out()).unwrap()
}

#[track_caller]
fn text(command: &str, recording: &Recording) -> String {
    run(tool().arg(command).arg(recording.trace()))
        .expect(0)
        .out()
}

/// Sums of the device's log, in nanoseconds.
#[derive(Default)]
struct DeviceTime {
    /// From the end of the function that holds a batch to the end of its last fill or replay, of all batches.
    batches: i64,
    /// From the first task of a stream to its last one.
    whole: i64,
    fills: i64,
}

impl DeviceTime {
    #[track_caller]
    fn of(recording: &Recording) -> Self {
        let mut streams: BTreeMap<i64, Vec<truth::TruthLogTask>> = BTreeMap::new();
        for entry in truth::read(&recording.truth()) {
            streams.entry(entry.stream_id).or_default().push(entry);
        }
        let mut sums = Self::default();
        streams.into_values().for_each(|tasks| sums.add(tasks));
        assert!(sums.batches > 0, "nothing ran");
        sums
    }

    fn add(&mut self, mut tasks: Vec<truth::TruthLogTask>) {
        tasks.sort_by_key(|task| task.begin);
        let (mut from, mut last) = (None, None);
        let length = |from: Option<i64>, last: Option<i64>| {
            from.zip(last).map_or(0, |(from, last)| last - from)
        };
        let begin = tasks.first().map(|task| task.begin);
        self.whole += length(begin, tasks.last().map(|task| task.end));
        for task in &tasks {
            if task.kind == "hostfunc" {
                self.batches += length(from, last);
                (from, last) = (Some(task.end), None);
            } else if task.kind == "memset" || task.kind == "graph" {
                last = Some(task.end);
            }
            if task.kind == "memset" {
                self.fills += task.end - task.begin;
            }
        }
        self.batches += length(from, last);
    }
}

/// Whether the total of the fills is inside its error.
#[track_caller]
fn assert_total(recording: &Recording, fills: i64, what: &str) {
    let stats = json("stats", recording);
    let rows = stats["operations"].as_array().unwrap();
    let row = rows.iter().find(|row| row["kind"] == "memset").unwrap();
    let total = row["time"]["estimated_total_ns"].as_i64().unwrap();
    let error = row["time"]["total_error_ns"].as_i64().unwrap();
    println!(
        "{what}: total {total} ± {error}, truth {fills}, {} timed",
        row["time"]["count"]
    );
    assert_eq!(row["time"]["unestimated"], 0, "{row}");
    assert!(
        (total - fills).abs() <= error,
        "{what}: {row}, truth {fills}"
    );
}

#[track_caller]
fn holds_its_budget(phase: &str, batches: u32) {
    if has_few_places() {
        return;
    }
    let plain = DeviceTime::of(&recorded(phase, batches, &["--timing", "off"]));
    let recording = recorded(phase, batches, &["--budget", "2"]);
    let traced = DeviceTime::of(&recording);
    let cost = &json("info", &recording)["cost"];
    let share = cost["events_device_share"].as_f64().unwrap();
    let known = cost["events_device_ns"].as_f64().unwrap();
    let (added, whole) = ((traced.batches - plain.batches) as f64, traced.whole as f64);
    println!(
        "{phase}: {added} ns added to {}, {known} ns known, {share:.4} of {whole}",
        plain.batches
    );
    let most = (whole * BUDGET).max(BEGIN_NS);
    assert!(added <= most, "{phase}: {added} ns added in {whole}");
    assert!(share <= most / whole, "{phase}: {share}, of {whole}");
    // The recorded cost is the true one, within the error of a few disturbed measurements.
    let open = added / 2.0 + 500_000.0;
    assert!(known >= added - open, "{phase}: {known} ns, truth {added}");
    // Without fills, the price is an assumption, and no less than the truth.
    if phase != "graphs" {
        assert!(known <= added + open, "{phase}: {known} ns, truth {added}");
        assert_total(&recording, traced.fills, phase);
    }
}

#[test]
fn events_keep_the_budget_around_tasks_of_2_us() {
    holds_its_budget("2000", 200);
}

#[test]
fn events_keep_the_budget_around_tasks_of_10_us() {
    holds_its_budget("10000", 60);
}

#[test]
fn events_keep_the_budget_around_tasks_of_200_us() {
    holds_its_budget("200000", 5);
}

#[test]
fn events_keep_the_budget_around_tasks_of_several_lengths() {
    holds_its_budget("mixed", 60);
}

/// Nothing shows there by how much a pair is longer than its records.
#[test]
fn events_keep_the_budget_around_replays() {
    holds_its_budget("graphs", 400);
}

#[test]
fn a_budget_is_in_the_recording_with_what_it_left_out() {
    // 2 % by default.
    let recording = recorded("2000", 20, &[]);
    let info = json("info", &recording);
    assert_eq!(info["session"]["budget"], 200);
    assert!(
        info["tasks"]["untimed"]["not-sampled"].as_u64() > Some(0),
        "{info}"
    );
    let stats = json("stats", &recording);
    assert_eq!(stats["tracing"]["budget_percent"], 2.0);
    for command in ["info", "stats"] {
        let text = text(command, &recording);
        assert!(
            text.contains("% on devices") && text.contains("2 %"),
            "{text}"
        );
    }
}

#[test]
fn a_budget_is_for_auto_alone() {
    let recording = recorded("2000", 4, &["--timing", "events", "--budget", "1"]);
    let info = json("info", &recording);
    assert_eq!(info["session"].get("budget"), None);
    let left_out = info["tasks"]["untimed"].get("not-sampled");
    assert_eq!(left_out.and_then(Value::as_u64).unwrap_or(0), 0, "{info}");
}

#[test]
fn auto_without_a_budget_has_no_limit() {
    let info = json("info", &recorded("10000", 4, &["--budget", "off"]));
    assert_eq!(info["session"].get("budget"), None);
    let in_runs = info["tasks"]["untimed"]["in-run"].as_u64().unwrap_or(0);
    let (timed, all) = (count(&info, "timed"), count(&info, "count"));
    assert!((timed + in_runs) * 10 >= all * 8, "{info}");
}

fn count(info: &Value, name: &str) -> u64 {
    info["tasks"][name].as_u64().unwrap()
}

/// Tasks that the budget leaves without events have places: their true times lie within the errors of these.
#[test]
fn tasks_without_events_ran_where_they_are_placed() {
    let recording = Run::new(&program("budget"))
        .words(&["1", "20", "10000", "mixed", "idle"])
        .soft(DEVICE)
        .budgeted()
        .traced();
    assert_eq!(recording.outcome.status, 0, "{}", recording.outcome);
    let opened = ascend_trace_recording::Recording::open(recording.trace(), |_, _| true);
    let trace = opened.unwrap().whole().unwrap();
    let estimates = Estimates::of(&trace);
    let placed = place_untimed(&trace, &Dependencies::of(&trace), &estimates);
    let truth = truth::read(&recording.truth());
    let mut fills: Vec<_> = truth.iter().filter(|it| it.kind == "memset").collect();
    fills.sort_by_key(|it| it.begin);
    let tasks = (0..trace.tasks().len() as u32).map(TaskId);
    let tasks: Vec<_> = tasks
        .filter(|id| trace.task(*id).kind == TaskKind::Memset)
        .collect();
    assert_eq!(tasks.len(), fills.len(), "one stream, in order");
    let truth: BTreeMap<_, _> = tasks.iter().copied().zip(fills).collect();
    let off = |id: TaskId, placement: Placement| {
        let (range, truth) = (placement.range, truth.get(&id)?);
        let off = (range.begin - truth.begin)
            .max(truth.end - range.end)
            .max(0);
        Some((off, placement.error))
    };
    let offs: Vec<_> = placed.iter().filter_map(|(id, it)| off(*id, *it)).collect();
    let outside = offs.iter().filter(|(off, error)| off > error).count();
    let mut distances: Vec<i64> = offs.iter().map(|(off, _)| *off).collect();
    distances.sort_unstable();
    println!(
        "{} of {} placed, {outside} outside, median {:?} ns off",
        offs.len(),
        tasks.len(),
        distances.get(distances.len() / 2)
    );
    assert!(offs.len() * 2 > tasks.len(), "{} placed", offs.len());
    assert!(outside * 100 <= offs.len(), "{outside} of {}", offs.len());
}

/// Timelines have a track for them, with the error of each place. Tools that add up measured times do not find them.
#[test]
fn timelines_have_tracks_of_tasks_without_events() {
    let recording = Run::new(&program("budget"))
        .words(&["1", "20", "10000", "mixed", "idle"])
        .soft(DEVICE)
        .budgeted()
        .traced();
    let export = |format: &str| {
        let mut command = tool();
        command.args(["export", "--format", format, "-o", "-"]);
        run(command.arg(recording.trace())).expect(0)
    };
    let chrome = export("chrome");
    let document: Value = serde_json::from_str(&chrome.out()).unwrap();
    let events = document["traceEvents"].as_array().unwrap();
    let slices: Vec<_> = events.iter().filter(|it| it["cat"] == "probable").collect();
    let info = json("info", &recording);
    let left_out = info["tasks"]["untimed"]["not-sampled"].as_u64().unwrap();
    assert!(
        slices.len() as u64 * 2 > left_out,
        "{} of {left_out}",
        slices.len()
    );
    let mut ended = 0.0;
    for slice in &slices {
        assert_eq!(slice["name"], "aclrtMemsetAsync", "{slice}");
        assert!(
            slice["args"]["probable_err_ns"].as_i64() >= Some(0),
            "{slice}"
        );
        assert!(slice["args"]["err_ns"].is_null(), "{slice}");
        let (begin, length) = (
            slice["ts"].as_f64().unwrap(),
            slice["dur"].as_f64().unwrap(),
        );
        assert!(begin >= ended, "{slice}");
        // In microseconds, with three decimals.
        ended = begin + length - 0.001;
    }
    let tracks = events.iter().filter(|it| it["name"] == "thread_name");
    let mut tracks = tracks.filter_map(|it| it["args"]["name"].as_str());
    assert!(tracks.any(|name| name == "stream 2 probable times"));
    let perfetto = export("perfetto");
    assert!(perfetto.stdout.windows(8).any(|it| it == b"probable"));
    check_folders_of_readers(&recording, slices.len() as u64);
}

/// The readers of these formats add up the tasks of a device: those without a measured time are not among them.
#[track_caller]
fn check_folders_of_readers(recording: &Recording, placed: u64) {
    let info = json("info", recording);
    let timed = info["tasks"]["timed"].as_u64().unwrap();
    for format in ["kineto", "ascend"] {
        let folder = recording.beside(format);
        let mut command = tool();
        command.args(["export", "--format", format, "-o"]);
        let outcome = run(command.arg(&folder).arg(recording.trace())).expect(0);
        let note = "tasks had no events: their slices are where they probably ran";
        assert!(outcome.err().contains(note), "{outcome}");
        let (file, list) = match format {
            "kineto" => (folder.join("rank-0.pt.trace.json"), "/traceEvents"),
            _ => {
                let mut ranks = std::fs::read_dir(&folder).unwrap();
                let rank = ranks.next().unwrap().unwrap().path();
                (rank.join("ASCEND_PROFILER_OUTPUT/trace_view.json"), "")
            }
        };
        let document: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let events = document.pointer(list).unwrap().as_array().unwrap();
        let tracks = events.iter().filter(|it| it["name"] == "process_name");
        let hardware: Vec<&Value> = tracks
            .filter(|it| it["args"]["name"] == "Ascend Hardware")
            .map(|it| &it["pid"])
            .collect();
        let is_work = |it: &&Value| match format {
            "kineto" => !it["args"]["stream"].is_null(),
            _ => hardware.contains(&&it["pid"]),
        };
        let slices = events.iter().filter(|it| it["ph"] == "X");
        let (probable, others): (Vec<_>, Vec<_>) = slices.partition(|it| it["cat"] == "probable");
        assert_eq!(probable.len() as u64, placed, "{format}");
        assert!(!probable.iter().any(is_work), "{format}");
        let work = others.iter().filter(|it| is_work(it)).count() as u64;
        assert!(work > 0 && work <= timed, "{format}: {work} {timed}");
    }
}
