//! Results of reading a recording part by part equal those of its whole trace: for every example, as it
//! was written, while it grows, and damaged.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::iter;
use std::path::Path;

use ascend_trace_analysis::Stats;
use ascend_trace_analysis::stats::StreamStats;
use ascend_trace_recording::recording::FileCounts;
use ascend_trace_recording::{Recording, StreamId, ThreadId, Trace};
use ascend_trace_testkit::whole::opened;

use crate::examples;
use crate::support::Run;

/// A file that was followed has its clocks from bounds that were known one after another. On a machine that is too busy
/// to compare clocks well, times differ by more, and their errors say so.
const NEAR_NS: i64 = 5_000;
/// Looks at a file that grows, and damaged bytes.
const PLACES: usize = 9;
/// As docs/FORMAT.md has it.
const FILE_HEADER: usize = 16;
const CHUNK_HEADER: usize = 20;

/// A time of a recording, which may be that of a task.
#[track_caller]
fn near(found: i64, expected: i64, open: i64, what: &str) {
    let off = (found - expected).abs();
    assert!(off <= open, "{what}, {open}: {found}, {expected}");
}

/// How far off the task is that is known worst.
fn worst(trace: &Trace) -> i64 {
    let times = trace.tasks().iter().filter_map(|task| task.time);
    times.map(|time| time.error).max().unwrap_or(0)
}

/// Results of `info`.
#[track_caller]
fn same_info(whole: &Trace, archive: &mut Recording, what: &str) {
    assert_eq!(archive.counts(), FileCounts::of(whole), "{what}");
    assert_eq!(archive.entities().losses(), whole.losses(), "{what}");
    assert_eq!(archive.entities().end(), whole.end(), "{what}");
    assert_eq!(archive.span().is_some(), whole.span().is_some(), "{what}");
    if let (Some(found), Some(expected)) = (archive.span(), whole.span()) {
        let window = archive.window(found, u64::MAX).unwrap();
        let open = NEAR_NS.max(worst(whole) + worst(&window));
        near(found.begin, expected.begin, open, what);
        near(found.end, expected.end, open, what);
    }
    for counter in 1..=16 {
        let (found, expected) = (archive.entities().counter(counter), whole.counter(counter));
        assert_eq!(found, expected, "{what}: counter {counter}");
    }
}

/// Results of `stats`.
#[track_caller]
fn same_stats(whole: &Trace, archive: &mut Recording, what: &str) {
    let mut expected = Stats::of(whole);
    let span = archive.span();
    let window = archive.window(span.unwrap_or_default(), u64::MAX).unwrap();
    let mut found = Stats::of_recording(archive, span, |_| true)
        .unwrap()
        .unwrap();
    for stats in [&mut found, &mut expected] {
        let place = |it: &StreamStats| (it.pid, it.device, it.stream_id);
        stats.streams.sort_by_key(place);
    }
    assert_eq!(found.apis, expected.apis, "{what}");
    assert_eq!(found.streams.len(), expected.streams.len(), "{what}");
    for (found, expected) in found.streams.iter().zip(&expected.streams) {
        assert_eq!(
            (found.stream_id, found.tasks, found.untimed),
            (expected.stream_id, expected.tasks, expected.untimed),
            "{what}"
        );
        let off = (found.busy_ns - expected.busy_ns).abs();
        let open = left_open([whole, &window], expected);
        assert!(off <= open, "{what}, {open}: {found:?} {expected:?}");
    }
    let counts = |stats: &Stats| -> BTreeMap<_, _> {
        let all = stats.operations.iter();
        all.map(|it| (it.name.clone(), it.count)).collect()
    };
    assert_eq!(counts(&found), counts(&expected), "{what}");
    let threads = |stats: &Stats| -> BTreeMap<_, _> {
        let all = stats.threads.iter();
        all.map(|it| ((it.pid, it.tid), (it.calls, it.in_calls_ns)))
            .collect()
    };
    assert_eq!(threads(&found), threads(&expected), "{what}");
}

/// How much the busy time of a stream may differ between readers with different bounds: begin and end
/// of each task have the error of the reader.
fn left_open(readers: [&Trace; 2], stats: &StreamStats) -> i64 {
    let open = readers.map(|trace| {
        let ids = (0..trace.streams().len() as u32).map(StreamId);
        let own = ids.filter(|id| {
            let stream = trace.stream(*id);
            let process = trace.process(stream.process);
            (process.serial, stream.device, stream.number())
                == (stats.process, stats.device, stats.stream_id)
        });
        let tasks = own.flat_map(|id| trace.stream_tasks(id));
        let times = tasks.filter_map(|id| trace.task(*id).time);
        times.map(|time| 2 * time.error).sum::<i64>()
    });
    let nearly = NEAR_NS * (stats.tasks as i64 + 1);
    nearly.max(open.iter().sum())
}

/// A file that may still grow: a call that lasts long is under way then, and not among the calls.
fn open(path: &Path) -> (Trace, Recording) {
    let mut archive = Recording::open(path, |_, _| true).unwrap();
    (archive.whole().unwrap(), archive)
}

/// The places between the leading chunks, which no reader can do without, and the end.
fn places(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let length = bytes.len();
    let mut first = FILE_HEADER;
    for _ in 0..2 {
        let size = bytes[first + 8..first + 12].try_into().unwrap();
        first += CHUNK_HEADER + u32::from_le_bytes(size) as usize;
    }
    (0..PLACES).map(move |place| first + (length - first) * place / PLACES)
}

/// Followed from the first look on, the file is known as if it were opened at each.
fn while_it_grows(bytes: &[u8], path: &Path, what: &str) {
    File::create(path).unwrap();
    let mut written = 0;
    let mut followed: Option<Recording> = None;
    for place in places(bytes).chain([bytes.len()]) {
        let mut file = OpenOptions::new().append(true).open(path).unwrap();
        file.write_all(&bytes[written..place]).unwrap();
        written = place;
        let (whole, fresh) = open(path);
        let archive = followed.get_or_insert(fresh);
        archive.poll().unwrap();
        same_info(&whole, archive, &format!("{what}, {place} bytes"));
    }
    let mut archive = followed.unwrap();
    same_stats(&opened(path).unwrap().0, &mut archive, what);
}

/// Threads that the file has lost have their numbers in the order in which they are met.
fn sizes(threads: &BTreeMap<ThreadId, u64>) -> Vec<u64> {
    let mut sizes: Vec<u64> = threads.values().copied().collect();
    sizes.sort_unstable();
    sizes
}

/// The comparisons of clocks.
fn anchors(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let mut at = FILE_HEADER;
    iter::from_fn(move || {
        let header = bytes.get(at..at + CHUNK_HEADER)?;
        let begin = at + CHUNK_HEADER;
        at = begin + u32::from_le_bytes(header[8..12].try_into().unwrap()) as usize;
        Some((&header[4..8] == b"ANCH").then_some(begin))
    })
    .flatten()
}

/// One reader does without the same parts as the other. But a recording counts times of tasks that are
/// lost with their calls, and not the events of calls without them. And it has its clocks from the
/// index, which knows the comparisons also where they are lost themselves.
fn damaged(bytes: &[u8], path: &Path, what: &str) {
    for place in places(bytes).chain(anchors(bytes)) {
        let mut bytes = bytes.to_owned();
        bytes[place] ^= 0x10;
        std::fs::write(path, &bytes).unwrap();
        let (whole, mut archive) = open(path);
        let what = format!("{what}, damaged at {place}");
        let (found, expected) = (archive.counts(), FileCounts::of(&whole));
        assert_eq!(found.functions, expected.functions, "{what}");
        assert_eq!(sizes(&found.threads), sizes(&expected.threads), "{what}");
        assert_eq!(
            (found.calls, found.errors, found.tasks, &found.kinds),
            (
                expected.calls,
                expected.errors,
                expected.tasks,
                &expected.kinds
            ),
            "{what}"
        );
        same_stats(&whole, &mut archive, &what);
    }
}

#[test]
fn a_recording_read_part_by_part_gives_the_results_of_the_whole_trace() {
    for program in examples::all() {
        let recording = Run::new(&program).traced();
        let path = recording.trace();
        let name = program.file_name().unwrap().to_string_lossy();
        let (whole, mut archive) = open(&path);
        same_info(&whole, &mut archive, &name);
        same_stats(&whole, &mut archive, &name);
        let bytes = std::fs::read(&path).unwrap();
        while_it_grows(&bytes, &recording.beside("growing"), &name);
        damaged(&bytes, &recording.beside("damaged"), &name);
    }
}
