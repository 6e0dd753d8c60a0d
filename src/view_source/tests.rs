//! Long recordings, finished and growing, as the view gets them.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ascend_trace_analysis::memory::MemoryPlace;
use ascend_trace_recording::file::Writer;
use ascend_trace_recording::rows::{CallRow, EndRow, Row};
use ascend_trace_recording::{ProcessId, TimeRange};
use ascend_trace_testkit::Timeline;
use ascend_trace_testkit::recording::indexed;
use ascend_trace_testkit::workload::{self, Workload};
use ascend_trace_viewer::{
    ExportJob, Job, JobNews, JobProgress, RecorderCounts, RecordingState, TraceSource,
};

use super::FileSource;
use crate::cli::trace_files::TraceFiles;
use crate::log::LogBook;
use ascend_trace_collector::gauge::{self as collector, Gauge};

/// Too long to be read as a whole.
fn long_file() -> Vec<u8> {
    let (session, tables) = workload::leading();
    let mut writer = Writer::create(Vec::new(), &session, &tables).unwrap();
    let workload = Workload {
        steps: 9_000,
        ..Workload::default()
    };
    let mut last = None;
    workload::run(workload, |row| {
        if let Some(row) = last.replace(row) {
            writer.push(row).unwrap();
        }
    });
    let end = EndRow {
        end_ns: 1,
        exit_status: 5,
        ..EndRow::default()
    };
    writer.finish(end).unwrap()
}

/// Polls as the view does until something holds.
fn until(source: &mut FileSource, what: &str, holds: impl Fn(&FileSource) -> bool) {
    let begin = Instant::now();
    while !holds(source) {
        source.poll().unwrap();
        source.next_part();
        assert!(begin.elapsed() < Duration::from_secs(300), "no {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn span(source: &FileSource) -> Option<TimeRange> {
    source.overview().span
}

/// A file that this process writes, as far as it has got.
fn recording(path: &Path, bytes: &[u8]) -> FileSource {
    fs::write(path, bytes).unwrap();
    FileSource::recording(path, LogBook::default(), Arc::<Gauge>::default()).unwrap()
}

fn write(path: &Path, bytes: &[u8]) -> FileSource {
    fs::write(path, bytes).unwrap();
    FileSource::open(&TraceFiles::one(path)).unwrap()
}

#[test]
fn a_long_file_is_read_at_the_visible_range() {
    let folder = tempfile::tempdir().unwrap();
    let mut source = write(&folder.path().join("long.atrace"), &long_file());
    assert!(source.trace().calls().is_empty());
    until(&mut source, "span", |it| span(it).is_some());
    let TimeRange { begin, end } = span(&source).unwrap();
    // What there is to draw comes after the span, with the first part.
    until(&mut source, "streams", |it| it.trace().streams().len() == 4);
    // All of it is too much to be read call by call.
    source.look_at(TimeRange::new(begin, end));
    until(&mut source, "answer", |it| !it.is_loading());
    assert!(source.trace().calls().is_empty());
    assert!(source.overview().loaded.is_none());
    let middle = begin + (end - begin) / 2;
    source.look_at(TimeRange::new(middle, middle + 1_000_000));
    until(&mut source, "part", |it| !it.trace().calls().is_empty());
    let loaded = source.overview().loaded.unwrap();
    assert!(loaded.covers(TimeRange::new(middle, middle + 1_000_000)));
    let progress = source.poll().unwrap();
    assert_eq!(progress.recording, RecordingState::Ended { status: 5 });
}

#[test]
fn a_recording_that_grows_long_is_followed_on() {
    let bytes = long_file();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("growing.atrace");
    let mut source = recording(&path, &bytes[..200_000]);
    until(&mut source, "calls", |it| !it.trace().calls().is_empty());
    assert!(source.overview().is_whole());
    let mut file: File = OpenOptions::new().append(true).open(&path).unwrap();
    let mut rest = &bytes[200_000..];
    let mut last = 0;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.len().min(400_000));
        rest = after;
        file.write_all(piece).unwrap();
        // The screen never shows less than before, except for changes of the clocks, also where it
        // switches to parts.
        let moved = |it: &FileSource| {
            let newest = it.newest().unwrap_or(i64::MIN);
            assert!(newest + 1_000_000 > last, "the screen went back");
            newest > last
        };
        let begin = Instant::now();
        until(&mut source, "news", moved);
        println!("{} bytes: seen after {:.1?}", piece.len(), begin.elapsed());
        last = source.newest().unwrap();
        source.look_at(TimeRange::new(last - 2_000_000, last));
    }
    assert!(!source.overview().is_whole());
    until(&mut source, "end", |it| it.trace().end().is_some());
    until(&mut source, "calls", |it| !it.trace().calls().is_empty());
}

#[test]
fn a_file_that_is_no_trace_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    fs::write(&path, vec![b'x'; 3 << 20]).unwrap();
    assert!(FileSource::open(&TraceFiles::one(&path)).is_err());
}

/// Waits for the last news of an export.
fn exported(source: &mut FileSource) -> JobNews {
    let begin = Instant::now();
    loop {
        match source.news() {
            Some(JobNews::Reached(1, JobProgress::Part(done, all))) => assert!(done <= all),
            Some(news) => return news,
            None => std::thread::sleep(Duration::from_millis(1)),
        }
        assert!(begin.elapsed() < Duration::from_secs(300), "no export");
    }
}

fn export(source: &mut FileSource, path: String, range: Option<TimeRange>) {
    let number = 1;
    source.start(Job::Export(ExportJob {
        number,
        path,
        range,
    }));
}

#[test]
fn all_and_ranges_are_exported_by_the_name_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut source = write(&folder.path().join("long.atrace"), &long_file());
    until(&mut source, "span", |it| span(it).is_some());
    let TimeRange { begin, end } = span(&source).unwrap();
    let name = |name: &str| folder.path().join(name).display().to_string();
    let range = Some(TimeRange::new(begin, begin + (end - begin) / 20));
    for (file, range) in [("part.json", range), ("part.pftrace.gz", range)] {
        export(&mut source, name(file), range);
        let news = exported(&mut source);
        assert!(
            matches!(&news, JobNews::Done(1, text) if text.contains(file)),
            "{news:?}"
        );
    }
    let text = fs::read_to_string(name("part.json")).unwrap();
    assert!(text.starts_with('{') && text.contains("MatMul"));
    assert_eq!(
        fs::read(name("part.pftrace.gz")).unwrap()[..2],
        [0x1f, 0x8b]
    );
    // Existing files are not replaced, and unknown formats are refused.
    let refused = |source: &mut FileSource, file: &str| {
        export(source, name(file), None);
        match source.news() {
            Some(JobNews::Failed(1, text)) => text,
            other => panic!("{file} is not refused: {other:?}"),
        }
    };
    assert!(refused(&mut source, "part.json").contains("exists"));
    assert!(refused(&mut source, "part.txt").contains(".pftrace"));
}

#[test]
fn an_export_that_is_stopped_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut source = write(&folder.path().join("long.atrace"), &long_file());
    let path = folder.path().join("all.json");
    export(&mut source, path.display().to_string(), None);
    source.stop(1);
    let news = exported(&mut source);
    assert!(
        matches!(&news, JobNews::Failed(1, text) if text.contains("stopped")),
        "{news:?}"
    );
    let left = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 1, "only the trace");
}

/// Bytes that this thread has read. `None` where the kernel does not count them.
fn read_so_far() -> Option<u64> {
    let counts = fs::read_to_string("/proc/thread-self/io").ok()?;
    let line = counts.lines().find_map(|line| line.strip_prefix("rchar: "));
    line?.parse().ok()
}

/// A stopped view, or one with a blocked terminal, lets nothing pile up.
#[test]
fn parts_out_of_view_are_not_read() {
    let bytes = long_file();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ignored.atrace");
    let mut source = recording(&path, &bytes[..200_000]);
    until(&mut source, "calls", |it| !it.trace().calls().is_empty());
    let shown = source.trace().calls().len();
    let mut file: File = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(&bytes[200_000..]).unwrap();
    // It polls, but takes nothing.
    let begin = Instant::now();
    while source.loader.waiting() == 0 {
        source.poll().unwrap();
        assert!(begin.elapsed() < Duration::from_secs(300), "nothing comes");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(source.trace().calls().len(), shown, "it is unchanged");
    until(&mut source, "end", |it| it.trace().end().is_some());
}

/// The recorder's counts are shown at once, for any read part of the file.
#[test]
fn counts_of_the_recorder_need_no_file() {
    let bytes = long_file();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counted.atrace");
    fs::write(&path, &bytes[..200_000]).unwrap();
    let gauge = Arc::<Gauge>::default();
    let log = LogBook::default();
    let mut source = FileSource::recording(&path, log, Arc::clone(&gauge)).unwrap();
    until(&mut source, "calls", |it| !it.trace().calls().is_empty());
    let counted = RecorderCounts {
        calls: 1_000_000_000,
        lost: 77,
    };
    gauge.publish(collector::RecordedCounts {
        calls: counted.calls,
        lost: counted.lost,
    });
    let progress = source.poll().unwrap();
    assert_eq!(progress.counted, Some(counted));
    assert!(progress.lag.is_some(), "it is behind");
    assert_eq!(progress.recording, RecordingState::Running);
}

/// The drawing thread reads nothing of a recording, for any growth between two frames.
#[test]
fn the_drawing_thread_does_not_read_new_data() {
    /// The kernel's counts themselves, which are read as well.
    const OTHERS: u64 = 4096;
    if read_so_far().is_none() {
        eprintln!("skipped: the kernel does not count the reads of a thread");
        return;
    }
    let bytes = long_file();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fast.atrace");
    let mut source = recording(&path, &bytes[..200_000]);
    let mut file: File = OpenOptions::new().append(true).open(&path).unwrap();
    for piece in bytes[200_000..].chunks(300_000) {
        file.write_all(piece).unwrap();
        let before = read_so_far().unwrap();
        source.poll().unwrap();
        source.next_part();
        let read = read_so_far().unwrap() - before;
        assert!(read < OTHERS, "{read} bytes in one frame");
    }
    until(&mut source, "end", |it| it.trace().end().is_some());
}

/// A recording that is too long to be read as a whole: every 500th call allocates 64 bytes, and every second of these is freed at once.
fn long_file_with_memory() -> Vec<u8> {
    const CALLS: i64 = 200_000;
    let text = "t1: aclrtMalloc(64,4096)[0..1us] aclrtFree(4096)[2us..3us] aclrtQueryEventStatus(1)[4us..5us]";
    let timeline = Timeline::of(text);
    let calls = timeline.rows.iter().filter_map(|row| match row {
        Row::Call(call) => Some(call.clone()),
        _ => None,
    });
    let calls: Vec<CallRow> = calls.collect();
    let others = timeline.rows.into_iter();
    let mut rows: Vec<Row> = others
        .filter(|it| !matches!(it, Row::Call(_) | Row::End(_)))
        .collect();
    for number in 0..CALLS {
        let (kind, address) = match number % 1_000 {
            0 | 500 => (0, 4096 * (1 + number as u64)),
            501 => (1, 4096 * number as u64),
            _ => (2, 0),
        };
        let mut call = calls[kind].clone();
        (call.begin_ns, call.end_ns) = (number * 1_000, number * 1_000 + 500);
        if address != 0 {
            call.args[0] = address;
        }
        rows.push(Row::Call(call));
    }
    rows.push(Row::End(EndRow {
        end_ns: CALLS * 1_000,
        ..EndRow::default()
    }));
    indexed(5_000, &timeline.session, &timeline.tables, rows)
}

#[test]
fn the_memory_of_a_long_file_is_read_in_the_background() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = long_file_with_memory();
    let mut source = write(&folder.path().join("memory.atrace"), &bytes);
    until(&mut source, "memory", |it| it.overview().memory.is_some());
    assert!(!source.overview().is_whole());
    let curves = source.overview().memory.clone().unwrap();
    let curve = curves.get(ProcessId(0), MemoryPlace::Device(0)).unwrap();
    assert_eq!((curve.peak_bytes, curve.end_bytes()), (201 * 64, 200 * 64));
    assert_eq!(curve.peak_at_ns, 199_500_500);
    let bounds = curve.bounds((100_000_700, 100_000_700));
    assert_eq!((bounds.least, bounds.most), (101 * 64, 101 * 64));
    assert_eq!(curves.until, i64::MAX);
}
