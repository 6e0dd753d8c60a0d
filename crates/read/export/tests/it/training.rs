//! Steps of training loops: the table, and what their slices say.

use std::sync::Arc;

use ascend_trace_analysis::critical::Critical;
use ascend_trace_analysis::steps::{Report, StepDefinition as Pattern};
use ascend_trace_analysis::{Stats, Window, stats::StepStats};
use ascend_trace_export::{Csv, ExportSource, WantedPart, WindowSize};
use ascend_trace_recording::{Range, TimeRange, Trace};
use ascend_trace_testkit::Timeline;

use super::chrome::chrome;
use super::csv::{CsvRow, rows};
use super::memory::{export, export_some, export_source};
use super::perfetto::perfetto;
use super::ranges;
use super::stream::file;

/// Steps that follow one another, each with a kernel longer than the one before; next to them a range
/// that is no step.
pub(crate) fn training(steps: i64) -> Timeline {
    let mut text = String::new();
    let mut named = vec![("warm up".to_owned(), 0, 90)];
    for number in 0..steps {
        let begin = 100 + number * 1000;
        let (from, to) = (begin + 300, begin + 310 + number % 600);
        let call = format!("by t1[{}..{}]", begin + 100, begin + 120);
        text += &format!("s1: MatMul[{from}..{to}] {call}\n");
        named.push((format!("step {number}"), begin, begin + 1000));
    }
    let mut timeline = Timeline::of(&text);
    let named = named
        .iter()
        .map(|(name, begin, end)| (name.as_str(), *begin, *end));
    ranges::add(&mut timeline, &named.collect::<Vec<_>>());
    timeline
}

fn exported_times(row: &CsvRow) -> (String, String, i64, i64, i64, i64) {
    let number = |name: &str| row[name].parse::<i64>().expect(name);
    (
        row["name"].clone(),
        row["verdict"].clone(),
        number("begin_ns"),
        number("length_ns"),
        number("compute_ns"),
        number("idle_ns"),
    )
}

fn known(step: &StepStats) -> (String, String, i64, i64, i64, i64) {
    (
        step.name.clone(),
        step.verdict.map_or("", |it| it.name()).to_owned(),
        step.begin_ns,
        step.length_ns,
        step.compute_ns,
        step.idle_ns,
    )
}

fn expected(trace: &Trace) -> Vec<StepStats> {
    let steps = Stats::of(trace).steps;
    assert!(steps.len() > 3);
    steps
}

#[test]
fn the_table_of_steps_has_what_bounds_them() {
    let trace = training(8).trace();
    let expected = expected(&trace);
    let found = rows(&export(&Csv, &trace), "steps.csv");
    let both = found.iter().map(exported_times);
    assert_eq!(
        both.collect::<Vec<_>>(),
        expected.iter().map(known).collect::<Vec<_>>()
    );
    assert_eq!(expected[7].compute_ns, 17);
    for row in &found {
        let number = |name: &&str| row[*name].parse::<i64>().expect("a number");
        let sum = |names: &[&str]| names.iter().map(number).sum::<i64>();
        let used = [
            "compute_ns",
            "exposed_communication_ns",
            "exposed_copy_ns",
            "idle_ns",
        ];
        assert_eq!(sum(&used), sum(&["length_ns"]));
        let idle = [
            "loading_ns",
            "python_ns",
            "planning_ns",
            "queue_ns",
            "launch_ns",
        ];
        assert_eq!(sum(&idle), sum(&["idle_ns"]));
        assert_eq!((&*row["tasks"], &*row["untimed"]), ("1", "0"));
    }
}

/// Steps and pieces that were found are written as they are, those of the range.
#[test]
fn tables_have_the_steps_and_the_path_that_are_handed_to_them() {
    let trace = training(8).trace();
    let window = Window::whole(&trace);
    let range = trace.span().expect("it is not empty");
    let path = Critical::of(&window, range);
    let is_odd = |range: &Range| range.name.ends_with(['1', '3', '5', '7']);
    let report = Report::of(&window, Pattern::Those(&is_odd));
    let steps = report.steps;
    assert_eq!(steps.len(), 4);
    assert!(path.segments.len() > 8, "{path:?}");
    let wanted = WantedPart {
        critical: Arc::new(path.segments.clone()),
        steps: Some(steps.clone().into()),
        ..WantedPart::default()
    };
    let files = export_source(&Csv, &ExportSource::of(&trace, &wanted));
    let found = rows(&files, "steps.csv");
    let both = found.iter().map(exported_times);
    assert!(both.eq(steps.iter().map(known)));
    let pieces = rows(&files, "critical.csv");
    assert_eq!(pieces.len(), path.segments.len());
    for (row, piece) in pieces.iter().zip(path.segments.iter()) {
        let maybe = |it: Option<u32>| it.map_or_else(String::new, |it| it.to_string());
        assert_eq!(row["kind"], piece.kind.name());
        assert_eq!(row["name"], *piece.name);
        assert_eq!(row["length_ns"], piece.length().to_string());
        assert_eq!(row["tid"], maybe(piece.tid));
        assert_eq!(row["device"], maybe(piece.device));
        assert_eq!(row["tie"], u8::from(piece.tie).to_string());
        let begin = piece.begin_ns;
        let inside = |it: &&StepStats| (it.begin_ns..it.begin_ns + it.length_ns).contains(&begin);
        let step = steps.iter().find(inside);
        assert_eq!(row["step"], step.map_or("", |it| it.name.as_str()));
    }
    // Of a range, those that reach into it.
    let second = &steps[1];
    let (begin, end) = (second.begin_ns + 1, second.begin_ns + second.length_ns - 1);
    let part = WantedPart {
        range: Some(TimeRange::new(begin, end)),
        ..wanted
    };
    let files = export_source(&Csv, &ExportSource::of(&trace, &part));
    let names = rows(&files, "steps.csv");
    let names: Vec<&str> = names.iter().map(|row| row["name"].as_str()).collect();
    assert_eq!(names, [second.name.as_str()]);
}

#[test]
fn slices_of_steps_say_what_bounds_them() {
    let trace = training(8).trace();
    // The first range begins before the first call: no time is less than none.
    for imported in [chrome(&trace), perfetto(&trace)] {
        let of = |name: &str| {
            let mut slices = imported.slices.iter();
            &slices.find(|it| it.name == name).expect("a slice").args
        };
        assert!(of("warm up").get("verdict").is_none());
        for step in expected(&trace) {
            let args = of(&step.name);
            assert_eq!(args["verdict"], "host-bound", "{args}");
            assert_eq!(args["compute_ns"].as_i64(), Some(step.compute_ns), "{args}");
            assert_eq!(args["python_ns"].as_i64(), Some(step.python_ns), "{args}");
        }
    }
}

#[test]
fn cuts_of_a_file_do_not_change_steps() {
    let timeline = training(600);
    let expected: Vec<_> = expected(&training(600).trace()).iter().map(known).collect();
    let file = file(&timeline.session, &timeline.tables, timeline.rows);
    let export = |step: WindowSize, wanted: &WantedPart| {
        let found = rows(&export_some(&Csv, &file, step, wanted), "steps.csv");
        found.iter().map(exported_times).collect::<Vec<_>>()
    };
    let tiny = WindowSize {
        rows: 50,
        margin: 20,
    };
    assert_eq!(export(tiny, &WantedPart::default()), expected);
    assert_eq!(export(WindowSize::WHOLE, &WantedPart::default()), expected);
    // Whole steps that overlap the range, and their sums over all work, independent of the selection.
    let range = Some(TimeRange::new(expected[3].2 + 10, expected[5].2 + 10));
    let some = WantedPart {
        range,
        ..WantedPart::default()
    };
    assert_eq!(export(tiny, &some), expected[3..6]);
    for (condition, shown) in [("name=Mat*", &expected[..]), ("kind=memcpy", &[])] {
        let mut wanted = WantedPart::default();
        wanted.only.add(condition).expect("a condition");
        assert_eq!(export(tiny, &wanted), shown, "{condition}");
    }
}
