use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;

use ascend_trace_recording::file::recognise;
use ascend_trace_recording::rows::*;
use ascend_trace_recording::{OpenError, Recording};
use ascend_trace_testkit::whole::opened;
use ascend_trace_testkit::workload;

use crate::round_trip::{program, write};

fn file(steps: u32) -> Vec<u8> {
    let (session, tables) = workload::leading();
    write(&session, &tables, &program(steps))
}

fn open(path: &Path) -> Recording {
    Recording::open(path, |_, _| true).unwrap()
}

#[test]
fn a_growing_file_gives_the_results_of_the_finished_one() {
    let bytes = file(400);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("growing.atrace");
    let mut out = File::create(&path).unwrap();
    // Pieces that respect no chunk, the first ones within the header.
    let mut rest = bytes.as_slice();
    for size in [3, 9] {
        let (piece, after) = rest.split_at(size);
        out.write_all(piece).unwrap();
        rest = after;
        assert!(!recognise(&path).unwrap());
    }
    let (piece, mut rest) = rest.split_at(4);
    out.write_all(piece).unwrap();
    assert!(recognise(&path).unwrap());
    let mut recording = open(&path);
    for size in [1, 30, 1000].into_iter().chain(std::iter::repeat(7001)) {
        let (piece, after) = rest.split_at(size.min(rest.len()));
        out.write_all(piece).unwrap();
        rest = after;
        recording.poll().unwrap();
        assert_eq!(recording.complete(), rest.is_empty());
        if rest.is_empty() {
            break;
        }
    }
    assert_eq!(recording.warnings(), []);
    let (whole, warnings) = opened(&path).unwrap();
    assert_eq!(warnings, []);
    let grown = recording.window((i64::MIN, i64::MAX), u64::MAX).unwrap();
    assert_eq!(grown.calls(), whole.calls());
    assert_eq!(grown.tasks().len(), whole.tasks().len());
    for (grown, whole) in grown.tasks().iter().zip(whole.tasks()) {
        assert_eq!(
            (grown.stream, grown.sequence),
            (whole.stream, whole.sequence)
        );
        // The index keeps the tightest bounds on a clock.
        let (grown, whole) = (grown.time.unwrap(), whole.time.unwrap());
        let apart = (grown.begin - whole.begin)
            .abs()
            .max((grown.end - whole.end).abs());
        assert!(apart <= grown.error.min(whole.error), "{grown:?} {whole:?}");
    }
    assert!(whole.tasks().iter().all(|task| task.time.is_some()));
}

#[test]
fn lists_are_in_order_after_every_poll() {
    let bytes = file(100);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("growing.atrace");
    let (head, rest) = bytes.split_at(16);
    fs::write(&path, head).unwrap();
    let mut recording = open(&path);
    for piece in rest.chunks(900) {
        OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap()
            .write_all(piece)
            .unwrap();
        recording.poll().unwrap();
        let trace = recording.window((i64::MIN, i64::MAX), u64::MAX).unwrap();
        for (stream, _) in trace.streams().iter().enumerate() {
            let lane = trace.stream_tasks(ascend_trace_recording::StreamId(stream as u32));
            let ends: Vec<_> = lane.iter().filter_map(|id| trace.task(*id).time).collect();
            assert!(ends.is_sorted_by_key(|time| time.begin));
        }
    }
}

#[test]
fn a_recording_that_was_killed_is_read_to_its_last_whole_chunk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("killed.atrace");
    let whole = file(5);
    // Without its end chunk, and half of one more.
    let end = whole
        .windows(4)
        .rposition(|bytes| bytes == b"END ")
        .unwrap()
        - 4;
    fs::write(&path, &whole[..end + 11]).unwrap();
    let (trace, warnings) = opened(&path).unwrap();
    assert_eq!(trace.end(), None);
    let calls = program(5)
        .iter()
        .filter(|row| matches!(row, Row::Call(_)))
        .count();
    assert_eq!(trace.calls().len(), calls);
    assert_eq!(warnings.len(), 2);
    assert!(
        warnings[0].to_string().contains("its last 11 bytes"),
        "{}",
        warnings[0]
    );
    assert!(
        warnings[1].to_string().contains("no end"),
        "{}",
        warnings[1]
    );
}

#[test]
fn a_file_that_becomes_shorter_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replaced.atrace");
    fs::write(&path, file(2)).unwrap();
    let mut recording = open(&path);
    File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(40)
        .unwrap();
    assert!(matches!(recording.poll(), Err(OpenError::Shrunk)));
}

#[test]
fn a_foreign_file_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    fs::write(&path, "these are notes").unwrap();
    assert!(matches!(recognise(&path), Err(OpenError::NotATrace)));
    assert!(matches!(opened(&path), Err(OpenError::NotATrace)));
    fs::write(&path, "").unwrap();
    assert!(matches!(opened(&path), Err(OpenError::Empty)));
    let missing = opened(folder.path().join("nothing")).unwrap_err();
    assert!(matches!(missing, OpenError::Io(_)));
}
