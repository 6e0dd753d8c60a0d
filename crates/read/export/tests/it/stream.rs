use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_export::{Chrome, Csv, Perfetto, WantedPart, WindowSize};
use ascend_trace_recording::rows::{Row, SessionRow, TablesRow};
use ascend_trace_testkit::Timeline;
use ascend_trace_testkit::recording::indexed;
use ascend_trace_testkit::workload::{self, Workload};

use super::checker::{ImportedTrace, import};
use super::chrome::{SliceKey, flows, is_mark};
use super::memory::{export_file, export_some};
use super::random::{RandomNumbers, random_text};
use super::trace_processor;

/// Rows of an index, and thereby the least that is read at a time.
const GROUP: u64 = 400;
pub(crate) const SMALL: WindowSize = WindowSize {
    rows: 1,
    margin: 200,
};

pub(crate) fn file(
    session: &SessionRow,
    tables: &TablesRow,
    rows: impl IntoIterator<Item = Row>,
) -> Vec<u8> {
    indexed(GROUP, session, tables, rows)
}

pub(crate) fn timeline_file(text: &str) -> Vec<u8> {
    let timeline = Timeline::of(text);
    file(&timeline.session, &timeline.tables, timeline.rows)
}

pub(crate) fn workload_file(steps: u32) -> Vec<u8> {
    let (session, tables) = workload::leading();
    let workload = Workload {
        steps,
        rest_ns: 3_000,
        ..Workload::default()
    };
    let mut rows = Vec::new();
    workload::run(workload, |row| rows.push(row));
    file(&session, &tables, rows)
}

/// The lines of every table, in no order.
pub(crate) type LinesByTable = BTreeMap<String, BTreeSet<String>>;

pub(crate) fn tables(file: &[u8], step: WindowSize, wanted: &WantedPart) -> LinesByTable {
    let files = export_some(&Csv, file, step, wanted);
    let names = files.names().into_iter().map(str::to_owned);
    let lines = |name: &str| files.text(name).lines().map(str::to_owned).collect();
    names.map(|name| (name.clone(), lines(&name))).collect()
}

/// A selection of a file is the same in tiny steps as at once.
#[track_caller]
pub(crate) fn check_tables(file: &[u8], wanted: &WantedPart) {
    let (whole, parts) = (
        tables(file, WindowSize::WHOLE, wanted),
        tables(file, SMALL, wanted),
    );
    for (name, lines) in &whole {
        let missing: Vec<_> = lines.difference(&parts[name]).collect();
        let extra: Vec<_> = parts[name].difference(lines).collect();
        let first = |lines: Vec<&String>| lines.into_iter().take(3).cloned().collect::<Vec<_>>();
        assert_eq!(first(missing), first(extra), "{name}");
    }
}

/// Content of a timeline, in no order, without the numbers that readers do not see.
#[derive(Debug, PartialEq)]
struct TimelineContent {
    slices: Vec<String>,
    flows: BTreeSet<(SliceKey, SliceKey)>,
    counters: Vec<String>,
    other: String,
}

fn shown(imported: &ImportedTrace) -> TimelineContent {
    let slices = imported.slices.iter().filter(|slice| !is_mark(slice));
    let slices = slices.map(|it| {
        let place = format!("{} {}", it.process, it.track);
        let what = format!("{} {} {}..{}", it.category, it.name, it.begin, it.end);
        format!("{place} {what} {}", it.args)
    });
    let mut slices: Vec<_> = slices.collect();
    slices.sort();
    let counters = imported.counters.iter().map(|it| format!("{it:?}"));
    let mut counters: Vec<_> = counters.collect();
    counters.sort();
    TimelineContent {
        slices,
        flows: flows(imported)
            .into_iter()
            .map(|(_, a, b)| (a, b))
            .collect(),
        counters,
        other: imported.other.to_string(),
    }
}

#[track_caller]
pub(crate) fn check_timelines(file: &[u8], wanted: &WantedPart) {
    let chrome = |step| {
        let file = export_some(&Chrome, file, step, wanted);
        shown(&import(file.text("")))
    };
    let perfetto = |step| {
        let file = export_some(&Perfetto, file, step, wanted);
        shown(&trace_processor::import(file.bytes("")))
    };
    check_same(&chrome(WindowSize::WHOLE), &chrome(SMALL));
    check_same(&perfetto(WindowSize::WHOLE), &perfetto(SMALL));
}

/// The same with times that contradict each other: the slice of a mark is not defined.
#[track_caller]
pub(crate) fn check_contradictions(file: &[u8], wanted: &WantedPart) {
    let without_flows = |mut imported: ImportedTrace| {
        let flows = std::mem::take(&mut imported.flows);
        // An arrow from a record to the mark at the same record shows nothing.
        let place = |at: usize| {
            let slice = &imported.slices[at];
            (slice.process.clone(), slice.track.clone(), slice.begin)
        };
        let count = flows.iter().filter(|it| place(it.1) != place(it.2)).count();
        (shown(&imported), count)
    };
    let chrome = |step| {
        let file = export_some(&Chrome, file, step, wanted);
        without_flows(import(file.text("")))
    };
    let perfetto = |step| {
        let file = export_some(&Perfetto, file, step, wanted);
        without_flows(trace_processor::import(file.bytes("")))
    };
    for (whole, parts) in [
        (chrome(WindowSize::WHOLE), chrome(SMALL)),
        (perfetto(WindowSize::WHOLE), perfetto(SMALL)),
    ] {
        check_same(&whole.0, &parts.0);
        assert_eq!(whole.1, parts.1);
    }
}

#[track_caller]
fn check_same(whole: &TimelineContent, parts: &TimelineContent) {
    let pairs = whole.slices.iter().zip(&parts.slices);
    let unlike = pairs.clone().filter(|(one, other)| one != other);
    assert_eq!(unlike.take(3).collect::<Vec<_>>(), []);
    assert_eq!(whole.slices.len(), parts.slices.len());
    assert_eq!(whole.counters, parts.counters);
    let missing: Vec<_> = whole.flows.difference(&parts.flows).take(3).collect();
    assert_eq!(missing, Vec::<&(SliceKey, SliceKey)>::new());
    assert_eq!(whole.flows.len(), parts.flows.len());
    assert_eq!(whole.other, parts.other);
}

#[test]
fn a_file_that_is_read_bit_by_bit_gives_the_same_tables() {
    check_tables(&workload_file(120), &WantedPart::default());
}

#[test]
fn a_file_that_is_read_bit_by_bit_gives_the_same_timelines() {
    check_timelines(&workload_file(60), &WantedPart::default());
}

#[test]
fn random_traces_that_are_read_bit_by_bit_give_the_same_tables() {
    let mut dice = RandomNumbers(5);
    for _ in 0..8 {
        let text = random_text(&mut dice, 2000);
        let timeline = Timeline::of(&text);
        let file = file(&timeline.session, &timeline.tables, timeline.rows);
        check_tables(&file, &WantedPart::default());
    }
}

/// A task and a record, long pauses after them, and then a sync and a wait for them.
fn far_apart() -> Vec<u8> {
    let mut text = "s1: A[0..100] by t1[-9..-8] rec(E)[100] by t1[-7..-6]\n".to_owned();
    for number in 0..2000 {
        let begin = 200 + number * 20;
        let call = format!("by t2[{}..{}]", begin - 9, begin - 8);
        text += &format!("s2: K[{begin}..{}] {call}\n", begin + 10);
    }
    text += "s3: wait(E)[50000..50010] by t1[49990..49991]\nt1: sync(s1)[50020..50040]\n";
    timeline_file(&text)
}

#[test]
fn arrows_that_lead_far_are_drawn_in_both_formats() {
    let file = far_apart();
    check_tables(&file, &WantedPart::default());
    let chrome = |step| shown(&import(export_file(&Chrome, &file, step).text("")));
    check_same(&chrome(WindowSize::WHOLE), &chrome(SMALL));
    let perfetto = |step| {
        let file = export_file(&Perfetto, &file, step);
        trace_processor::import(file.bytes(""))
    };
    let (whole, parts) = (perfetto(WindowSize::WHOLE), perfetto(SMALL));
    assert_eq!(whole.flows.len(), parts.flows.len());
    assert_eq!(whole.other["omitted_flows"], parts.other["omitted_flows"]);
    // The ends that were written long before have a mark, which arrows of one part share.
    let marks = parts.slices.iter().filter(|it| it.name == "releases");
    assert_eq!(marks.map(|it| it.begin).collect::<Vec<_>>(), [109]);
    assert!(whole.slices.iter().all(|it| it.name != "releases"));
}

/// An event that is recorded again right after each wait for it, with `between` tasks between a record
/// and its wait.
fn recorded_again(between: usize) -> Vec<u8> {
    let mut text = "s2: rec(E)[100] by t1[97..98]\n".to_owned();
    for number in 0..4000 {
        let begin = 200 + number * 40;
        let call = format!("by t1[{}..{}]", begin - 9, begin - 8);
        text += &match number % (between + 3) {
            1 => format!("s1: wait(E)[{begin}..{}] {call}\n", begin + 10),
            2 => format!("s1: L[{begin}..{}] {call}\n", begin + 10),
            3 => format!("s2: rec(E)[{begin}] {call}\n"),
            _ => format!("s2: K[{begin}..{}] {call}\n", begin + 10),
        };
    }
    timeline_file(&text)
}

#[test]
fn a_wait_is_linked_to_its_record_though_the_event_is_recorded_again_soon() {
    for between in (480..640).step_by(20) {
        let file = recorded_again(between);
        let links = |step| tables(&file, step, &WantedPart::default()).remove("dependencies.csv");
        assert_eq!(links(WindowSize::WHOLE), links(SMALL), "{between}");
    }
}
