use std::fs;
use std::sync::Mutex;

use ascend_trace_format::record::Counter;
use ascend_trace_recording::file::Encoder;
use ascend_trace_recording::rows::{CallRow, CounterRow, EndRow, Row, TablesRow};
use ascend_trace_testkit::whole::opened;

use super::*;
use crate::target;

const SECOND: i64 = 1_000_000_000;

struct Recording {
    _folder: tempfile::TempDir,
    path: PathBuf,
    writer: ChunkWriter<TraceOutput>,
    ring: Ring,
    board: Arc<Switchboard>,
    longest: u64,
}

impl Recording {
    fn new(retention: Retention) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.atrace");
        let (file, new) = target::provisional(&path).unwrap();
        fs::rename(&new, &path).unwrap();
        let session = SessionRow::default();
        let output = TraceOutput::new(file, true);
        let board = Arc::<Switchboard>::default();
        let options = RingOptions {
            retention,
            keep: 2,
            after: Duration::ZERO,
            rules: TriggerRules::default(),
        };
        let ring = Ring::new(
            options,
            session.clone(),
            path.clone(),
            |text| SAID.lock().unwrap().push(text.to_owned()),
            Arc::clone(&board),
        );
        Self {
            writer: ChunkWriter::create(output, &session, &TablesRow::default()).unwrap(),
            _folder: folder,
            path,
            ring,
            board,
            longest: 0,
        }
    }

    /// Writes a batch with a call of this second.
    fn second(&mut self, second: i64) {
        self.counted(second, 0);
    }

    /// The same, with the number of calls that the filters have left out until then.
    fn counted(&mut self, second: i64, left_out: u64) {
        let mut encoder = Encoder::new();
        if left_out > 0 {
            encoder.push(&Row::Counter(CounterRow {
                process: 0,
                what: Counter::FilteredCalls as u16,
                value: left_out,
            }));
        }
        encoder.push(&Row::Call(CallRow {
            begin_ns: second * SECOND,
            end_ns: second * SECOND + 1,
            // Something that does not pack.
            args: (0..20)
                .map(|it| (second as u64 + it).wrapping_mul(0x9e37_79b9_7f4a_7c15))
                .collect(),
            ..CallRow::default()
        }));
        let place = self.writer.length();
        self.writer.write(&encoder.seal()).unwrap();
        self.ring.wrote(place, second * SECOND + 2);
        self.ring.turn(&mut self.writer, second * SECOND + 2);
        self.longest = self.longest.max(fs::metadata(&self.path).unwrap().len());
    }

    /// Waits for a thread that shortens the file.
    fn settle(&mut self, now: i64) {
        while let Some(rewriting) = &self.ring.rewriting {
            if rewriting.is_done() {
                self.ring.turn(&mut self.writer, now * SECOND);
            }
            std::thread::yield_now();
        }
    }

    fn end(mut self) -> (Vec<i64>, u64) {
        self.ring.finish(&mut self.writer);
        self.ring.join_snapshots();
        let mut encoder = Encoder::new();
        encoder.push(&Row::End(EndRow::default()));
        self.writer.write(&encoder.seal()).unwrap();
        (seconds(&self.path), self.longest)
    }
}

static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The seconds with calls in a file.
fn seconds(path: &std::path::Path) -> Vec<i64> {
    let (trace, warnings) = opened(path).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    let calls = trace.calls().iter().map(|it| it.begin / SECOND);
    calls.collect()
}

#[test]
fn a_file_has_the_wanted_time_and_no_more_than_twice_as_much() {
    let mut recording = Recording::new(Retention::Time(Duration::from_secs(10)));
    for second in 0..200 {
        recording.second(second);
        // Further batches come while a new file is written.
        if second % 3 == 0 {
            recording.settle(second);
        }
        let begin = recording.ring.since_ns().unwrap_or(0) / SECOND;
        assert!(second - begin <= 25, "{begin} to {second}");
        assert!(begin == 0 || second - begin >= 9, "{begin} to {second}");
    }
    let begin = recording.ring.since_ns().unwrap() / SECOND + 1;
    let (calls, _) = recording.end();
    assert_eq!(calls, (begin..200).collect::<Vec<_>>());
}

#[test]
fn a_file_has_no_more_than_the_wanted_bytes() {
    let mut recording = Recording::new(Retention::Bytes(16_384));
    for second in 0..1000 {
        recording.second(second);
        recording.settle(second);
    }
    let begin = recording.ring.since_ns().unwrap() / SECOND + 1;
    let batch = 400;
    assert!(recording.longest <= 16_384 + batch, "{}", recording.longest);
    assert!(recording.writer.length() >= 8_192 - batch);
    let (calls, _) = recording.end();
    assert_eq!(calls, (begin..1000).collect::<Vec<_>>());
}

#[test]
fn snapshots_have_the_content_of_the_ring_and_the_oldest_is_removed() {
    let mut recording = Recording::new(Retention::Time(Duration::from_secs(10)));
    let board = Arc::clone(&recording.board);
    for second in 0..60 {
        recording.second(second);
        recording.settle(second);
        if second % 20 == 19 {
            let request = SnapshotRequest {
                at_ns: second * SECOND,
                reason: format!("second {second}"),
                origin: SnapshotOrigin::Request,
            };
            let (writer, now) = (&recording.writer, second * SECOND + 3);
            recording.ring.snapshot(writer, request, None, now);
            recording.ring.join_snapshots();
        }
    }
    let snapshots = board.snapshots();
    assert_eq!((snapshots.ended, snapshots.files.len()), (3, 2));
    let folder = recording.path.parent().unwrap();
    let names = fs::read_dir(folder).unwrap().count();
    assert_eq!(names, 3, "the recording and two snapshots");
    let numbers = snapshots
        .files
        .iter()
        .zip(["x-snapshot-2.atrace", "x-snapshot-3.atrace"]);
    assert!(numbers.into_iter().all(|(file, name)| file.ends_with(name)));
    for (file, at) in snapshots.files.iter().zip([39, 59]) {
        assert_eq!(seconds(file), (at - 10..=at).collect::<Vec<_>>());
        let (trace, _) = opened(file).unwrap();
        let kept = trace.session().kept.clone().unwrap();
        assert_eq!(kept.snapshot.unwrap().reason, format!("second {at}"));
        let begin = trace.span().unwrap().begin;
        assert!(begin >= kept.since_ns);
    }
}

#[test]
fn a_file_that_was_moved_is_left_alone() {
    let mut recording = Recording::new(Retention::Time(Duration::from_secs(10)));
    (0..15).for_each(|second| recording.second(second));
    let moved = recording.path.with_extension("moved");
    fs::rename(&recording.path, &moved).unwrap();
    fs::write(&recording.path, "another").unwrap();
    for second in 15..60 {
        recording.second(second);
        recording.settle(second);
    }
    assert_eq!(fs::read(&recording.path).unwrap(), b"another");
    let said = SAID.lock().unwrap().clone();
    assert!(said.iter().any(|it| it.contains("moved")), "{said:?}");
    recording.path = moved;
    let (calls, _) = recording.end();
    assert_eq!(calls, (0..60).collect::<Vec<_>>());
}

#[test]
fn batches_stay_for_a_snapshot_that_is_not_due() {
    let mut recording = Recording::new(Retention::Time(Duration::from_secs(10)));
    (0..12).for_each(|second| recording.second(second));
    recording.ring.hold(11 * SECOND);
    for second in 12..60 {
        recording.second(second);
        recording.settle(second);
    }
    let request = SnapshotRequest {
        at_ns: 11 * SECOND,
        reason: String::new(),
        origin: SnapshotOrigin::Request,
    };
    let writer = &recording.writer;
    recording.ring.snapshot(writer, request, None, 60 * SECOND);
    recording.ring.join_snapshots();
    let file = recording.board.snapshots().files.pop_front().unwrap();
    assert_eq!(seconds(&file), (1..60).collect::<Vec<_>>());
}

#[test]
fn a_file_is_shortened_before_its_disk_is_full() {
    let mut recording = Recording::new(Retention::Time(Duration::from_secs(10_000)));
    (0..400).for_each(|second| recording.second(second));
    let length = recording.writer.length();
    assert!(length > SHORTEST, "{length}");
    let now = 400 * SECOND;
    let mut cut = |room| recording.ring.cut(length, room, now);
    assert_eq!(cut(None), None);
    assert_eq!(cut(Some(length)), None);
    // A copy of a good part of the file would not fit: records wait in memory.
    assert_eq!(cut(Some(length / 8)), None);
    let dropped = cut(Some(length - 1)).unwrap();
    assert!((195..205).contains(&dropped), "{dropped} of 400");
    // The file may grow during the copy.
    let dropped = cut(Some(length / 3)).unwrap();
    assert!((295..305).contains(&dropped), "{dropped} of 400");
    let said = SAID.lock().unwrap().clone();
    assert!(said.iter().any(|it| it.contains("little room")), "{said:?}");
    // The data is for a snapshot.
    recording.ring.hold(300 * SECOND);
    assert_eq!(recording.ring.cut(length, Some(length - 1), now), None);
}

#[test]
fn a_reason_cannot_command_the_terminal() {
    let mut recording = Recording::new(Retention::Time(Duration::from_secs(10)));
    recording.second(0);
    let request = SnapshotRequest {
        at_ns: 0,
        reason: "red\n\u{1b}[31m".to_owned(),
        origin: SnapshotOrigin::Request,
    };
    let writer = &recording.writer;
    recording.ring.snapshot(writer, request, None, SECOND);
    recording.ring.join_snapshots();
    let said = SAID.lock().unwrap().clone();
    let line = said.iter().find(|it| it.contains("red")).unwrap();
    assert!(line.contains(r"(red\n\u{1b}[31m)"), "{line}");
}

/// A batch each five minutes for three weeks, and 10^11 calls that the filters left out.
#[test]
fn a_ring_of_weeks_has_its_last_hour_and_all_counts() {
    const BATCH: i64 = 300;
    const WEEKS: i64 = 3 * 7 * 24 * 3600;
    const LEFT_OUT: u64 = 100_000_000_000;
    let mut recording = Recording::new(Retention::Time(Duration::from_secs(3600)));
    let board = Arc::clone(&recording.board);
    for second in (0..=WEEKS).step_by(BATCH as usize) {
        let part = u128::from(LEFT_OUT) * u128::from(second as u64) / WEEKS as u128;
        recording.counted(second, part as u64);
        recording.settle(second);
        assert!(recording.ring.batches.len() <= 2 * 3600 / BATCH as usize + 2);
        // A snapshot each day.
        if second % (24 * 3600) == 0 && second > 0 {
            let request = SnapshotRequest {
                at_ns: second * SECOND,
                reason: format!("day {}", second / (24 * 3600)),
                origin: SnapshotOrigin::Rule,
            };
            let (writer, now) = (&recording.writer, second * SECOND + 3);
            recording.ring.snapshot(writer, request, None, now);
            recording.ring.join_snapshots();
            let last = board.snapshots().files.back().cloned().unwrap();
            let found = seconds(&last);
            assert_eq!(found.last(), Some(&second));
            assert_eq!(found.first(), Some(&(second - 3600)));
        }
    }
    assert_eq!(board.snapshots().ended, 21);
    assert!(recording.longest < 64 << 10, "{} bytes", recording.longest);
    let path = recording.path.clone();
    let folder = path.parent().unwrap().to_owned();
    let begin = recording.ring.since_ns().unwrap() / SECOND;
    assert!(
        (3600..=2 * 3600 + BATCH).contains(&(WEEKS - begin)),
        "{begin}"
    );
    recording.ring.finish(&mut recording.writer);
    let mut encoder = Encoder::new();
    encoder.push(&Row::End(EndRow::default()));
    recording.writer.write(&encoder.seal()).unwrap();
    let (trace, warnings) = opened(&path).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!(trace.filtered_calls(), LEFT_OUT);
    // The ring and the snapshots that stay; no file is left over.
    assert_eq!(fs::read_dir(folder).unwrap().count(), 3);
}
