//! What reading a small file may take: 64 MiB and 16 bytes for each byte of the file, whatever is in it.
//!
//! The reader runs in a process that gets no more. These tests start themselves once again for that.

use std::path::Path;
use std::process::Command;

use ascend_trace_recording::{OpenError, Recording, TimeRange};
use ascend_trace_testkit::bombs;
use ascend_trace_testkit::whole::opened;

/// What is to be read, for a process with little memory.
const TASK: &str = "ASCEND_TRACE_TEST_MEMORY";
/// How files are called of which only the index is looked at.
const LOOK: &str = ".look";
const BASE: u64 = 64 << 20;
const PER_BYTE: u64 = 16;
/// What a process of these tests has before it does anything.
const OWN: u64 = 8 << 20;

/// Runs [`in_little_memory`] in a process that gets so many bytes.
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
        _ => read(Path::new(&task)),
    }
}

/// Only what the index tells.
fn look(path: &Path) {
    let mut recording = Recording::open(path, |_, _| true).unwrap();
    let _ = recording.summary((i64::MIN, i64::MAX), 50);
    let _ = recording.counts();
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
    // In memory as a whole, a trace may be as large as one whose calls hardly differ, or is given up.
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

/// What is told of a file without going through it takes little; what has to be in memory together while it is
/// gone through is given up where it is out of proportion.
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
