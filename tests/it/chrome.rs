//! The Chrome JSON of every example holds what its tables hold.

use std::collections::BTreeMap;

use crate::examples;
use crate::support::chrome::{self, Document, Slice};
use crate::support::{CsvRow, Recording, Run, Tables, run, tool};

/// The document that `export` makes.
#[track_caller]
fn export(recording: &Recording) -> Document {
    let output = recording.beside("t.json");
    let mut command = tool();
    command.arg("export").arg(recording.trace());
    command.args(["--format", "chrome", "-o"]).arg(&output);
    run(&mut command).expect(0);
    chrome::read(&std::fs::read_to_string(output).unwrap())
}

#[track_caller]
fn number(slice: &Slice, name: &str) -> i64 {
    slice.args[name]
        .as_i64()
        .unwrap_or_else(|| panic!("{name} of {slice:?}"))
}

/// Whether a slice shows why a stream was idle.
fn is_stall(slice: &Slice) -> bool {
    slice.category == "stall"
}

/// Whether a slice is a task: those of devices are, except for stalls.
fn is_task(slice: &Slice) -> bool {
    slice.process.contains(" device ") && !slice.is_mark() && !is_stall(slice)
}

/// The end of a task as text. That of a wait is looked at by itself: see [`check_ends_of_waits`].
fn end_of(kind: &str, end: i64) -> String {
    match kind {
        "wait" => "its end".to_owned(),
        _ => end.to_string(),
    }
}

/// A wait that seems over before what released it lasts until then, within the error bars.
#[track_caller]
fn check_ends_of_waits(document: &Document, tables: &Tables, zero: i64) {
    let bars = tables
        .tasks
        .iter()
        .filter(|task| task.text("untimed").is_empty());
    let widest = bars.map(|task| task.number("err_ns")).max().unwrap_or(0);
    let drawn = document.slices.iter();
    for slice in drawn.filter(|slice| is_task(slice) && slice.category == "wait") {
        let mut rows = tables.tasks.iter();
        let row = rows.find(|row| row.number("call") == number(slice, "call"));
        let late = slice.end + zero - row.expect("a row").number("end_ns");
        assert!((0..=2 * widest).contains(&late), "{late}: {slice:?}");
    }
}

/// What identifies a task and says when it ran. The document's times count from `zero`.
fn task_of_slice(slice: &Slice, zero: i64) -> String {
    let (_, device) = slice.process.rsplit_once(" device ").unwrap();
    let (device, rest) = device.split_once(" (").unwrap();
    let (_, pid) = rest.split_once("pid ").unwrap();
    format!(
        "pid {} device {device} stream {} seq {} {} {} {}..{} bar {} call {}",
        pid.trim_end_matches(')'),
        number(slice, "stream"),
        number(slice, "seq"),
        slice.category,
        slice.name,
        slice.begin + zero,
        end_of(&slice.category, slice.end + zero),
        number(slice, "err_ns"),
        number(slice, "call"),
    )
}

fn task_of_row(row: &CsvRow) -> String {
    let text = |name| row.text(name);
    format!(
        "pid {} device {} stream {} seq {} {} {} {}..{} bar {} call {}",
        text("pid"),
        text("device"),
        text("stream_id"),
        text("seq"),
        text("kind"),
        text("name"),
        text("begin_ns"),
        end_of(text("kind"), row.number("end_ns")),
        text("err_ns"),
        text("call"),
    )
}

#[track_caller]
fn check_tasks(document: &Document, tables: &Tables) {
    let zero = document.other["begin_ns"]
        .as_i64()
        .expect("the meaning of 0");
    let slices = document.slices.iter().filter(|slice| is_task(slice));
    let mut drawn: Vec<_> = slices.map(|slice| task_of_slice(slice, zero)).collect();
    let timed = tables
        .tasks
        .iter()
        .filter(|task| task.text("untimed").is_empty());
    let mut expected: Vec<_> = timed.map(task_of_row).collect();
    drawn.sort();
    expected.sort();
    assert_eq!(drawn, expected);
    check_ends_of_waits(document, tables, zero);
}

#[track_caller]
fn check_calls(document: &Document, tables: &Tables) {
    let zero = document.other["begin_ns"].as_i64().unwrap();
    let own = document.slices.iter();
    let own = own.filter(|slice| !slice.is_mark() && !is_stall(slice));
    let own = own.filter(|slice| slice.category != "recording");
    let calls = own.filter(|slice| !is_task(slice));
    let mut drawn: Vec<_> = calls
        .map(|slice| {
            let (begin, end) = (slice.begin + zero, slice.end + zero);
            (number(slice, "call"), slice.name.clone(), begin, end)
        })
        .collect();
    drawn.sort();
    let rows = tables.calls.iter().map(|call| {
        let name = call.text("name").to_owned();
        (
            call.number("call"),
            name,
            call.number("begin_ns"),
            call.number("end_ns"),
        )
    });
    assert_eq!(drawn, rows.collect::<Vec<_>>());
}

/// Which dependency joins which calls, and how often. The call that submitted a task represents it:
/// where the task has no time, that call is drawn in its place.
type Links = BTreeMap<(String, i64, i64), usize>;

fn count(links: impl Iterator<Item = (String, i64, i64)>) -> Links {
    let mut counts = Links::new();
    links.for_each(|link| *counts.entry(link).or_default() += 1);
    counts
}

fn drawn_links(document: &Document) -> Links {
    count(document.flows.iter().map(|flow| {
        let call = |place: usize| number(&document.slices[place], "call");
        (flow.name.clone(), call(flow.from), call(flow.to))
    }))
}

/// A launch of a task without times: there is no slice that an arrow could lead to.
fn leads_nowhere(tables: &Tables, link: &CsvRow) -> bool {
    let task = |number| &tables.tasks[number as usize];
    link.text("kind") == "launch" && !task(link.number("to_number")).text("untimed").is_empty()
}

/// The order of a stream is seen without arrows.
fn listed_links(tables: &Tables) -> Links {
    let all = tables.dependencies.iter();
    let links = all.filter(|link| link.text("kind") != "stream-order");
    let drawable = links.filter(|link| !leads_nowhere(tables, link));
    count(drawable.map(|link| {
        let call = |end: &str| {
            let number = link.number(&format!("{end}_number"));
            match link.text(&format!("{end}_type")) {
                "task" => tables.tasks[number as usize].number("call"),
                _ => number,
            }
        };
        (link.text("kind").to_owned(), call("from"), call("to"))
    }))
}

/// Arrows from records to waits that are drawn between the two tasks. Where the program lost its
/// processor between two clock readings, so that the times contradict the dependency, calls represent
/// them.
fn arrows_between_tasks(document: &Document) -> usize {
    let arrows = document
        .flows
        .iter()
        .filter(|flow| flow.name == "record-wait");
    let between_tasks = arrows.filter(|flow| {
        let mut ends = [flow.from, flow.to].into_iter();
        ends.all(|place| is_task(&document.slices[place]))
    });
    between_tasks.count()
}

#[test]
fn it_holds_the_tasks_calls_and_dependencies_of_the_tables() {
    let mut arrows = 0;
    for program in examples::all() {
        let recording = Run::new(&program).traced();
        let (document, tables) = (export(&recording), Tables::of(&recording));
        check_tasks(&document, &tables);
        check_calls(&document, &tables);
        assert_eq!(
            drawn_links(&document),
            listed_links(&tables),
            "{}",
            program.display()
        );
        let links = tables.dependencies.iter();
        let omitted = links.filter(|link| leads_nowhere(&tables, link)).count();
        assert_eq!(document.other["omitted_flows"], omitted);
        arrows += arrows_between_tasks(&document);
    }
    assert!(arrows > 0);
}

#[test]
fn tasks_without_times_are_exported_with_their_calls() {
    for program in examples::all() {
        let recording = Run::new(&program).options(&["--timing", "off"]).traced();
        let (document, tables) = (export(&recording), Tables::of(&recording));
        check_calls(&document, &tables);
        assert!(!document.slices.iter().any(is_task));
        let exported = document
            .slices
            .iter()
            .filter(|slice| slice.args["untimed"] == "timing-off");
        let mut exported: Vec<_> = exported
            .map(|slice| {
                (
                    number(slice, "call"),
                    slice.args["task_kind"].as_str().unwrap().to_owned(),
                )
            })
            .collect();
        exported.sort();
        let rows = tables.tasks.iter();
        let mut expected: Vec<_> = rows
            .map(|task| (task.number("call"), task.text("kind").to_owned()))
            .collect();
        expected.sort();
        assert_eq!(exported, expected);
    }
}
