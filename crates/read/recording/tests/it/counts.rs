//! FileCounts of a recording equal those of the whole trace, from any source.

use std::collections::BTreeMap;

use ascend_trace_recording::file::{ChunkWriter, Encoder, Writer};
use ascend_trace_recording::recording::FileCounts;
use ascend_trace_recording::rows::{
    CallRow, CounterRow, EndRow, EventRow, NameRow, ProcessRow, RangeRow, Row, ThreadRow,
};
use ascend_trace_recording::{ProcessId, Recording, Trace};
use ascend_trace_testkit::Timeline;
use ascend_trace_testkit::whole::opened;
use ascend_trace_testkit::workload;

use crate::windows::files;

const TIMELINE: &str = "
    t1: capture(s1)[0..1] of g1
    s1: Add[captured] by t1[2..3] of g1 Mul[captured] by t1[4..5] of g1
    t1: end(s1)[14..15] of g1
    s1: graph[20..30] of g1 graph[30..40] of g1 B[40..50] C[no-event] =107000
    s3: graph[50..60] of g1
    t2: capture(s2)[60..61] of g2 end(s2)[62..63] of g2 =107025
    t2: outer(1)[60..90] inner(1)[70..80] aclrtMalloc(1)[91..92]=207001
    s2: A[95..99] rec(E)
    s1: wait(E)";

fn indexed(timeline: &Timeline, every: u64) -> Recording {
    let writer = ChunkWriter::create(Vec::new(), &timeline.session, &timeline.tables).unwrap();
    let mut writer = writer.with_index_every(every);
    let mut encoder = Encoder::new();
    for row in &timeline.rows {
        encoder.push(row);
        writer.write(&encoder.seal()).unwrap();
    }
    Recording::from_bytes(writer.into_inner()).unwrap()
}

/// The graphs' replays, by process and serial.
fn replays(trace: &Trace) -> BTreeMap<(ProcessId, u32), u64> {
    let mut replays = BTreeMap::new();
    for call in trace.calls() {
        let is_replay = trace.function(call.function).name.contains("ExecuteAsync");
        if let (true, Some(graph)) = (is_replay, call.graph) {
            let process = trace.thread(call.thread).process;
            *replays.entry((process, graph.serial)).or_default() += 1;
        }
    }
    replays
}

#[test]
fn counts_and_graphs_are_those_of_the_whole_trace() {
    let timeline = Timeline::of(TIMELINE);
    let whole = timeline.trace();
    let expected = FileCounts::of(&whole);
    assert!(expected.nested > 0 && expected.errors > 0 && expected.untimed.len() > 1);
    for every in [1, 3, 1000] {
        let mut recording = indexed(&timeline, every);
        assert_eq!(recording.counts(), expected);
        let graphs = recording.graph_calls().unwrap();
        assert_eq!(graphs.replays, replays(&whole));
        assert_eq!(graphs.replays.values().sum::<u64>(), 3);
        // The others: two captures with their ends, and two nodes.
        let reported = graphs.trace.calls().iter();
        assert_eq!(
            reported.map(|call| call.begin).collect::<Vec<_>>(),
            [0, 2, 4, 14, 60, 62]
        );
    }
}

#[test]
fn graphs_are_read_where_the_index_has_none() {
    let timeline = Timeline::of(TIMELINE);
    let mut writer = Writer::create(Vec::new(), &timeline.session, &timeline.tables).unwrap();
    for row in &timeline.rows {
        writer.push(row.clone()).unwrap();
    }
    let end = EndRow {
        end_ns: 200,
        exit_status: 0,
        ..EndRow::default()
    };
    let mut recording = Recording::from_bytes(writer.finish(end).unwrap()).unwrap();
    let graphs = recording.graph_calls().unwrap();
    assert_eq!(graphs.replays, replays(&timeline.trace()));
    assert_eq!(graphs.trace.calls().len(), 6);
}

#[test]
fn a_long_file_counts_as_its_whole_trace_does() {
    let files = files();
    let mut recording = Recording::from_bytes(files.bytes.clone()).unwrap();
    assert_eq!(recording.counts(), FileCounts::of(&files.whole));
    assert!(recording.graph_calls().unwrap().trace.calls().is_empty());
}

const EVENTS: u32 = 200_000;
const RANGES: i64 = 200_000;

fn range(begin_ns: i64, end_ns: i64, name: &str) -> Row {
    Row::Range(RangeRow {
        process: 1,
        thread: 2,
        begin_ns,
        end_ns,
        domain: 0,
        name: name.to_owned(),
    })
}

/// More events and ranges than are kept, and calls at the very end that use the first and the last.
fn many_entities() -> Recording {
    let (session, tables) = workload::leading();
    let mut writer = Writer::create(Vec::new(), &session, &tables).unwrap();
    let mut rows = 0;
    let mut push = |row| {
        rows += 1;
        if rows % 20_000 == 0 {
            writer.flush().unwrap();
        }
        writer.push(row).unwrap();
    };
    push(Row::Process(ProcessRow {
        process: 1,
        pid: 10,
        parent_pid: 1,
        begin_ns: 0,
        name: "p".to_owned(),
        ..ProcessRow::default()
    }));
    push(Row::Thread(ThreadRow {
        thread: 2,
        process: 1,
        tid: 20,
        handle: 0,
        name: String::new(),
    }));
    for serial in 1..=EVENTS {
        push(Row::Event(EventRow {
            process: 1,
            serial,
            context: 1,
            handle: 0x1000 + u64::from(serial),
            flags: 0,
            creation: 1,
        }));
    }
    for place in 0..RANGES {
        push(range(place * 10, place * 10 + 15, "step"));
        push(Row::Name(NameRow {
            process: 1,
            since_ns: place,
            key: 7,
            name: "the same".to_owned(),
        }));
    }
    push(range(0, RANGES * 10, "epoch"));
    for serial in [5, EVENTS - 5] {
        push(Row::Call(CallRow {
            thread: 2,
            begin_ns: RANGES * 10 - 100,
            end_ns: RANGES * 10 - 50,
            event: Some((serial, 1)),
            ..CallRow::default()
        }));
    }
    let end = EndRow {
        end_ns: RANGES * 10,
        exit_status: 0,
        ..EndRow::default()
    };
    Recording::from_bytes(writer.finish(end).unwrap()).unwrap()
}

#[test]
fn windows_know_their_events_and_ranges_however_many_there_are() {
    let mut recording = many_entities();
    let counts = recording.counts();
    assert_eq!(counts.events, u64::from(EVENTS));
    assert_eq!(counts.ranges, RANGES as u64 + 1);
    assert!(recording.entities().events().len() < 150_000);
    assert!(recording.entities().ranges().len() < 150_000);
    let end = RANGES * 10;
    let window = recording.window((end - 200, end), 1000).unwrap();
    assert_eq!(window.calls().len(), 2);
    for call in window.calls() {
        let event = window.event(call.event.unwrap().event);
        assert_eq!(
            (event.handle, event.creation),
            (0x1000 + u64::from(event.serial), 1)
        );
    }
    let inside = window.ranges().iter().filter(|it| it.end >= end - 200);
    let names: Vec<_> = inside.map(|it| it.name.as_str()).collect();
    assert_eq!(names.iter().filter(|it| **it == "epoch").count(), 1);
    let near = (0..RANGES).filter(|place| place * 10 + 15 >= end - 200);
    let steps = names.iter().filter(|it| **it == "step").count();
    assert_eq!(steps, near.count());
    assert_eq!(window.name_of(ProcessId(0), 7, end), Some("the same"));
}

/// A file of one group per batch, and how its counter stands: from the whole file and from its index.
fn reported(batches: &[&[u64]]) -> (u64, u64) {
    let (session, tables) = workload::leading();
    let writer = ChunkWriter::create(Vec::new(), &session, &tables).unwrap();
    let mut writer = writer.with_index_every(1);
    let mut encoder = Encoder::new();
    for values in batches {
        for value in *values {
            encoder.push(&Row::Counter(CounterRow {
                process: 1,
                what: INJECTED,
                value: *value,
            }));
        }
        encoder.push(&range(0, 1, "step"));
        writer.write(&encoder.seal()).unwrap();
    }
    encoder.push(&Row::End(EndRow::default()));
    writer.write(&encoder.seal()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counters.atrace");
    let bytes = writer.into_inner();
    std::fs::write(&path, &bytes).unwrap();
    let (whole, warnings) = opened(&path).unwrap();
    assert_eq!(warnings, []);
    let recording = Recording::from_bytes(bytes).unwrap();
    (
        whole.counter(INJECTED),
        recording.entities().counter(INJECTED),
    )
}

const INJECTED: u16 = 1;

/// Several threads of a process report its counters, and their channels are read one after the other.
#[test]
fn a_late_report_of_a_thread_does_not_set_a_counter_back() {
    assert_eq!(reported(&[&[5], &[9]]), (9, 9));
    assert_eq!(reported(&[&[7741, 6801]]), (7741, 7741));
    assert_eq!(reported(&[&[6000], &[7741], &[6801]]), (7741, 7741));
}
