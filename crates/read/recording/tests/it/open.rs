//! Calls that are under way while a file is written.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use ascend_trace_format::record::Counter;
use ascend_trace_recording::file::{ChunkWriter, Encoder, Writer};
use ascend_trace_recording::rows::*;
use ascend_trace_recording::{Ending, Recording, TimeRange, Trace};
use ascend_trace_testkit::whole::opened;
use ascend_trace_testkit::workload;

use crate::round_trip::{program, write};

const THREAD: u32 = 3;

fn call(begin_ns: i64, end_ns: i64) -> CallRow {
    CallRow {
        thread: THREAD,
        begin_ns,
        end_ns,
        stream: Some(1),
        args: vec![7, 8, 9],
        ending: Ending::Open,
        ..CallRow::default()
    }
}

/// A file that is being written.
struct Recorder {
    encoder: Encoder,
    writer: ChunkWriter<File>,
}

impl Recorder {
    fn create(path: &Path) -> Self {
        let (session, tables) = workload::leading();
        let file = File::create(path).unwrap();
        let mut encoder = Encoder::new();
        encoder.push(&Row::Thread(ThreadRow {
            thread: THREAD,
            process: 1,
            tid: 77,
            handle: 0,
            name: "waits".into(),
        }));
        Self {
            encoder,
            writer: ChunkWriter::create(file, &session, &tables).unwrap(),
        }
    }

    fn flush(&mut self) {
        self.writer.write(&self.encoder.seal()).unwrap();
    }

    fn is_open(&mut self, open: &[CallRow]) {
        self.encoder.set_open(open.to_vec());
        self.flush();
    }

    fn push(&mut self, row: &Row) {
        self.encoder.push(row);
    }
}

fn returned(call: &CallRow) -> Row {
    Row::Call(CallRow {
        ending: Ending::Returned,
        ..call.clone()
    })
}

#[test]
fn a_call_is_open_while_it_lasts_and_like_any_other_after_its_return() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("open.atrace");
    let mut recorder = Recorder::create(&path);
    let mut recording = Recording::open(&path, |_, _| true).unwrap();
    let mut then = |check: &dyn Fn(&Trace, usize)| {
        recording.poll().unwrap();
        let calls = recording.counts().calls as usize;
        check(recording.entities(), calls);
    };
    recorder.push(&returned(&call(100, 200)));
    recorder.is_open(&[call(1_000, 5_000)]);
    then(&|trace, calls| {
        let [open] = trace.open_calls() else {
            panic!("{:?}", trace.open_calls());
        };
        assert_eq!(
            (open.begin, open.end, open.ending),
            (1_000, 5_000, Ending::Open)
        );
        assert_eq!(trace.args(open), [7, 8, 9]);
        assert_eq!(trace.thread(open.thread).tid, 77);
        assert_eq!(trace.stream(open.stream.unwrap()).serial, 1);
        assert_eq!(calls, 1);
    });
    recorder.is_open(&[call(1_000, 9_000)]);
    then(&|trace, _| {
        assert_eq!(trace.open_calls().len(), 1);
        assert_eq!(trace.open_calls()[0].end, 9_000);
    });
    let opened = Recording::open(&path, |_, _| true).unwrap();
    assert_eq!(opened.span(), Some(TimeRange::new(100, 9_000)));
    recorder.push(&returned(&call(1_000, 10_000)));
    recorder.is_open(&[]);
    then(&|trace, calls| {
        assert!(trace.open_calls().is_empty());
        assert_eq!(calls, 2);
    });
}

/// Also where a file is read for the first time, with things and running calls at once.
#[test]
fn the_stream_of_a_running_call_is_one_of_its_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("first.atrace");
    let mut recorder = Recorder::create(&path);
    recorder.is_open(&[call(1_000, 5_000)]);
    let recording = Recording::open(&path, |_, _| true).unwrap();
    let trace = recording.entities();
    let [open] = trace.open_calls() else {
        panic!("{:?}", trace.open_calls());
    };
    let stream = trace.stream(open.stream.unwrap());
    assert_eq!(stream.process, trace.thread(open.thread).process);
    assert_eq!(trace.process(stream.process).serial, 1);
    assert_eq!(trace.streams().len(), 1);
}

/// How often a process is said to have calls open.
fn counted(trace: &Trace) -> u64 {
    trace.counter(Counter::OpenCalls as u16)
}

#[test]
fn a_file_without_an_end_ends_with_the_calls_that_were_under_way() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("killed.atrace");
    let mut recorder = Recorder::create(&path);
    recorder.push(&returned(&call(100, 200)));
    recorder.is_open(&[call(1_000, 5_000), call(1_500, 5_000)]);
    recorder.push(&returned(&call(1_500, 6_000)));
    recorder.is_open(&[call(1_000, 7_000)]);
    recorder.push(&returned(&call(6_500, 6_600)));
    recorder.flush();
    let (trace, _) = opened(&path).unwrap();
    let ending = |call: &ascend_trace_recording::Call| (call.begin, call.end, call.ending);
    let endings: Vec<_> = trace.calls().iter().map(ending).collect();
    let expected = [
        (100, 200, Ending::Returned),
        (1_500, 6_000, Ending::Returned),
        (6_500, 6_600, Ending::Returned),
        (1_000, 7_000, Ending::Open),
    ];
    assert_eq!(endings, expected);
    assert!(trace.open_calls().is_empty());
    assert_eq!(counted(&trace), 1);
    // The same by the index, in windows, sums and counts.
    let mut recording = Recording::open(&path, |_, _| true).unwrap();
    recording.close().unwrap();
    assert_eq!(recording.counts().calls, 4);
    assert_eq!(recording.span(), Some(TimeRange::new(100, 7_000)));
    assert_eq!(counted(recording.entities()), 1);
    assert!(recording.entities().open_calls().is_empty());
    let window = recording.window((6_700, 6_800), 100).unwrap();
    assert_eq!(window.calls().len(), 1);
    assert_eq!(ending(&window.calls()[0]), expected[3]);
    assert_eq!(window.args(&window.calls()[0]), [7, 8, 9]);
    let number = window.call_number(ascend_trace_recording::CallId(0));
    assert_eq!(number, 3, "as in the whole trace");
    let whole = recording.window((0, 10_000), 100).unwrap();
    assert_eq!(whole.calls().len(), 4);
    let summary = recording.summary((i64::MIN, i64::MAX), 64).unwrap();
    let busy: u64 = summary.threads().map(|it| it.2.sums(0, 10_000).count).sum();
    assert_eq!(busy, 4);
    let mut replay = recording.replay();
    while replay.advance(1).unwrap() {}
    assert_eq!(replay.trace().calls().len(), 4);
}

#[test]
fn a_file_with_an_end_has_no_call_under_way() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ended.atrace");
    let mut recorder = Recorder::create(&path);
    recorder.is_open(&[call(1_000, 5_000)]);
    // A recorder without time for it does not take the last running calls back.
    recorder.push(&Row::Call(call(1_000, 6_000)));
    recorder.push(&Row::End(EndRow {
        end_ns: 6_000,
        exit_status: 0,
        ..EndRow::default()
    }));
    recorder.flush();
    let (trace, warnings) = opened(&path).unwrap();
    assert_eq!(warnings, []);
    assert_eq!(trace.calls().len(), 1);
    assert!(trace.open_calls().is_empty());
    let mut recording = Recording::open(&path, |_, _| true).unwrap();
    recording.close().unwrap();
    assert_eq!(recording.counts().calls, 1);
}

#[test]
fn long_files_with_an_index_are_no_exception() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.atrace");
    let (session, tables) = workload::leading();
    let rows = program(600);
    let sound = write(&session, &tables, &rows);
    fs::write(&path, &sound).unwrap();
    let calls = opened(&path).unwrap().0.calls().len() as u64;
    // Without an end, with indexes on the way, and chunks of open calls between all others.
    let file = File::create(&path).unwrap();
    let mut encoder = Encoder::new();
    let mut writer = ChunkWriter::create(file, &session, &tables)
        .unwrap()
        .with_index_every(500);
    for (number, row) in rows.iter().enumerate() {
        encoder.push(row);
        if number % 100 == 0 {
            let now = number as i64;
            encoder.set_open(vec![call(now, now + 1)]);
            writer.write(&encoder.seal()).unwrap();
        }
    }
    writer.write(&encoder.seal()).unwrap();
    writer.into_inner().flush().unwrap();
    let (whole, _) = opened(&path).unwrap();
    assert_eq!(whole.calls().len() as u64, calls + 1);
    let mut recording = Recording::open(&path, |_, _| true).unwrap();
    assert_eq!(recording.counts().calls, calls);
    assert_eq!(recording.entities().open_calls().len(), 1);
    recording.close().unwrap();
    assert_eq!(recording.counts().calls, calls + 1);
    assert_eq!(
        recording.rows(),
        whole.calls().len() as u64 + whole.tasks().len() as u64
    );
    let all = recording.window((i64::MIN, i64::MAX), u64::MAX).unwrap();
    assert_eq!(all.calls().len() as u64, calls + 1);
    let open = all.calls().iter().filter(|it| it.ending == Ending::Open);
    assert_eq!(open.count(), 1);
}

#[test]
fn repacked_files_have_no_leftover() {
    let (session, tables) = workload::leading();
    let mut encoder = Encoder::new();
    let mut writer = ChunkWriter::create(Vec::new(), &session, &tables).unwrap();
    encoder.set_open(vec![call(1, 2)]);
    writer.write(&encoder.seal()).unwrap();
    encoder.push(&Row::Call(call(1, 2)));
    encoder.push(&Row::End(EndRow::default()));
    writer.write(&encoder.seal()).unwrap();
    let bytes = writer.into_inner();
    let packed = ascend_trace_recording::file::repack(bytes.as_slice(), Vec::new());
    let packed = packed.unwrap().unwrap();
    assert!(!packed.windows(4).any(|it| it == b"OPEN"));
    let mut plain = Writer::create(Vec::new(), &session, &tables).unwrap();
    plain.push(Row::Call(call(1, 2))).unwrap();
    assert!(!plain.finish(EndRow::default()).unwrap().is_empty());
}
