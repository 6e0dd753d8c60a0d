//! Memory for reading a small file: 64 MiB and 16 bytes for each byte of the file, for any content.
//!
//! The reader runs in a process that gets no more. These tests start themselves once again for that.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::Command;

use ascend_trace_format::api::{TaskKind, Untimed};
use ascend_trace_recording::file::Writer;
use ascend_trace_recording::rows::{
    CallRow, EndRow, Row, SessionRow, TablesRow, TaskRow, TaskTimeRow,
};
use ascend_trace_recording::{OpenError, Recording, TimeRange};
use ascend_trace_testkit::bombs;
use ascend_trace_testkit::whole::opened;

/// The task of a process with little memory.
const TASK: &str = "ASCEND_TRACE_TEST_MEMORY";
/// Ending of the names of files of which the test reads only the index.
const LOOK: &str = ".look";
const BASE: u64 = 64 << 20;
const PER_BYTE: u64 = 16;
/// Ending of the names of files that the test reads once, in order.
const THROUGH: &str = ".through";
/// Memory of such a process at its start.
const OWN: u64 = 8 << 20;

/// Runs [`in_little_memory`] in a process with this number of bytes.
#[track_caller]
fn with_memory(bytes: u64, name: &str, task: &Path) {
    let mut shell = Command::new("sh");
    let limit = (bytes + OWN).div_ceil(1024);
    shell.args(["-c", "ulimit -d \"$1\"; shift; exec \"$@\"", "sh"]);
    shell.arg(limit.to_string());
    shell.arg(std::env::current_exe().unwrap());
    shell.args(["--exact", "memory::in_little_memory", "--ignored"]);
    let output = shell.env(TASK, task).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{name} in {bytes} bytes: {said}"
    );
}

#[test]
#[ignore = "the other tests of this file start it"]
fn in_little_memory() {
    let Some(task) = std::env::var_os(TASK) else {
        return;
    };
    match task.to_str() {
        Some("mutations") => crate::mutations::short(),
        Some(path) if path.ends_with(LOOK) => look(Path::new(path)),
        Some(path) if path.ends_with(THROUGH) => go_through(Path::new(path)),
        _ => read(Path::new(&task)),
    }
}

/// Only the facts of the index.
fn look(path: &Path) {
    let mut recording = Recording::open(path, |_, _| true).unwrap();
    let _ = recording.summary((i64::MIN, i64::MAX), 50);
    let _ = recording.counts();
}

/// Tasks of a recording with all times after the last call.
const LATE_TASKS: u32 = 400_000;
const LATE_STREAMS: u32 = 16;

/// All times are found, and no call waits in memory for its time.
fn go_through(path: &Path) {
    let mut recording = Recording::open(path, |_, _| true).unwrap();
    let counts = recording.counts();
    assert_eq!(counts.timed, u64::from(LATE_TASKS));
    let mut replay = recording.replay();
    let mut timed = 0;
    while replay.advance(20_000).unwrap() {
        let trace = replay.trace();
        timed += trace
            .tasks()
            .iter()
            .filter(|task| task.time.is_some())
            .count();
        assert!(trace.calls().len() < 50_000, "{}", trace.calls().len());
        let keep = vec![false; trace.calls().len()];
        replay.forget(&keep);
    }
    assert_eq!(timed, LATE_TASKS as usize);
}

/// A recording in which every time comes as late as it can: those of one stream after those of the other, where
/// `by_stream`.
fn write_late(path: &Path, by_stream: bool) {
    let file = BufWriter::new(File::create(path).unwrap());
    let (session, tables) = (SessionRow::default(), TablesRow::default());
    let mut writer = Writer::create(file, &session, &tables).unwrap();
    let of_stream = LATE_TASKS / LATE_STREAMS;
    let begin = |stream: u32, sequence: u32| {
        1_000 * (1 + i64::from(sequence) * i64::from(LATE_STREAMS) + i64::from(stream))
    };
    for sequence in 0..of_stream {
        for stream in 0..LATE_STREAMS {
            let task = TaskRow {
                sequence,
                kind: TaskKind::Memset.code(),
                untimed: Untimed::Timed.code(),
            };
            let call = CallRow {
                begin_ns: begin(stream, sequence),
                end_ns: begin(stream, sequence) + 500,
                device: Some(0),
                stream: Some(stream),
                task: Some(task),
                ..CallRow::default()
            };
            writer.push(Row::Call(call)).unwrap();
        }
        if sequence.is_multiple_of(500) {
            writer.flush().unwrap();
        }
    }
    writer.flush().unwrap();
    let end = begin(0, of_stream) + 100_000;
    let mut push = |stream: u32, sequence: u32| {
        let row = TaskTimeRow {
            process: 0,
            stream,
            sequence,
            untimed: Untimed::Timed.code(),
            begin_device_ns: begin(stream, sequence) + 1_000,
            end_device_ns: begin(stream, sequence) + 1_900,
            seen_ns: end,
            arming_ns: 0,
            submitting_ns: 0,
            record_ns: 0,
            record_open_ns: 0,
            run_tasks: 0,
        };
        writer.push(Row::TaskTime(row)).unwrap();
        if sequence.is_multiple_of(500) {
            writer.flush().unwrap();
        }
    };
    match by_stream {
        true => (0..LATE_STREAMS)
            .for_each(|stream| (0..of_stream).for_each(|sequence| push(stream, sequence))),
        false => (0..of_stream)
            .for_each(|sequence| (0..LATE_STREAMS).for_each(|stream| push(stream, sequence))),
    }
    writer.finish(EndRow::default()).unwrap();
}

#[test]
fn a_recording_with_all_times_at_its_end_takes_no_more_memory() {
    let folder = tempfile::tempdir().unwrap();
    for by_stream in [false, true] {
        let path = folder.path().join(format!("late{THROUGH}"));
        write_late(&path, by_stream);
        with_memory(BASE, &format!("late, {by_stream}"), &path);
    }
}

/// In every way that commands do.
fn read(path: &Path) {
    if let Ok(mut recording) = Recording::open(path, |_, _| true) {
        let _ = recording.summary((i64::MIN, i64::MAX), 50);
        let _ = recording.counts();
        let span = recording.span().unwrap_or(TimeRange::new(0, 1));
        let _ = recording.window(span, 100_000);
        for part in recording.parts(100_000) {
            let _ = part;
        }
        let mut replay = recording.replay();
        while matches!(replay.advance(50_000), Ok(true)) {
            let keep = vec![false; replay.trace().calls().len()];
            replay.forget(&keep);
        }
    }
    // In memory as a whole, a trace may be as large as one of nearly equal calls, or is refused.
    if std::fs::metadata(path).unwrap().len() < 1 << 16
        && let Err(error) = opened(path)
    {
        assert!(matches!(error, OpenError::TooMuch), "{error}");
    }
}

/// Every third of the files, from one on.
fn bombs_get_little(from: usize) {
    let folder = tempfile::tempdir().unwrap();
    for bomb in bombs::all().into_iter().skip(from).step_by(3) {
        let path = folder.path().join("bomb.atrace");
        std::fs::write(&path, &bomb.bytes).unwrap();
        let bytes = BASE + PER_BYTE * bomb.bytes.len() as u64;
        with_memory(bytes, bomb.name, &path);
    }
}

#[test]
fn small_files_that_ask_for_much_memory_get_little() {
    bombs_get_little(0);
}

#[test]
fn more_files_that_ask_for_much_memory_get_little() {
    bombs_get_little(1);
}

#[test]
fn the_last_files_that_ask_for_much_memory_get_little() {
    bombs_get_little(2);
}

/// Facts that need no pass over the file take little memory; a pass is refused where the rows that have
/// to be in memory together are out of proportion.
#[test]
fn files_that_name_crowds_of_things_take_memory_in_proportion() {
    const HELD: u64 = 768 << 20;
    let folder = tempfile::tempdir().unwrap();
    for bomb in bombs::crowds() {
        let path = folder.path().join(format!("bomb{LOOK}"));
        std::fs::write(&path, &bomb.bytes).unwrap();
        let bytes = bomb.bytes.len() as u64;
        with_memory(BASE + PER_BYTE * bytes, bomb.name, &path);
        let path = folder.path().join("bomb.atrace");
        std::fs::write(&path, &bomb.bytes).unwrap();
        with_memory(HELD + 3 * PER_BYTE * bytes, bomb.name, &path);
    }
}

#[test]
fn damaged_files_take_little_memory() {
    with_memory(BASE, "mutations", Path::new("mutations"));
}
