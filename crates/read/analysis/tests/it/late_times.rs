//! Times of tasks come late, early, in any order, twice or never: every reader finds the same ones.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

use ascend_trace_analysis::{AnalysisNeeds, Fold, Stats, Window, WindowSize};
use ascend_trace_format::api::{AnchorSource, TaskKind, Untimed};
use ascend_trace_recording::file::{ChunkWriter, Encoder};
use ascend_trace_recording::recording::FileCounts;
use ascend_trace_recording::rows::{
    AnchorRow, CallRow, EndRow, ProcessRow, Row, StreamRow, TaskRow, TaskTimeRow, ThreadRow,
};
use ascend_trace_recording::{Recording, TimeRange, Trace};
use ascend_trace_testkit::workload;

use super::random::Dice;

/// The number of recordings of a run.
const RECORDINGS: u64 = 1_000;
const STREAMS: u64 = 3;
/// A function of the workload's table.
const COPY: u16 = 0;
/// Rows of a window that is as long as it has to be.
const MANY: u64 = 1 << 20;

/// How late the times of a recording come, after the rows of their calls.
#[derive(Clone, Copy, Debug)]
enum Lateness {
    InPlace,
    UpTo(u64),
    /// Of all streams, or of one stream after the other, or in the opposite order.
    AtEnd,
    StreamByStream,
    Backwards,
}

impl Lateness {
    fn random(dice: &mut Dice) -> Self {
        match dice.roll(7) {
            0 => Self::InPlace,
            1 => Self::UpTo(4),
            2 | 3 => Self::UpTo(150),
            4 => Self::AtEnd,
            5 => Self::StreamByStream,
            _ => Self::Backwards,
        }
    }

    /// The place of a time among the rows of the recording, given the place of its call.
    fn place(self, dice: &mut Dice, place: u64, stream: u64) -> u64 {
        const END: u64 = 1 << 40;
        let place = place << 8;
        match self {
            // Another thread's record of the call comes after it.
            _ if dice.roll(12) == 0 => place.saturating_sub(roll(dice, 4) << 8),
            Self::InPlace => place + 1,
            Self::UpTo(most) => place + 1 + (roll(dice, most) << 8),
            Self::AtEnd => END + place,
            Self::StreamByStream => END + (stream << 32) + place,
            Self::Backwards => END + ((1 << 32) - place),
        }
    }
}

fn roll(dice: &mut Dice, sides: u64) -> u64 {
    dice.roll(sides).unsigned_abs()
}

/// A recording as rows, and which of its tasks have a time: by process, stream and sequence.
struct RandomRecording {
    rows: Vec<Row>,
    timed: BTreeSet<(u32, u32, u32)>,
    /// Of a device no comparison is in the recording.
    has_strange_clock: bool,
}

fn entities() -> Vec<Row> {
    let mut rows = Vec::new();
    for process in 1..=2 {
        rows.push(Row::Process(ProcessRow {
            process,
            pid: process * 10,
            ..ProcessRow::default()
        }));
        rows.push(Row::Thread(ThreadRow {
            thread: process,
            process,
            tid: process * 10,
            ..ThreadRow::default()
        }));
        rows.extend((0..STREAMS as u32).map(|serial| {
            Row::Stream(StreamRow {
                process,
                serial,
                device: process - 1,
                ..StreamRow::default()
            })
        }));
    }
    rows
}

fn made(dice: &mut Dice) -> RandomRecording {
    let lateness = Lateness::random(dice);
    let has_strange_clock = dice.roll(8) == 0;
    // By place.
    let mut rows: Vec<(u64, Row)> = entities().into_iter().map(|row| (0, row)).collect();
    let mut times: Vec<(u64, TaskTimeRow)> = Vec::new();
    let mut calls: BTreeMap<(u32, u32, u32), Untimed> = BTreeMap::new();
    let mut sequences: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut now = 1_000;
    let count = 20 + roll(dice, 70);
    for place in 1..=count {
        now += 10 + dice.roll(400);
        let process = 1 + dice.roll(2) as u32;
        let stream = dice.roll(STREAMS) as u32;
        let sequence = sequences.entry((process, stream)).or_insert(0);
        let untimed = match dice.roll(12) {
            0 => Untimed::NotSampled,
            1 => Untimed::InCallback,
            2 => Untimed::Captured,
            _ => Untimed::Timed,
        };
        let lasts = 1 + dice.roll(600);
        let call = CallRow {
            thread: process,
            function: COPY,
            begin_ns: now,
            end_ns: now + lasts,
            device: Some(process as u8 - 1),
            stream: Some(stream),
            task: (dice.roll(6) > 0).then_some(TaskRow {
                sequence: *sequence,
                kind: TaskKind::Memcpy.code(),
                untimed: untimed.code(),
            }),
            ..CallRow::default()
        };
        let key = (process, stream, *sequence);
        let has_task = call.task.is_some();
        let is_lost = dice.roll(20) == 0;
        if has_task && !is_lost && untimed != Untimed::Captured {
            calls.entry(key).or_insert(untimed);
        }
        if !is_lost {
            rows.push((place << 8, Row::Call(call)));
        }
        if !has_task || untimed == Untimed::Captured {
            continue;
        }
        *sequence += 1;
        // Missing, or twice.
        let row_count = match dice.roll(20) {
            0 | 1 => 0,
            2 => 2,
            _ => 1,
        };
        let row = time(dice, key, now, untimed);
        for _ in 0..row_count {
            times.push((lateness.place(dice, place, stream.into()), row));
        }
    }
    for process in 1..=2 - u32::from(has_strange_clock) {
        for before_ns in [500, now / 2, now + 2_000] {
            let row = Row::Anchor(AnchorRow {
                process,
                device: process - 1,
                before_ns,
                after_ns: before_ns + 40,
                device_ns: before_ns + 7_020,
                source: AnchorSource::Event as u8,
            });
            rows.push((roll(dice, count) << 8, row));
        }
    }
    times.sort_by_key(|(place, _)| *place);
    let timed = first_times(&calls, &times);
    rows.extend(
        times
            .into_iter()
            .map(|(place, row)| (place, Row::TaskTime(row))),
    );
    rows.sort_by_key(|(place, _)| *place);
    RandomRecording {
        rows: rows.into_iter().map(|(_, row)| row).collect(),
        timed,
        has_strange_clock,
    }
}

fn time(
    dice: &mut Dice,
    (process, stream, sequence): (u32, u32, u32),
    now: i64,
    said: Untimed,
) -> TaskTimeRow {
    let untimed = match dice.roll(9) {
        0 if said == Untimed::Timed => Untimed::ContextGone,
        _ => Untimed::Timed,
    };
    let begin = now + 30 + dice.roll(3_000);
    let end = begin + dice.roll(900);
    let is_timed = untimed == Untimed::Timed;
    TaskTimeRow {
        process,
        stream,
        sequence,
        untimed: untimed.code(),
        begin_device_ns: if is_timed { begin + 7_000 } else { 0 },
        end_device_ns: if is_timed { end + 7_000 } else { 0 },
        seen_ns: match dice.roll(5) {
            0 => 0,
            _ if !is_timed => 0,
            _ => end + dice.roll(50_000),
        },
        arming_ns: 0,
        submitting_ns: 0,
        record_ns: 0,
        record_open_ns: 0,
        run_tasks: 0,
    }
}

/// The tasks with a time in their first row, where their calls did not rule that out.
fn first_times(
    calls: &BTreeMap<(u32, u32, u32), Untimed>,
    times: &[(u64, TaskTimeRow)],
) -> BTreeSet<(u32, u32, u32)> {
    let mut first = BTreeMap::new();
    for (_, row) in times {
        first
            .entry((row.process, row.stream, row.sequence))
            .or_insert(row.untimed);
    }
    let timed = first.iter().filter(|(key, untimed)| {
        let said = calls.get(*key);
        **untimed == Untimed::Timed.code()
            && matches!(said, Some(Untimed::Timed | Untimed::InCallback))
    });
    timed.map(|(key, _)| *key).collect()
}

/// A file of small chunks and groups, and how many tasks with a time the writer counted.
fn written(dice: &mut Dice, rows: &[Row]) -> (Vec<u8>, Option<u64>) {
    let (session, tables) = workload::leading();
    let every = 5 + dice.roll(60) as u64;
    let writer = ChunkWriter::create(Vec::new(), &session, &tables).expect("memory");
    let mut writer = writer.with_index_every(every);
    let mut encoder = Encoder::new();
    let often = 1 + dice.roll(12) as u64;
    for row in rows {
        encoder.push(row);
        if dice.roll(40) == 0 {
            encoder.set_open(vec![CallRow {
                thread: 1,
                begin_ns: 2_000,
                end_ns: 3_000,
                ..CallRow::default()
            }]);
        }
        if dice.roll(often) == 0 {
            writer.write(&encoder.seal()).expect("memory");
        }
    }
    encoder.set_open(Vec::new());
    encoder.push(&Row::End(EndRow::default()));
    writer.write(&encoder.seal()).expect("memory");
    let timed = writer.timed();
    (writer.into_inner(), timed)
}

/// The tasks of a recording, as a reader counts them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct TaskCounts {
    tasks: u64,
    timed: u64,
    untimed: BTreeMap<Untimed, u64>,
}

impl TaskCounts {
    fn of(counts: &FileCounts) -> Self {
        Self {
            tasks: counts.tasks,
            timed: counts.timed,
            untimed: counts.untimed.clone(),
        }
    }

    fn add(&mut self, trace: &Trace, is_own: impl Fn(usize) -> bool) {
        let own = trace.tasks().iter().enumerate();
        for (_, task) in own.filter(|(place, _)| is_own(*place)) {
            self.tasks += 1;
            match task.time {
                Some(_) => self.timed += 1,
                None => *self.untimed.entry(task.untimed).or_default() += 1,
            }
        }
    }
}

/// Counts tasks window by window.
#[derive(Default)]
struct Counting(TaskCounts);

impl Fold for Counting {
    type Answer = TaskCounts;

    const NEEDS: AnalysisNeeds = AnalysisNeeds::Calls;

    fn take(&mut self, window: &Window<'_>) {
        let own: BTreeSet<usize> = (0..window.trace.streams().len() as u32)
            .flat_map(|stream| window.stream_tasks(ascend_trace_recording::StreamId(stream)))
            .map(|id| id.index())
            .collect();
        self.0.add(window.trace, |place| own.contains(&place));
    }

    fn finish(self) -> TaskCounts {
        self.0
    }
}

/// All readers of a file say the same, and the same as one that has all of it in memory.
fn check(bytes: Vec<u8>, dice: &mut Dice, what: &str) -> Option<(TaskCounts, Trace)> {
    let mut recording = Recording::from_bytes(bytes).ok()?;
    recording.close().expect("it reads back");
    let whole = recording.whole().expect("it reads back");
    let expected = TaskCounts::of(&FileCounts::of(&whole));
    assert_eq!(
        TaskCounts::of(&recording.counts()),
        expected,
        "counts: {what}"
    );
    let by_stream = FileCounts::of(&whole).streams;
    let mut counted = recording.counts().streams;
    counted.retain(|_, (tasks, _)| *tasks > 0);
    assert_eq!(counted, by_stream, "counts by stream: {what}");
    for _ in 0..2 {
        let step = WindowSize {
            rows: 1 + dice.roll(60) as u64,
            margin: 1 + dice.roll(30) as usize,
        };
        let reported = Counting::default().of_recording(&mut recording, step, |_| true);
        let reported = reported
            .expect("it reads back")
            .expect("it was not stopped");
        assert_eq!(reported, expected, "{step:?}: {what}");
    }
    let span = recording.span();
    let stats = Stats::of_recording(&mut recording, span, |_| true);
    let stats = stats.expect("it reads back").expect("it was not stopped");
    let untimed: u64 = stats.streams.iter().map(|it| it.untimed).sum();
    assert_eq!(untimed, expected.tasks - expected.timed, "stats: {what}");
    let mut reported = TaskCounts::default();
    for part in recording.parts(1 + dice.roll(60) as u64) {
        let part = part.expect("it reads back");
        reported.add(&part.trace, |place| {
            part.owns(part.trace.call(part.trace.tasks()[place].call))
        });
    }
    assert_eq!(reported, expected, "parts: {what}");
    for _ in 0..2 {
        check_window(&mut recording, &whole, dice, what);
    }
    Some((expected, whole))
}

type Named = BTreeMap<(u32, u32, u32), (Option<i64>, Untimed)>;

/// The tasks of a trace that were launched or ran in a range, with their times.
fn tasks_in(trace: &Trace, range: TimeRange) -> Named {
    let tasks = trace.tasks().iter().filter(|task| {
        let call = trace.call(task.call).range().overlaps(range);
        call || task.time.is_some_and(|time| time.range().overlaps(range))
    });
    let named = tasks.filter(|task| trace.runs(task)).map(|task| {
        let stream = trace.stream(task.stream);
        let process = trace.process(stream.process).serial;
        let time = task.time.map(|time| time.begin);
        (
            (process, stream.serial, task.sequence),
            (time, task.untimed),
        )
    });
    named.collect()
}

/// A range of a recording has the tasks that were launched or ran in it, with their times.
fn check_window(recording: &mut Recording, whole: &Trace, dice: &mut Dice, what: &str) {
    let Some(span) = recording.span() else {
        return;
    };
    let begin = span.begin + dice.roll(1 + span.duration().unsigned_abs());
    let range = TimeRange::new(begin, begin + dice.roll(20_000));
    let window = recording.window(range, MANY).expect("it reads back");
    let (found, expected) = (tasks_in(&window, range), tasks_in(whole, range));
    assert_eq!(found, expected, "{range:?}: {what}");
}

fn check_one(seed: u64) {
    let mut dice = Dice(seed);
    let made = made(&mut dice);
    let (bytes, counted) = written(&mut dice, &made.rows);
    let what = format!("recording {seed}");
    let (reported, _) = check(bytes.clone(), &mut dice, &what).expect("it is a recording");
    if !made.has_strange_clock {
        assert_eq!(reported.timed, made.timed.len() as u64, "{what}");
        assert_eq!(counted, Some(reported.timed), "the writer of {what}");
    }
    // Its recorder was killed.
    let cut = dice.roll(bytes.len() as u64) as usize;
    check(
        bytes[..cut].to_vec(),
        &mut dice,
        &format!("{what} up to {cut}"),
    );
}

/// Where very much waits at the end of a group, the index says only about where it is. The recorder is killed after it.
#[test]
fn times_are_counted_one_by_one_where_the_index_is_not_certain() {
    const TASKS: u32 = 4_000;
    let (session, tables) = workload::leading();
    let writer = ChunkWriter::create(Vec::new(), &session, &tables).expect("memory");
    let mut writer = writer.with_index_every(u64::from(TASKS));
    let mut encoder = Encoder::new();
    for row in entities() {
        encoder.push(&row);
    }
    for sequence in 0..TASKS {
        // Between two that wait is one that does not.
        let untimed = match sequence % 2 {
            0 => Untimed::Timed,
            _ => Untimed::NotSampled,
        };
        encoder.push(&Row::Call(CallRow {
            thread: 1,
            function: COPY,
            begin_ns: i64::from(sequence) * 1_000,
            end_ns: i64::from(sequence) * 1_000 + 400,
            device: Some(0),
            stream: Some(0),
            task: Some(TaskRow {
                sequence,
                kind: TaskKind::Memcpy.code(),
                untimed: untimed.code(),
            }),
            ..CallRow::default()
        }));
        if sequence.is_multiple_of(100) {
            writer.write(&encoder.seal()).expect("memory");
        }
    }
    encoder.push(&Row::Anchor(AnchorRow {
        process: 1,
        device: 0,
        before_ns: 100,
        after_ns: 140,
        device_ns: 7_120,
        source: AnchorSource::Event as u8,
    }));
    writer.write(&encoder.seal()).expect("memory");
    let mut dice = Dice(1);
    // A quarter of those that wait never come.
    let late = (0..TASKS).filter(|sequence| sequence % 8 != 4);
    for sequence in late.rev().filter(|sequence| sequence.is_multiple_of(2)) {
        let begin = i64::from(sequence) * 1_000;
        let row = TaskTimeRow {
            untimed: Untimed::Timed.code(),
            begin_device_ns: begin + 8_000,
            end_device_ns: begin + 8_500,
            seen_ns: begin + 90_000_000,
            ..time(&mut dice, (1, 0, sequence), begin, Untimed::NotSampled)
        };
        encoder.push(&Row::TaskTime(row));
        if sequence.is_multiple_of(50) {
            writer.write(&encoder.seal()).expect("memory");
        }
    }
    writer.write(&encoder.seal()).expect("memory");
    let (reported, _) = check(writer.into_inner(), &mut dice, "the recording").expect("it is one");
    assert_eq!(reported.timed, u64::from(TASKS) / 8 * 3);
}

#[test]
fn every_reader_finds_the_same_times_in_any_part_of_the_file() {
    let next = AtomicU64::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= RECORDINGS {
                        return;
                    }
                    check_one(seed);
                }
            });
        }
    });
}
