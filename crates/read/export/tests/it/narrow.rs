//! A narrow range of a long recording is found by the index: the result is that of reading the whole
//! file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use ascend_trace_analysis::range_window::{Streams, part_of};
use ascend_trace_analysis::{Stats, Window};
use ascend_trace_export::{
    Chrome, Csv, ExportSource, Exporter, SingleFile, WantedPart, WindowSize, stream,
};
use ascend_trace_format::api::Role;
use ascend_trace_recording::file::Writer;
use ascend_trace_recording::rows::{EndRow, Row, SessionRow, TablesRow};
use ascend_trace_recording::{Recording, TimeRange, Trace};
use ascend_trace_testkit::Timeline;
use ascend_trace_testkit::workload::{self, Workload};

use super::csv::{CsvRow, rows};
use super::memory::{MemorySink, export_some, export_source};
use super::random::{RandomNumbers, random_text};
use super::training::training;
use ascend_trace_testkit::recording::indexed;

use super::stream::file;

/// By table: its rows, without the numbers of tasks, which are those of the part.
type RowsByTable = BTreeMap<&'static str, BTreeSet<String>>;

const TABLES: [&str; 10] = [
    "calls.csv",
    "tasks.csv",
    "dependencies.csv",
    "stalls.csv",
    "graphs.csv",
    "findings.csv",
    "ranges.csv",
    "steps.csv",
    "critical.csv",
    "activities.csv",
];

fn tables(files: &MemorySink) -> RowsByTable {
    let table = |name: &'static str| {
        let shown = rows(files, name).into_iter().map(|row| shown(&row));
        (name, shown.collect())
    };
    TABLES.map(table).into()
}

fn shown(row: &CsvRow) -> String {
    let is_task = |column: &str| row.get(column).is_some_and(|it| it == "task");
    let mut cells: Vec<String> = row
        .iter()
        .filter(|(column, _)| match column.as_str() {
            // Replays are counted as far as they are read.
            "task" | "replays" => false,
            "from_number" => !is_task("from_type"),
            "to_number" => !is_task("to_type"),
            _ => true,
        })
        .map(|(column, cell)| format!("{column}={cell}"))
        .collect();
    cells.sort();
    cells.join(" ")
}

/// Collectives are compared with their peers within the part that is read.
fn is_of_peers(row: &str) -> bool {
    row.contains("cause=collective-peer")
}

/// Rows without the errors of steps: the tasks before a range make these errors narrower, and a part does not have them.
fn without_errors(rows: &BTreeSet<String>) -> BTreeSet<String> {
    let error = |field: &&str| !field.starts_with("error_ns=");
    let rows = rows.iter().map(|row| row.split(' ').filter(error));
    rows.map(|fields| fields.collect::<Vec<_>>().join(" "))
        .collect()
}

/// Compares a range with the whole file. Returns whether it was found by the index.
#[track_caller]
fn check(file: &[u8], range: TimeRange, what: &str) -> bool {
    let mut recording = Recording::from_bytes(file.to_vec()).expect("a file");
    let most = recording.rows();
    let mut part = |streams| part_of(&mut recording, range, streams, most).expect("it can be read");
    let (Some(all), Some(part)) = (part(Streams::All), part(Streams::Active)) else {
        return false;
    };
    let wanted = WantedPart {
        range: Some(range),
        ..WantedPart::default()
    };
    let found = tables(&export_source(&Csv, &ExportSource::of(&part, &wanted)));
    let expected = tables(&export_some(&Csv, file, WindowSize::WHOLE, &wanted));
    for name in TABLES {
        let unlike = |one: &RowsByTable, other: &RowsByTable| {
            let [one, other] = [one, other].map(|it| without_errors(&it[name]));
            let rows = one.difference(&other);
            let rows = rows.filter(|row| !is_of_peers(row));
            rows.take(3).cloned().collect::<Vec<_>>()
        };
        let (missing, extra) = (unlike(&expected, &found), unlike(&found, &expected));
        assert_eq!(missing, extra, "{what} {range:?}: {name}");
    }
    // With the clocks of the index, as the part has.
    let whole = recording
        .window((i64::MIN, i64::MAX), u64::MAX)
        .expect("all");
    if !expected["stalls.csv"]
        .iter()
        .chain(&found["stalls.csv"])
        .any(|it| is_of_peers(it))
    {
        check_stats(&whole, &all, range, what);
    }
    true
}

/// Also the tables of `stats` for the range are the same.
#[track_caller]
fn check_stats(whole: &Trace, part: &Trace, range: TimeRange, what: &str) {
    let stats = |trace: &Trace| Stats::within(&Window::whole(trace), Some(range));
    let (found, expected) = (stats(part), stats(whole));
    assert_eq!(found.operations, expected.operations, "{what} {range:?}");
    assert_eq!(found.apis, expected.apis, "{what} {range:?}");
    assert_eq!(found.threads, expected.threads, "{what} {range:?}");
    assert_eq!(
        found.worst_stalls, expected.worst_stalls,
        "{what} {range:?}"
    );
    assert_eq!(
        found.stall_causes, expected.stall_causes,
        "{what} {range:?}"
    );
    assert_eq!(found.streams, expected.streams, "{what} {range:?}");
    assert_eq!(found.devices, expected.devices, "{what} {range:?}");
    assert_eq!(found.steps, expected.steps, "{what} {range:?}");
}

/// The rows that name the workload's functions, with their meaning for events.
fn leading() -> (SessionRow, TablesRow) {
    let (session, mut tables) = workload::leading();
    for function in &mut tables.functions {
        let role = match function.name.as_str() {
            "aclrtRecordEvent" => Role::RecordEvent,
            "aclrtStreamWaitEvent" => Role::WaitEvent,
            "aclrtSynchronizeStream" => Role::SyncStream,
            _ => continue,
        };
        role.name().clone_into(&mut function.role);
    }
    (session, tables)
}

fn workload_file(everything: bool) -> Vec<u8> {
    let (session, tables) = leading();
    let workload = Workload {
        steps: 300,
        rest_ns: 3_000,
        everything,
        ..Workload::default()
    };
    let mut rows = Vec::new();
    workload::run(workload, |row| rows.push(row));
    file(&session, &tables, rows)
}

/// At the begin, in the middle, at the end and outside; how many were found by the index.
#[track_caller]
fn check_all(file: &[u8], length: i64, what: &str) -> usize {
    let recording = Recording::from_bytes(file.to_vec()).expect("a file");
    let TimeRange { begin, end } = recording.span().expect("something");
    let places = (0..=8).map(|eighth| begin + (end - begin) / 8 * eighth);
    let inside = places.map(|from| TimeRange::new(from, (from + length).min(end)));
    let outside = [
        TimeRange::new(begin - 3 * length, begin - length),
        TimeRange::new(end + length, end + 2 * length),
    ];
    let ranges: Vec<_> = inside.chain(outside).collect();
    let found = ranges.iter().filter(|range| check(file, **range, what));
    found.count()
}

#[test]
fn narrow_ranges_of_calls_and_tasks_are_the_same_by_the_index() {
    let file = workload_file(false);
    assert_eq!(check_all(&file, 100_000, "workload"), 11);
    assert_eq!(check_all(&file, 1, "workload"), 11);
}

#[test]
fn narrow_ranges_with_graphs_are_the_same_by_the_index() {
    let file = workload_file(true);
    assert_eq!(check_all(&file, 100_000, "everything"), 11);
}

#[test]
fn narrow_ranges_of_several_processes_are_the_same_by_the_index() {
    let mut text = String::new();
    for number in 0..1500 {
        let begin = 1000 + number * 1000;
        for process in 1..=3 {
            let at = begin + 7 * process;
            let call = |late: i64| format!("by t1[{}..{}]", at - 90 + late, at - 80 + late);
            let work = format!("K{process}[{at}..{}] {}", at + 300, call(0));
            let record = format!("rec(E{number})[{}] {}", at + 300, call(20));
            let wait = format!("wait(E{number})[{}..{}] {}", at + 40, at + 300, call(40));
            text += &format!("p{process}.s1: {work} {record}\n");
            text += &format!(
                "p{process}.s2: {wait} L[{}..{}] {}\n",
                at + 310,
                at + 700,
                call(60)
            );
        }
    }
    let timeline = Timeline::of(&text);
    let file = indexed(400, &timeline.session, &timeline.tables, timeline.rows);
    assert_eq!(check_all(&file, 2_000, "processes"), 11);
}

/// A step is read as a whole, also where the range is only a point of it.
#[test]
fn steps_that_reach_into_narrow_ranges_are_the_same_by_the_index() {
    let timeline = training(3000);
    let file = indexed(400, &timeline.session, &timeline.tables, timeline.rows);
    assert_eq!(check_all(&file, 2_500, "steps"), 11);
    assert_eq!(check_all(&file, 1, "steps"), 11);
}

#[test]
fn narrow_ranges_of_random_traces_are_the_same_by_the_index() {
    let mut dice = RandomNumbers(11);
    let mut found = 0;
    for _ in 0..6 {
        let text = random_text(&mut dice, 3000);
        let timeline = Timeline::of(&text);
        let file = file(&timeline.session, &timeline.tables, timeline.rows);
        found += check_all(&file, 5_000, "random");
    }
    assert!(found >= 40, "{found}");
}

/// How long a narrow range takes by the index, and by reading the whole file; run by hand, with `--release`.
#[test]
#[ignore = "measures, judges nothing; ROWS says how long the file is"]
fn a_narrow_range_of_a_long_file() {
    let rows: u32 = std::env::var("ROWS").map_or(2_000_000, |it| it.parse().expect("a number"));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("long.atrace");
    write_long(&path, rows / 70);
    let mut recording = Recording::open(&path, |_, _| true).expect("a file");
    let rows = recording.rows();
    let TimeRange { begin, end } = recording.span().expect("something");
    let middle = begin + (end - begin) / 2;
    let wanted = WantedPart {
        range: Some(TimeRange::new(middle, middle + 2_000_000)),
        ..WantedPart::default()
    };
    drop(recording);
    let start = Instant::now();
    recording = Recording::open(&path, |_, _| true).expect("a file");
    let range = wanted.range.expect("a range");
    let part = part_of(&mut recording, range, Streams::Active, 400_000).expect("it can be read");
    let part = part.expect("it is narrow");
    export_source(&Chrome, &ExportSource::of(&part, &wanted));
    let narrow = start.elapsed();
    let start = Instant::now();
    let what: (&dyn Exporter, _) = (&Chrome, &wanted);
    let mut sink = std::io::sink();
    let nothing = &mut |_, _| {};
    stream(
        &mut recording,
        what,
        WindowSize::default(),
        &mut SingleFile::new(&mut sink),
        nothing,
    )
    .expect("a sink");
    let whole = start.elapsed();
    println!(
        "{rows} rows, {} calls read: {narrow:.2?} by the index, {whole:.2?} by the whole file, 1 to {:.0}",
        part.calls().len(),
        whole.as_secs_f64() / narrow.as_secs_f64()
    );
}

fn write_long(path: &Path, steps: u32) {
    let (session, tables) = leading();
    let out = BufWriter::new(File::create(path).expect("a file"));
    let mut writer = Writer::create(out, &session, &tables).expect("room");
    let workload = Workload {
        steps,
        everything: true,
        ..Workload::default()
    };
    let mut end = EndRow::default();
    workload::run(workload, |row| match row {
        Row::End(row) => end = row,
        row => writer.push(row).expect("room"),
    });
    let mut out = writer.finish(end).expect("room");
    out.flush().expect("room");
}
