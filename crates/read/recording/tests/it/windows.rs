use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use ascend_trace_recording::file::Writer;
use ascend_trace_recording::recording::WindowError;
use ascend_trace_recording::rows::EndRow;
use ascend_trace_recording::{
    Call, OpenError, Recording, StreamId, Summary, ThreadId, TimeRange, Trace,
};
use ascend_trace_testkit::whole::opened;
use ascend_trace_testkit::workload::{self, Workload};

/// Long enough for two whole groups and a part of a third.
const STEPS: u32 = 18_000;
/// Rows that are handed over before the writer flushes.
const FLUSH: usize = 5_000;

pub(crate) struct Files {
    _folder: tempfile::TempDir,
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
    pub(crate) whole: Trace,
}

/// One long file, made once for all tests.
pub(crate) fn files() -> &'static Files {
    static FILES: OnceLock<Files> = OnceLock::new();
    FILES.get_or_init(|| {
        let (session, tables) = workload::leading();
        let mut writer = Writer::create(Vec::new(), &session, &tables).unwrap();
        let mut rows = 0;
        let workload = Workload {
            steps: STEPS,
            rest_ns: 3_000,
            ..Workload::default()
        };
        let mut last = None;
        workload::run(workload, |row| {
            rows += 1;
            if rows % FLUSH == 0 {
                writer.flush().unwrap();
            }
            if let Some(row) = last.replace(row) {
                writer.push(row).unwrap();
            }
        });
        let end = EndRow {
            end_ns: 1,
            exit_status: 4,
            ..EndRow::default()
        };
        let bytes = writer.finish(end).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long.atrace");
        fs::write(&path, &bytes).unwrap();
        let (whole, warnings) = opened(&path).unwrap();
        assert_eq!(warnings, []);
        Files {
            _folder: folder,
            path,
            bytes,
            whole,
        }
    })
}

pub(crate) fn open(path: &Path) -> Recording {
    Recording::open(path, |_, _| true).unwrap()
}

/// Where each chunk of a sound file begins and ends, and its kind.
pub(crate) fn chunks(bytes: &[u8]) -> Vec<(usize, usize, [u8; 4])> {
    let mut chunks = Vec::new();
    let mut at = 16;
    while at < bytes.len() {
        let kind = bytes[at + 4..at + 8].try_into().unwrap();
        let length = u32::from_le_bytes(bytes[at + 8..at + 12].try_into().unwrap());
        let end = at + 20 + length as usize;
        chunks.push((at, end, kind));
        at = end;
    }
    chunks
}

fn without(bytes: &[u8], unwanted: &[&[u8; 4]]) -> Vec<u8> {
    let mut left = bytes[..16].to_vec();
    for (begin, end, kind) in chunks(bytes) {
        if !unwanted.contains(&&kind) {
            left.extend_from_slice(&bytes[begin..end]);
        }
    }
    left
}

/// Properties of a call that do not depend on its trace: its function and arguments, and the time of
/// its task with its error.
type CallProperties = ((i64, i64, u32, u32), Vec<u64>, Option<(i64, i64, i64)>);

fn properties(trace: &Trace, call: &Call) -> CallProperties {
    let time = call.task.and_then(|task| trace.task(task).time);
    (
        (call.begin, call.end, call.thread.0, call.function.0),
        trace.args(call).to_vec(),
        time.map(|time| (time.begin, time.end, time.error)),
    )
}

/// Whether a call, or the task that it launched, has a part in a range.
fn belongs(properties: &CallProperties, range: (i64, i64)) -> bool {
    let overlaps = |begin, end| begin <= range.1 && end >= range.0;
    let ((begin, end, ..), _, time) = properties;
    overlaps(*begin, *end) || time.is_some_and(|(begin, end, _)| overlaps(begin, end))
}

fn sorted(mut all: Vec<CallProperties>) -> Vec<CallProperties> {
    all.sort();
    all
}

/// Every call that has a part in the range is in both, and its task's times agree: they are fitted
/// to fewer bounds, so only as far as their error bars say.
#[track_caller]
fn same_in(range: (i64, i64), window: &Trace, whole: &Trace) {
    let inner = (range.0 + 20_000, range.1 - 20_000);
    let of = |trace: &Trace| {
        let all = trace.calls().iter().map(|call| properties(trace, call));
        sorted(
            all.filter(|properties| belongs(properties, inner))
                .collect(),
        )
    };
    // At the very edges a task may be in by one mapping and out by the other.
    let window_calls: Vec<CallProperties> = {
        let all = window.calls().iter().map(|call| properties(window, call));
        sorted(all.collect())
    };
    let whole = of(whole);
    assert!(!whole.is_empty());
    let mut found = window_calls.iter();
    for expected in &whole {
        let same = found
            .find(|it| it.0 == expected.0 && it.1 == expected.1)
            .unwrap_or_else(|| panic!("no {expected:?} in {range:?}"));
        match (same.2, expected.2) {
            (Some(one), Some(other)) => {
                let near = one.2 + other.2;
                assert!((one.0 - other.0).abs() <= near, "{one:?} {other:?}");
                assert!((one.1 - other.1).abs() <= near, "{one:?} {other:?}");
                assert!(one.2 < other.2 + 300, "{one:?} {other:?}");
            }
            (one, other) => assert_eq!(one, other, "{expected:?}"),
        }
    }
}

/// Busy time and slices by lane.
type LaneSums = BTreeMap<(u32, u32), (u64, u64)>;

fn summed(summary: &Summary, range: (i64, i64)) -> (LaneSums, LaneSums) {
    let streams = summary.streams().map(|(id, lane)| {
        let sums = lane.sums(range.0, range.1);
        ((id.0, 0), (sums.count, sums.all()))
    });
    let threads = summary.threads().map(|(id, depth, lane)| {
        let sums = lane.sums(range.0, range.1);
        ((id.0, u32::from(depth)), (sums.count, sums.all()))
    });
    (streams.collect(), threads.collect())
}

#[test]
fn the_index_has_the_sums_of_the_rows() {
    let files = files();
    let mut recording = open(&files.path);
    let whole = &files.whole;
    assert!(recording.complete());
    assert_eq!(recording.warnings(), []);
    assert_eq!(recording.final_warnings(), []);
    let tasks = whole.tasks().len();
    assert_eq!(recording.rows(), (whole.calls().len() + tasks) as u64);
    let TimeRange { begin, end } = recording.span().unwrap();
    let TimeRange {
        begin: first,
        end: last,
    } = whole.span().unwrap();
    assert!((begin - first).abs() < 5_000 && (end - last).abs() < 5_000);
    let entities = recording.entities();
    assert_eq!(entities.processes(), whole.processes());
    assert_eq!(entities.threads(), whole.threads());
    assert_eq!(entities.streams(), whole.streams());
    assert_eq!(entities.events(), whole.events());
    assert_eq!(entities.end(), whole.end());
    for (one, other) in entities.clocks().iter().zip(whole.clocks()) {
        assert_eq!((one.device, one.anchors), (other.device, other.anchors));
        assert_eq!(one.max_error_ns, other.max_error_ns);
        assert_eq!(one.driver_anchors, other.driver_anchors);
        assert!(one.driver_anchors > 0 && !one.driver_disagrees && !other.driver_disagrees);
        let drifts = (one.drift_ppm.unwrap(), other.drift_ppm.unwrap());
        assert!((drifts.0 - drifts.1).abs() < 0.2);
        let off = (one.median_error_ns - other.median_error_ns).abs();
        assert!(off * 6 <= other.median_error_ns, "{one:?} {other:?}");
    }
    assert_eq!(entities.clocks().len(), whole.clocks().len());

    let counts = recording.counts();
    assert_eq!(counts.calls, whole.calls().len() as u64);
    assert_eq!((counts.tasks, counts.timed), (tasks as u64, tasks as u64));
    assert_eq!((counts.nested, counts.errors), (0, 0));
    for (place, count) in counts.functions.iter().enumerate() {
        let calls = whole.calls().iter();
        let own = calls.filter(|call| call.function.index() == place).count();
        assert_eq!(*count, own as u64);
    }
    for (stream, (tasks, timed)) in &counts.streams {
        assert_eq!(*tasks, whole.stream_tasks(*stream).len() as u64);
        assert_eq!(tasks, timed);
    }
    assert!(counts.untimed.is_empty());
}

#[test]
fn a_window_holds_all_calls_and_tasks_with_a_part_in_its_range() {
    let files = files();
    let mut recording = open(&files.path);
    let TimeRange { begin, end } = recording.span().unwrap();
    let length = 8_000_000;
    for part in [0, 1, 3, 7, 10] {
        let from = begin + (end - begin - length) / 10 * part;
        let range = (from, from + length);
        let window = recording.window(range, 100_000).unwrap();
        assert!(window.calls().len() < 60_000, "{}", window.calls().len());
        same_in(range, &window, &files.whole);
        assert_eq!(window.streams(), files.whole.streams());
        assert_eq!(window.end(), files.whole.end());
    }
}

#[test]
fn a_window_that_would_be_too_large_is_refused() {
    let mut recording = open(&files().path);
    let all = recording.span().unwrap();
    assert!(recording.rows_in(all) > 1_000_000);
    let refused = recording.window(all, 100_000);
    assert!(matches!(refused, Err(WindowError::TooMany(100_000))));
}

#[test]
fn summaries_lose_no_slice_at_any_resolution() {
    let files = files();
    let mut recording = open(&files.path);
    let all = (i64::MIN, i64::MAX);
    let whole = &files.whole;
    for entries in [20, 500, 100_000] {
        let summary = recording.summary(all, entries).unwrap();
        let (streams, threads) = summed(&summary, all);
        assert_eq!(streams.len(), 4);
        for ((stream, _), (count, busy)) in streams {
            let tasks = whole.stream_tasks(StreamId(stream));
            assert_eq!(count, tasks.len() as u64);
            let times = tasks.iter().filter_map(|id| whole.task(*id).time);
            let expected: i64 = times.map(|time| time.end - time.begin).sum();
            // Sums are of device time, which runs a little differently.
            let off = (busy as i64 - expected).abs();
            assert!(off < expected / 1000 + 1, "{busy} {expected}");
        }
        for ((thread, _), (count, busy)) in threads {
            let calls = whole.thread_calls(ThreadId(thread));
            let lengths = calls.iter().map(|id| whole.call(*id));
            let expected: i64 = lengths.map(|call| call.end - call.begin).sum();
            assert_eq!((count, busy), (calls.len() as u64, expected as u64));
        }
    }
}

#[test]
fn a_part_of_a_summary_has_the_sums_of_that_part() {
    let files = files();
    let mut recording = open(&files.path);
    let TimeRange { begin, end } = recording.span().unwrap();
    let range = (begin + (end - begin) / 3, begin + (end - begin) / 2);
    let summary = recording.summary(range, 2_000).unwrap();
    let whole = &files.whole;
    for (id, lane) in summary.streams() {
        let sums = lane.sums(range.0, range.1);
        let tasks = whole.stream_tasks(id).iter();
        let times = tasks.filter_map(|id| whole.task(*id).time);
        let part = |begin: i64, end: i64| (end.min(range.1) - begin.max(range.0)).max(0);
        let expected: i64 = times.map(|time| part(time.begin, time.end)).sum();
        let off = (sums.all() as i64 - expected).abs() as f64;
        assert!(off < expected as f64 * 0.01, "{sums:?} {expected}");
    }
}

#[test]
fn parts_own_every_call_once() {
    let files = files();
    let mut recording = open(&files.path);
    let mut calls = 0;
    let mut tasks = 0;
    let mut parts = 0;
    for part in recording.parts(100_000) {
        let part = part.unwrap();
        let own = part.trace.calls().iter().filter(|call| part.owns(call));
        let own: Vec<_> = own.collect();
        calls += own.len();
        tasks += own.iter().filter(|call| call.task.is_some()).count();
        let timed = own.iter().filter_map(|call| call.task);
        assert!(timed.clone().all(|id| part.trace.task(id).time.is_some()));
        parts += 1;
    }
    assert!(parts > 5, "{parts}");
    assert_eq!(calls, files.whole.calls().len());
    assert_eq!(tasks, files.whole.tasks().len());
}

/// Writes bytes to a separate file and compares its contents with the whole trace.
#[track_caller]
fn tells_the_same(bytes: &[u8], name: &str) {
    let files = files();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    let mut recording = open(&path);
    let whole = &files.whole;
    assert_eq!(
        recording.rows(),
        (whole.calls().len() + whole.tasks().len()) as u64
    );
    let TimeRange { begin, end } = recording.span().unwrap();
    let from = begin + (end - begin) / 10 * 9;
    for range in [(begin, begin + 4_000_000), (from, from + 4_000_000)] {
        let window = recording.window(range, 100_000).unwrap();
        same_in(range, &window, whole);
    }
    let summary = recording.summary((i64::MIN, i64::MAX), 500).unwrap();
    let (_, threads) = summed(&summary, (i64::MIN, i64::MAX));
    for ((thread, _), (count, _)) in threads {
        let calls = whole.thread_calls(ThreadId(thread)).len();
        assert_eq!(count, calls as u64);
    }
}

#[test]
fn opening_reads_no_calls_and_damage_is_a_warning_of_the_window() {
    let files = files();
    let mut bytes = files.bytes.clone();
    for (_, end, kind) in chunks(&files.bytes) {
        if kind == *b"CALL" {
            bytes[end - 1] ^= 1;
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.atrace");
    fs::write(&path, &bytes).unwrap();
    let mut recording = open(&path);
    assert_eq!(recording.rows(), open(&files.path).rows());
    let summary = recording.summary((i64::MIN, i64::MAX), 500).unwrap();
    assert_eq!(summed(&summary, (i64::MIN, i64::MAX)).1.len(), 2);
    assert_eq!(recording.warnings(), []);
    let TimeRange { begin, .. } = recording.span().unwrap();
    let window = recording
        .window((begin, begin + 1_000_000), 100_000)
        .unwrap();
    assert!(window.calls().is_empty());
    let warnings = recording.warnings().len();
    assert!(warnings > 0);
    recording
        .window((begin, begin + 1_000_000), 100_000)
        .unwrap();
    assert_eq!(recording.warnings().len(), warnings);
}

#[test]
fn a_file_without_an_index_has_the_same_results() {
    let bare = without(&files().bytes, &[b"SUMM", b"INDX", b"ROOT"]);
    tells_the_same(&bare, "bare.atrace");
}

#[test]
fn a_file_that_lost_an_index_or_its_list_has_the_same_results() {
    let bytes = &files().bytes;
    let rootless = without(bytes, &[b"ROOT"]);
    tells_the_same(&rootless, "rootless.atrace");
    // The first group's index is damaged; those after it are not.
    let (begin, ..) = *chunks(bytes).iter().find(|it| it.2 == *b"INDX").unwrap();
    let mut damaged = bytes.clone();
    damaged[begin + 60] ^= 4;
    tells_the_same(&damaged, "damaged.atrace");
    // Its lanes are, and the coarse ones do.
    let (begin, ..) = *chunks(bytes).iter().find(|it| it.2 == *b"SUMM").unwrap();
    let mut damaged = bytes.clone();
    damaged[begin + 60] ^= 4;
    tells_the_same(&damaged, "coarse.atrace");
}

#[test]
fn a_growing_file_is_taken_in_as_it_grows() {
    let bytes = &files().bytes;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("growing.atrace");
    fs::write(&path, &bytes[..9]).unwrap();
    assert!(matches!(
        Recording::open(&path, |_, _| true),
        Err(OpenError::Short(9))
    ));
    fs::write(&path, &bytes[..5_000]).unwrap();
    let mut recording = open(&path);
    let mut rows = recording.rows();
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    for piece in bytes[5_000..].chunks(700_001) {
        std::io::Write::write_all(&mut file, piece).unwrap();
        assert!(recording.poll().unwrap());
        assert!(!recording.poll().unwrap());
        assert!(recording.rows() >= rows);
        rows = recording.rows();
        // The newest calls are in the trace.
        let TimeRange { end, .. } = recording.span().unwrap();
        let window = recording.window((end - 100_000, end), 100_000).unwrap();
        assert!(!window.calls().is_empty() || !window.tasks().is_empty());
    }
    let whole = &files().whole;
    assert_eq!(rows, (whole.calls().len() + whole.tasks().len()) as u64);
    assert!(recording.complete());
    let TimeRange { begin, end } = recording.span().unwrap();
    let middle = begin + (end - begin) / 2;
    let range = (middle, middle + 4_000_000);
    let window = recording.window(range, 100_000).unwrap();
    same_in(range, &window, whole);
}

#[test]
fn a_short_file_opens_without_an_index_too() {
    let (session, tables) = workload::leading();
    let rows = crate::round_trip::program(40);
    let bytes = crate::round_trip::write(&session, &tables, &rows);
    assert!(chunks(&bytes).iter().all(|chunk| chunk.2 != *b"INDX"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("short.atrace");
    fs::write(&path, &bytes).unwrap();
    let (whole, _) = opened(&path).unwrap();
    let mut recording = open(&path);
    let window = recording
        .window(recording.span().unwrap(), 100_000)
        .unwrap();
    assert_eq!(window.calls().len(), whole.calls().len());
    assert_eq!(window.tasks().len(), whole.tasks().len());
}

#[test]
fn reading_can_be_stopped() {
    let bare = without(&files().bytes, &[b"SUMM", b"INDX", b"ROOT"]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bare.atrace");
    fs::write(&path, &bare).unwrap();
    let mut seen = Vec::new();
    let stopped = Recording::open(&path, |done, all| {
        seen.push((done, all));
        seen.len() < 10
    });
    assert!(matches!(stopped, Err(OpenError::Stopped)));
    assert!(seen.is_sorted() && seen.len() == 10);
}
