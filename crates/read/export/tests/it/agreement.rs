//! Both formats of timelines hold the same: slices with their tracks and arguments, marks, flows by their ends,
//! counters, names. The flows are those of the table of dependencies, kind by kind and end by end.

use std::collections::{BTreeMap, HashMap};

use ascend_trace_export::Csv;
use ascend_trace_recording::Trace;
use ascend_trace_recording::rows::Row;
use ascend_trace_testkit::whole::from_rows;
use ascend_trace_testkit::workload::{self, Workload};
use ascend_trace_testkit::{Timeline, timeline};

use super::checker::{ImportedSlice, ImportedTrace};
use super::chrome::{chrome, is_mark, waiter};
use super::csv::rows;
use super::memory::export;
use super::perfetto::perfetto;
use super::random::{RandomNumbers, random_text};
use super::{allocations, graphs, ranges, tools};

/// A task by the number of the call that submitted it, or a call by its number.
pub(crate) type FlowEnd = (bool, u64);

/// The subject of a slice, or the slice that contains it.
fn end(imported: &ImportedTrace, index: usize) -> FlowEnd {
    let slice = match &imported.slices[index] {
        mark if is_mark(mark) => waiter(imported, index),
        slice => slice,
    };
    let is_task = !slice.args["err_ns"].is_null();
    (is_task, slice.args["call"].as_u64().expect("a call"))
}

/// How often there is an arrow between two ends.
pub(crate) type FlowCounts = BTreeMap<(FlowEnd, FlowEnd), usize>;

fn flows(imported: &ImportedTrace, kind: Option<&str>) -> FlowCounts {
    let mut flows = FlowCounts::new();
    let found = imported.flows.iter();
    for (_, from, to) in found.filter(|it| kind.is_none_or(|kind| it.0 == kind)) {
        let ends = (end(imported, *from), end(imported, *to));
        *flows.entry(ends).or_default() += 1;
    }
    flows
}

/// The rows of dependencies.csv, by kind. A task without times is represented by the call that
/// submitted it; a launch of such a task leads nowhere.
pub(crate) fn dependencies(trace: &Trace) -> BTreeMap<String, FlowCounts> {
    let files = export(&Csv, trace);
    let number = |row: &HashMap<String, String>, column: &str| -> u64 {
        row[column].parse().expect("a number")
    };
    let tasks = rows(&files, "tasks.csv");
    let tasks: HashMap<u64, FlowEnd> = tasks
        .iter()
        .map(|row| {
            let is_timed = !row["begin_ns"].is_empty();
            (number(row, "task"), (is_timed, number(row, "call")))
        })
        .collect();
    let mut kinds: BTreeMap<String, FlowCounts> = BTreeMap::new();
    for row in rows(&files, "dependencies.csv") {
        let end = |prefix: &str| {
            let at = number(&row, &format!("{prefix}_number"));
            match row[&format!("{prefix}_type")].as_str() {
                "task" => tasks[&at],
                _ => (false, at),
            }
        };
        let (from, to) = (end("from"), end("to"));
        let kind = row["kind"].clone();
        let leads_nowhere = kind == "launch" && from == to;
        if kind != "stream-order" && !leads_nowhere {
            let flows = kinds.entry(kind).or_default();
            *flows.entry((from, to)).or_default() += 1;
        }
    }
    kinds
}

/// All that a slice says.
fn description(slice: &ImportedSlice) -> String {
    // An absent text is null in JSON, and a word in a format without null.
    let args = slice.args.to_string().replace("null", "\"NULL\"");
    format!(
        "{} | {} | {} | {} | {}..{} | {args}",
        slice.process, slice.track, slice.category, slice.name, slice.begin, slice.end
    )
}

fn slices(imported: &ImportedTrace) -> Vec<String> {
    let slices = imported.slices.iter().filter(|it| !is_mark(it));
    let mut slices: Vec<_> = slices.map(description).collect();
    slices.sort();
    slices
}

/// Subjects of the marks.
fn marks(imported: &ImportedTrace) -> Vec<FlowEnd> {
    let places = 0..imported.slices.len();
    let marks = places.filter(|place| is_mark(&imported.slices[*place]));
    let mut marks: Vec<_> = marks.map(|place| end(imported, place)).collect();
    marks.sort();
    marks.dedup();
    marks
}

/// Returns the kinds of arrows that there were.
#[track_caller]
fn check(trace: &Trace, text: &str) -> Vec<String> {
    let (json, protobuf) = (chrome(trace), perfetto(trace));
    assert_eq!(slices(&json), slices(&protobuf), "{text}");
    assert_eq!(json.counters, protobuf.counters, "{text}");
    assert_eq!(
        json.other["omitted_flows"], protobuf.other["omitted_flows"],
        "{text}"
    );
    let recording = |it: &ImportedTrace| it.recording.as_ref().map(description);
    assert_eq!(recording(&json), recording(&protobuf), "{text}");
    assert_eq!(json.recording.is_some(), !trace.processes().is_empty());
    let dependencies = dependencies(trace);
    let mut all = FlowCounts::new();
    for (kind, expected) in &dependencies {
        assert_eq!(&flows(&json, Some(kind)), expected, "{kind}: {text}");
        for (ends, count) in expected {
            *all.entry(*ends).or_default() += count;
        }
    }
    assert_eq!(flows(&json, None), all, "{text}");
    assert_eq!(flows(&protobuf, None), all, "{text}");
    assert_eq!(marks(&json), marks(&protobuf), "{text}");
    dependencies.into_keys().collect()
}

/// Every kind of arrow, and dependencies without one.
pub(crate) const EXAMPLES: [&str; 8] = [
    tools::EXAMPLE,
    graphs::EXAMPLE,
    "s1: A[0..10] aclrtLaunchCallback(1)[10..50] B[50..60]
     t2: aclrtProcessReport(100)[5..51] work(1)[12..40] aclrtProcessReport(100)[52..99]=507012",
    "s1: A[0..10] aclrtLaunchCallback(0)[10..10] B[10..60] | t2: aclrtProcessReport(100)[5..51]",
    "s1: A[0..10] aclrtLaunchCallback(1)[10..50] B[50..60] | t2: aclrtProcessReport(100)[20..51]",
    "s1: A[0..10000] notify(7)[10000..10020]
     s2: aclrtWaitAndResetNotify(7)[1000..10020] B[10020..20000]",
    "s1: A[0..10000] value(64,5)[10000..10020]
     s2: aclrtValueWait(64,5,1)[1000..10020] B[10020..20000]",
    "s1: A[captured] rec(E)[captured] by t1[-9..-8]
     s2: wait(E)[captured] by t1[-5..-4]",
];

#[test]
fn both_formats_hold_the_same_of_every_example() {
    let mut kinds: Vec<String> = Vec::new();
    for text in EXAMPLES {
        kinds.extend(check(&timeline(text), text));
    }
    check(&allocations::trace(), "allocations");
    check(
        &ranges::trace(&[("step", 0, 50), ("", 10, 60), ("", 70, 70)]),
        "ranges",
    );
    check(&Trace::default(), "nothing");
    kinds.sort();
    kinds.dedup();
    let expected = [
        "captured",
        "host-function",
        "host-resume",
        "launch",
        "record-wait",
        "replay",
        "signal-wait",
        "sync",
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn both_formats_hold_the_same_of_random_traces() {
    let mut dice = RandomNumbers(5);
    for _ in 0..100 {
        let items = dice.roll(40);
        let text = random_text(&mut dice, items);
        check(&timeline(&text), &text);
    }
}

/// No two slices of a stream's track may overlap, also where a wait is drawn longer than it was.
/// Returns the number of waits.
#[track_caller]
fn check_apart(trace: &Trace, imported: &ImportedTrace, text: &str) -> usize {
    let begin = trace.span().map_or(0, |span| span.begin);
    let mut tracks: BTreeMap<_, Vec<&ImportedSlice>> = BTreeMap::new();
    let of_tasks = |it: &&ImportedSlice| !it.args["err_ns"].is_null();
    for slice in imported.slices.iter().filter(of_tasks) {
        let track = (&*slice.process, &*slice.track);
        tracks.entry(track).or_default().push(slice);
    }
    for ((_, track), mut slices) in tracks {
        slices.sort_by_key(|it| (it.begin, it.end));
        for (one, next) in slices.iter().zip(&slices[1..]) {
            assert!(one.end <= next.begin, "{track}: {one:?} {next:?}\n{text}");
        }
    }
    let ends: HashMap<u64, i64> = trace
        .tasks()
        .iter()
        .filter_map(|task| {
            Some((
                u64::from(trace.call_number(task.call)),
                task.time?.end - begin,
            ))
        })
        .collect();
    let waits = imported.slices.iter().filter(of_tasks);
    let is_longer = |it: &&ImportedSlice| ends[&it.args["call"].as_u64().expect("a call")] < it.end;
    waits.filter(is_longer).count()
}

/// Records that seem later than the waits that they released, by less than the bars.
#[test]
fn both_formats_hold_the_same_where_clocks_are_a_little_off() {
    let mut dice = RandomNumbers(6);
    let mut longer = 0;
    for _ in 0..100 {
        let items = dice.roll(40);
        let text = random_text(&mut dice, items);
        let mut timeline = Timeline::of(&text);
        for row in &mut timeline.rows {
            if let Row::TaskTime(time) = row {
                time.record_open_ns = 30;
                if time.begin_device_ns == time.end_device_ns {
                    let late = dice.roll(10) as i64;
                    time.begin_device_ns += late;
                    time.end_device_ns += late;
                }
            }
        }
        let trace = timeline.trace();
        check(&trace, &text);
        for imported in [chrome(&trace), perfetto(&trace)] {
            longer += check_apart(&trace, &imported, &text);
        }
    }
    assert!(longer > 20, "{longer} waits are too few to mean anything");
}

#[test]
fn both_formats_hold_the_same_of_a_training_loop() {
    let (session, tables) = workload::leading();
    let mut all = Vec::new();
    let workload = Workload {
        steps: 12,
        ..Workload::default()
    };
    workload::run(workload, |row| all.push(row));
    check(&from_rows(session, tables, all), "a training loop");
}
