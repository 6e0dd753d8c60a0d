//! Files that are exported in tiny steps, with any content, selection or damage.

use std::collections::BTreeSet;

use ascend_trace_export::{Chrome, Csv, ExportSource, WantedPart, WindowSize};
use ascend_trace_recording::rows::Row;
use ascend_trace_recording::{Recording, TimeRange, Trace};
use ascend_trace_testkit::Timeline;
use ascend_trace_testkit::recording::indexed;
use ascend_trace_testkit::whole::opened;

use super::checker::import;
use super::memory::{export_file, export_some, export_source};
use super::random::{RandomNumbers, random_text};
use super::stream::{
    LinesByTable, SMALL, check_contradictions, check_tables, check_timelines, file, tables,
    timeline_file, workload_file,
};
use super::{graphs, selection, tools};

/// A graph that is captured, and replayed again and again with other work in between, and captures
/// that fail or are of no use.
fn replays() -> Vec<u8> {
    let mut text = "
        t1: capture(s1)[0..1] of g1 end(s1)[14..15] of g1
        s1: Add[captured] by t1[2..3] of g1 rec(E)[captured] by t1[4..5] of g1
        s2: wait(E)[captured] by t1[6..7] of g1 Mul[captured] by t1[8..9] of g1 rec(F)[captured] by t1[10..11] of g1
        s1: wait(F)[captured] by t1[12..13] of g1
        t1: capture(s3)[20..21] of g2 end(s3)[40..41] of g2=107025
        t1: capture(s4)[50..51] of g3 end(s4)[52..53] of g3
        s3: rec(G)[captured] by t1[30..31] of g2
        s4: wait(G)[captured] by t1[32..33] of g2 Sub[captured] by t1[34..35] of g2\n"
        .to_owned();
    for number in 0..900 {
        let begin = 1000 + number * 100;
        let call = |at: i64| format!("by t1[{}..{}]", begin - 90 + at, begin - 89 + at);
        let graph = format!("graph[{begin}..{}] {} of g1", begin + 30, call(0));
        let other = format!("K{}[{}..{}]", number % 3, begin + 30, begin + 60);
        text += &format!("s1: {graph} {other} {}\n", call(5));
    }
    timeline_file(&text)
}

/// Two ranks that reduce together, the second one late, after other work.
fn collectives() -> Vec<u8> {
    let mut text = String::new();
    for number in 0..700 {
        let begin = 1000 + number * 1000;
        for (rank, late) in [(1, 0), (2, 300)] {
            let call = |at: i64| format!("by t{rank}[{}..{}]", begin - 90 + at, begin - 80 + at);
            let work = format!("K[{begin}..{}] {}", begin + 100 + late, call(0));
            let (from, to) = (begin + 100 + late, begin + 700);
            let reduce = format!("HcclAllReduce({rank},64)[{from}..{to}] {}", call(20));
            text += &format!("s{rank}@{}: {work} {reduce}\n", rank - 1);
        }
    }
    timeline_file(&text)
}

/// As [`random_text`], with times that err: tasks overlap and end before their causes.
fn adversarial(dice: &mut RandomNumbers) -> Vec<u8> {
    let text = random_text(dice, 1500);
    let mut timeline = Timeline::of(&text);
    for row in &mut timeline.rows {
        if let Row::TaskTime(time) = row {
            time.begin_device_ns += dice.roll(40) as i64 - 20;
            time.end_device_ns = time.begin_device_ns.max(time.end_device_ns);
        }
    }
    file(&timeline.session, &timeline.tables, timeline.rows)
}

fn wanted(range: Option<TimeRange>, only: &[&str]) -> WantedPart {
    let mut wanted = WantedPart {
        range,
        ..WantedPart::default()
    };
    for condition in only {
        wanted.only.add(condition).expect("a condition");
    }
    wanted
}

#[test]
fn examples_are_the_same_a_few_rows_at_a_time() {
    for text in [tools::EXAMPLE, graphs::EXAMPLE, selection::EXAMPLE] {
        let timeline = Timeline::of(text);
        let file = indexed(4, &timeline.session, &timeline.tables, timeline.rows);
        let mut recording = Recording::from_bytes(file.clone()).expect("a file");
        let mut replay = recording.replay();
        replay.advance(1).expect("rows");
        assert!(!replay.is_done(), "there are several steps");
        check_tables(&file, &WantedPart::default());
        check_timelines(&file, &WantedPart::default());
    }
}

#[test]
fn graphs_that_are_replayed_for_long_are_the_same_in_tiny_steps() {
    let file = replays();
    check_tables(&file, &WantedPart::default());
    check_timelines(&file, &WantedPart::default());
}

#[test]
fn collectives_are_the_same_in_tiny_steps() {
    let file = collectives();
    check_tables(&file, &WantedPart::default());
    check_timelines(&file, &WantedPart::default());
    let stalls = &tables(&file, SMALL, &WantedPart::default())["stalls.csv"];
    let peers = stalls.iter().filter(|it| it.contains("collective-peer"));
    assert!(peers.count() > 600, "{stalls:#?}");
}

#[test]
fn times_that_contradict_each_other_are_the_same_in_tiny_steps() {
    let mut dice = RandomNumbers(7);
    for _ in 0..4 {
        let file = adversarial(&mut dice);
        check_tables(&file, &WantedPart::default());
        check_contradictions(&file, &WantedPart::default());
    }
}

#[test]
fn a_selection_of_a_file_is_the_same_in_tiny_steps() {
    let file = workload_file(120);
    let span = Recording::from_bytes(file.clone()).expect("a file").span();
    let TimeRange { begin, end } = span.expect("a span");
    let at = |part: i64| begin + (end - begin) / 100 * part;
    let all = [
        wanted(Some(TimeRange::new(at(40), at(60))), &[]),
        wanted(Some(TimeRange::new(at(90), at(100))), &["kind=memcpy"]),
        wanted(None, &["stream=1", "kind=kernel,wait"]),
        wanted(None, &["call=aclrtMalloc*,*Synchronize*"]),
        wanted(None, &["tid=4001"]),
        wanted(None, &["name=nothing"]),
    ];
    for wanted in &all {
        check_tables(&file, wanted);
        check_timelines(&file, wanted);
    }
}

#[test]
fn a_selection_of_graphs_and_random_traces_is_the_same_in_tiny_steps() {
    let wanted = [
        wanted(None, &["kind=graph"]),
        wanted(Some(TimeRange::new(5_000, 60_000)), &["stream=1"]),
    ];
    let files = [replays(), adversarial(&mut RandomNumbers(11))];
    for (file, wanted) in files
        .iter()
        .flat_map(|file| wanted.iter().map(move |it| (file, it)))
    {
        check_tables(file, wanted);
        check_timelines(file, wanted);
    }
}

#[test]
fn a_file_and_the_trace_in_memory_give_the_same_export() {
    let file = workload_file(40);
    let mut recording = Recording::from_bytes(file.clone()).expect("a file");
    let span = recording.span().expect("a span");
    let mut replay = recording.replay();
    replay.advance(u64::MAX).expect("rows");
    let middle = (span.begin + span.end) / 2;
    let half = wanted(Some(TimeRange::new(middle, span.end)), &["device=1"]);
    for wanted in [WantedPart::default(), half] {
        let source = ExportSource::of(replay.trace(), &wanted);
        let memory = export_source(&Chrome, &source);
        let streamed = export_some(&Chrome, &file, WindowSize::WHOLE, &wanted);
        let lines = memory.text("").lines().zip(streamed.text("").lines());
        let unlike: Vec<_> = lines.filter(|(one, other)| one != other).take(3).collect();
        assert_eq!(unlike, []);
        assert_eq!(memory.text("").len(), streamed.text("").len());
    }
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_has_the_cells_of_csv_in_tiny_steps() {
    use super::parquet::check_files;
    for file in [workload_file(120), replays(), collectives()] {
        let columns = export_file(&ascend_trace_export::Parquet, &file, SMALL);
        check_files(&columns, &export_file(&Csv, &file, SMALL));
    }
}

/// A trace from the bytes of a file, and the number of its faults.
fn open(bytes: &[u8]) -> (Trace, usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.atrace");
    std::fs::write(&path, bytes).expect("a file");
    let (trace, warnings) = opened(&path).expect("a trace");
    (trace, warnings.len())
}

/// Exports a file in tiny steps; returns the tables, and the messages about it.
#[track_caller]
fn export_sound(bytes: &[u8]) -> (LinesByTable, usize) {
    let found = tables(bytes, SMALL, &WantedPart::default());
    let imported = import(export_file(&Chrome, bytes, SMALL).text(""));
    assert_eq!(imported.other["complete"], false);
    let calls = found["calls.csv"].len() - 1;
    assert_eq!(imported.other["calls"], calls);
    let mut recording = Recording::from_bytes(bytes.to_vec()).expect("a file");
    let mut replay = recording.replay();
    while !replay.is_done() {
        replay.advance(1).expect("rows");
    }
    (found, recording.final_warnings().len())
}

#[test]
fn a_growing_file_is_exported_up_to_its_current_end() {
    let file = workload_file(120);
    let calls = |tables: &LinesByTable| tables["calls.csv"].clone();
    let whole = calls(&tables(&file, SMALL, &WantedPart::default()));
    let mut before = BTreeSet::new();
    for part in [20, 45, 70, 95] {
        let prefix = &file[..file.len() * part / 100];
        let (found, said) = export_sound(prefix);
        assert!(said > 0, "the end is missing");
        let found = calls(&found);
        assert!(
            found.is_superset(&before) && found.is_subset(&whole),
            "{part}"
        );
        assert!(found.len() > before.len(), "{part}");
        let (trace, _) = open(prefix);
        assert_eq!(found.len() - 1, trace.calls().len());
        before = found;
    }
}

#[test]
fn intact_parts_of_a_damaged_file_are_exported_and_damage_is_reported() {
    let file = workload_file(120);
    let whole = tables(&file, SMALL, &WantedPart::default());
    let mut lost = 0;
    for place in [30, 31, 50, 65] {
        let mut damaged = file.clone();
        let begin = file.len() * place / 100;
        for byte in &mut damaged[begin..begin + 40] {
            *byte ^= 0x5a;
        }
        let found = tables(&damaged, SMALL, &WantedPart::default());
        let calls = &found["calls.csv"];
        let all = whole["calls.csv"].len();
        assert!((all / 2..=all).contains(&calls.len()), "{place}");
        lost += all - calls.len();
        let imported = import(export_file(&Chrome, &damaged, SMALL).text(""));
        assert_eq!(imported.other["calls"], calls.len() - 1);
        let mut recording = Recording::from_bytes(damaged.clone()).expect("a file");
        let mut replay = recording.replay();
        while !replay.is_done() {
            replay.advance(1).expect("rows");
        }
        // A damaged index is rebuilt: no row is missing then.
        let is_reported = !recording.final_warnings().is_empty();
        assert!(is_reported || calls.len() == all, "{place}");
        let (trace, said) = open(&damaged);
        assert_eq!(trace.calls().len(), calls.len() - 1, "{place}");
        assert!(said > 0);
    }
    assert!(lost > 0, "the damage did no harm");
}
