use std::fs::{self, File, OpenOptions};
use std::io::Write;

use ascend_trace_model::rows::*;
use ascend_trace_model::{Follower, OpenError, Trace};
use ascend_trace_testkit::workload;

use crate::round_trip::{program, write};

fn file(steps: u32) -> Vec<u8> {
    let (session, tables) = workload::leading();
    write(&session, &tables, &program(steps))
}

#[test]
fn a_growing_file_gives_what_the_finished_one_gives() {
    let bytes = file(400);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("growing.atrace");
    let mut out = File::create(&path).unwrap();
    let mut follower = Follower::open(&path).unwrap();
    let mut seen = 0;
    // Pieces that respect no chunk, the first ones within the header.
    let mut rest = bytes.as_slice();
    for size in [3, 9, 4, 1, 30, 1000]
        .into_iter()
        .chain(std::iter::repeat(7001))
    {
        let (piece, after) = rest.split_at(size.min(rest.len()));
        out.write_all(piece).unwrap();
        rest = after;
        let progress = follower.poll().unwrap();
        seen += progress.rows;
        assert_eq!(progress.complete, rest.is_empty());
        assert_eq!(follower.poll().unwrap().rows, 0);
        if rest.is_empty() {
            break;
        }
    }
    assert_eq!(seen as usize, program(400).len() + 1);
    assert_eq!(follower.warnings(), []);
    let (whole, warnings) = Trace::open(&path).unwrap();
    assert_eq!(warnings, []);
    let grown = follower.trace();
    assert_eq!(grown.calls(), whole.calls());
    assert_eq!(grown.tasks(), whole.tasks());
    assert_eq!(grown.span(), whole.span());
    assert_eq!(grown.clocks(), whole.clocks());
    assert!(whole.tasks().iter().all(|task| task.time.is_some()));
}

#[test]
fn one_look_takes_no_more_than_it_may() {
    let bytes = file(6_000);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fast.atrace");
    fs::write(&path, &bytes).unwrap();
    let mut follower = Follower::open(&path).unwrap();
    let mut looks = Vec::new();
    loop {
        let progress = follower.poll_within(1).unwrap();
        assert_eq!(progress.more, !progress.complete);
        looks.push(progress.rows);
        if progress.complete {
            break;
        }
    }
    assert_eq!(follower.position(), bytes.len() as u64);
    let all: u64 = looks.iter().sum();
    let most = looks.iter().max().unwrap();
    assert!(most * 4 < all, "{most} of {all} rows in one look");
    let (whole, _) = Trace::open(&path).unwrap();
    assert_eq!(follower.trace().calls(), whole.calls());
    assert_eq!(follower.trace().tasks(), whole.tasks());
}

#[test]
fn lists_are_in_order_after_every_poll() {
    let bytes = file(100);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("growing.atrace");
    fs::write(&path, b"").unwrap();
    let mut follower = Follower::open(&path).unwrap();
    for piece in bytes.chunks(900) {
        OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap()
            .write_all(piece)
            .unwrap();
        follower.poll().unwrap();
        let trace = follower.trace();
        for (stream, _) in trace.streams().iter().enumerate() {
            let lane = trace.stream_tasks(ascend_trace_model::StreamId(stream as u32));
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
    let (trace, warnings) = Trace::open(&path).unwrap();
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
    let mut follower = Follower::open(&path).unwrap();
    follower.poll().unwrap();
    File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(40)
        .unwrap();
    assert!(matches!(follower.poll(), Err(OpenError::Shrunk)));
}

#[test]
fn a_foreign_file_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    fs::write(&path, "these are notes").unwrap();
    assert!(matches!(Follower::open(&path), Err(OpenError::NotATrace)));
    assert!(matches!(Trace::open(&path), Err(OpenError::NotATrace)));
    fs::write(&path, "").unwrap();
    assert!(matches!(Trace::open(&path), Err(OpenError::Empty)));
    let missing = Trace::open(folder.path().join("nothing")).unwrap_err();
    assert!(matches!(missing, OpenError::Io(_)));
}
