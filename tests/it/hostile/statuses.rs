//! The status of every command that reads a trace, for every kind of incomplete trace.

use std::fs;
use std::path::{Path, PathBuf};

use ascend_trace_recording::file::Writer;
use ascend_trace_recording::rows::{
    CallRow, EndRow, FunctionRow, LossRow, ProcessRow, Row, SessionRow, TablesRow, TaskRow,
};
use serde_json::Value;
use tempfile::TempDir;

use super::files::introduce;
use crate::support::process::{feed, tool};
use crate::support::screen::Screen;

/// A status that may be that of damage, or not.
const EITHER: i32 = -1;

/// Words for the commands, `export` with where it writes to.
const COMMANDS: [&[&str]; 4] = [
    &["info"],
    &["stats"],
    &["export", "--format", "chrome", "--output", "-"],
    &["view"],
];
const DAMAGED: i32 = 3;

type Sink = Writer<Vec<u8>>;

fn leading() -> Sink {
    let tables = TablesRow {
        functions: vec![FunctionRow {
            name: "aclrtLaunchKernel".to_owned(),
            task: "kernel".to_owned(),
            ret: "error".to_owned(),
            ..FunctionRow::default()
        }],
        ..TablesRow::default()
    };
    let writer = Writer::create(Vec::new(), &SessionRow::default(), &tables).unwrap();
    let mut writer = writer.with_index_every(1 << 16);
    let process = ProcessRow {
        process: 1,
        pid: 10,
        ..ProcessRow::default()
    };
    introduce(&mut writer, process, "main");
    writer
}

/// A kernel without a time.
fn call(place: u32) -> CallRow {
    CallRow {
        thread: 1,
        begin_ns: i64::from(place) * 1_000,
        end_ns: i64::from(place) * 1_000 + 500,
        stream: Some(1),
        task: Some(TaskRow {
            sequence: place,
            kind: 3,
            untimed: 1,
        }),
        ..CallRow::default()
    }
}

/// Two calls in a chunk each.
fn short(lost: u64) -> Vec<u8> {
    let mut writer = leading();
    for place in 0..2 {
        writer.push(Row::Call(call(place))).unwrap();
        writer.flush().unwrap();
    }
    if lost > 0 {
        let loss = LossRow {
            calls: lost,
            ..LossRow::default()
        };
        writer.push(Row::Loss(loss)).unwrap();
    }
    writer.finish(EndRow::default()).unwrap()
}

/// Enough calls that the view reads parts only.
fn long() -> Vec<u8> {
    let mut writer = leading();
    let mut random = 1_u64;
    for place in 0..1_500 {
        let args = (0..200).map(|_| {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            random
        });
        let args = args.collect();
        let call = CallRow {
            args,
            ..call(place)
        };
        writer.push(Row::Call(call)).unwrap();
    }
    for place in 1_500..160_000 {
        writer.push(Row::Call(call(place))).unwrap();
    }
    let bytes = writer.finish(EndRow::default()).unwrap();
    assert!(bytes.len() > 2 << 20);
    bytes
}

/// With a flipped bit in the first or last chunk of calls.
fn damaged(mut bytes: Vec<u8>, is_first: bool) -> Vec<u8> {
    let mut windows = bytes.windows(4);
    let place = match is_first {
        true => windows.position(|it| it == b"CALL"),
        false => windows.rposition(|it| it == b"CALL"),
    };
    bytes[place.unwrap() + 24] ^= 1;
    bytes
}

/// Without the part after the begin of the last chunk of this kind, plus `kept` bytes of that.
fn cut(mut bytes: Vec<u8>, kind: &[u8; 4], kept: usize) -> Vec<u8> {
    let place = bytes.windows(4).rposition(|it| it == kind).unwrap();
    bytes.truncate(place - 4 + kept);
    bytes
}

struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("t.atrace")
    }

    /// Compares the statuses of the commands with the expected ones, without and with `--strict`.
    #[track_caller]
    fn check(&self, what: &str, bytes: &[u8], expected: [(i32, i32); 4]) {
        let path = self.path();
        fs::write(&path, bytes).unwrap();
        for (words, (loose, strict)) in COMMANDS.into_iter().zip(expected) {
            let given = status(words, &path);
            let is_meant = given == loose || loose == EITHER && [0, DAMAGED].contains(&given);
            assert!(is_meant, "{what}: {words:?} ends with {given}");
            let words = [words, &["--strict"]].concat();
            assert_eq!(status(&words, &path), strict, "{what}: {words:?}");
        }
    }
}

#[track_caller]
fn status(words: &[&str], path: &Path) -> i32 {
    let mut command = tool();
    command.args(words).arg(path);
    if words[0] != "view" {
        return feed(&mut command, b"").status;
    }
    let screen = Screen::start(command, 30, 100);
    screen.until("stream 4");
    screen.press("q");
    screen.finish().status
}

#[test]
fn short_traces_end_every_command_with_the_documented_status() {
    let files = Files::new();
    files.check("sound", &short(0), [(0, 0); 4]);
    files.check("lost", &short(5), [(0, DAMAGED); 4]);
    let unended = cut(short(0), b"END ", 0);
    files.check("without an end", &unended, [(DAMAGED, DAMAGED); 4]);
    let broken_off = cut(short(0), b"END ", 7);
    files.check(
        "broken off in a header",
        &broken_off,
        [(DAMAGED, DAMAGED); 4],
    );
    let broken_off = cut(short(0), b"CALL", 30);
    files.check(
        "broken off in a chunk",
        &broken_off,
        [(DAMAGED, DAMAGED); 4],
    );
    let hit = damaged(short(0), false);
    files.check("damaged", &hit, [(DAMAGED, DAMAGED); 4]);
}

#[test]
fn long_traces_are_read_through_where_that_is_asked_for() {
    let files = Files::new();
    let bytes = long();
    files.check("sound", &bytes, [(0, 0); 4]);
    let unended = cut(bytes.clone(), b"END ", 0);
    files.check("without an end", &unended, [(DAMAGED, DAMAGED); 4]);
    // The view looks at the end. Where it was left late, it has read the begin as well.
    let hit = damaged(bytes, true);
    let read = (DAMAGED, DAMAGED);
    files.check("damaged", &hit, [read, read, read, (EITHER, DAMAGED)]);
}

#[test]
fn a_file_that_is_no_trace_ends_every_command_with_trouble() {
    let files = Files::new();
    let sound = short(0);
    let nothings: [(&str, &[u8]); 4] = [
        ("empty", b""),
        ("short", &sound[..9]),
        ("text", b"kernel,begin\n"),
        ("newer", b"ASCTRACE\xff\0\0\0\0\0\0\0"),
    ];
    for (what, bytes) in nothings {
        fs::write(files.path(), bytes).unwrap();
        for words in COMMANDS {
            let mut command = tool();
            command.args(words).arg(files.path());
            let outcome = match words[0] {
                // It waits for data that a recorder may still write.
                "view" if bytes.len() < 16 && sound.starts_with(bytes) => continue,
                "view" => Screen::start(command, 30, 100).finish(),
                _ => feed(&mut command, b""),
            };
            assert_eq!(outcome.status, 2, "{what}: {words:?}: {outcome}");
        }
    }
}

/// Every command that reads a trace and prints a document of it.
const DOCUMENTS: [&[&str]; 8] = [
    &["info"],
    &["stats"],
    &["steps", "--repeated"],
    &["requests"],
    &["critical"],
    &["what-if"],
    &["check"],
    &["why"],
];

/// Where chunks begin, and the end of the file.
fn boundaries(bytes: &[u8]) -> Vec<usize> {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let mut places = vec![16];
    while let Some(last) = places.last().copied().filter(|last| *last < bytes.len()) {
        places.push(last + 20 + word(last + 8));
    }
    places
}

fn document(words: &[&str], path: &Path) -> (i32, Value, Vec<String>) {
    let mut command = tool();
    command.args(words).arg("--json").arg(path);
    let outcome = feed(&mut command, b"");
    let document = serde_json::from_slice(&outcome.stdout).unwrap_or(Value::Null);
    (outcome.status, document, outcome.said())
}

#[test]
fn all_commands_agree_on_a_file_that_was_cut() {
    let files = Files::new();
    let bytes = short(0);
    let places = boundaries(&bytes);
    assert_eq!(places.last(), Some(&bytes.len()), "{places:?}");
    let last = |before: usize| places[places.len() - before];
    // At chunk boundaries, inside of the end, of the list of indexes, of the index, and of the first chunks.
    let mut cuts = vec![
        last(2),
        last(2) + 7,
        last(3) + 5,
        last(3),
        last(4) + 30,
        places[1],
        16,
        17,
    ];
    cuts.push(bytes.len() - 1);
    for cut in cuts {
        fs::write(files.path(), &bytes[..cut]).unwrap();
        let mut seen: Vec<(Value, Vec<String>)> = Vec::new();
        for words in DOCUMENTS {
            let (status, document, said) = document(words, &files.path());
            assert_eq!(status, DAMAGED, "{cut}: {words:?}: {said:?}");
            for (field, value) in [("complete", false), ("ended", false), ("growing", false)] {
                assert_eq!(document[field], value, "{cut}: {words:?}: {field}");
            }
            assert_eq!(document["damaged_inside"], 0, "{cut}: {words:?}");
            let damage = document["damage"].as_array().unwrap();
            assert!(
                damage
                    .iter()
                    .any(|it| it.as_str().unwrap().contains("no end after offset"))
            );
            for it in damage {
                let text = it.as_str().unwrap();
                assert!(
                    said.iter().any(|line| line.ends_with(text)),
                    "{words:?}: {said:?}"
                );
            }
            seen.push((document["damage"].clone(), said));
        }
        for other in &seen[1..] {
            assert_eq!(*other, seen[0], "{cut}");
        }
    }
    for cut in [1, 8, 15] {
        fs::write(files.path(), &bytes[..cut]).unwrap();
        for words in DOCUMENTS {
            let (status, _, said) = document(words, &files.path());
            assert_eq!(status, 2, "{cut}: {words:?}");
            assert!(said[0].contains("inside its header"), "{said:?}");
        }
    }
}

#[test]
fn a_file_that_is_being_recorded_is_not_damaged() {
    let files = Files::new();
    let bytes = short(0);
    fs::write(files.path(), cut(bytes.clone(), b"END ", 7)).unwrap();
    let recorder = fs::File::open(files.path()).unwrap();
    recorder.try_lock().unwrap();
    for words in DOCUMENTS {
        let (status, document, said) = document(words, &files.path());
        assert_eq!(status, 0, "{words:?}: {said:?}");
        assert_eq!(document["growing"], true, "{words:?}");
        assert_eq!(document["damage"], Value::Array(Vec::new()), "{words:?}");
        assert_eq!(document["complete"], false, "{words:?}");
        assert!(said[0].contains("the recording goes on"), "{said:?}");
    }
    drop(recorder);
    let (status, ..) = document(&["info"], &files.path());
    assert_eq!(status, DAMAGED);
}

#[test]
fn losses_make_a_recording_incomplete() {
    let files = Files::new();
    fs::write(files.path(), short(5)).unwrap();
    for words in DOCUMENTS {
        let (status, document, said) = document(words, &files.path());
        assert_eq!(status, 0, "{words:?}: {said:?}");
        assert_eq!(document["complete"], false, "{words:?}");
        assert_eq!(document["ended"], true, "{words:?}");
        assert_eq!(document["lost"]["calls"], 5, "{words:?}");
        assert!(said[0].contains("5 calls"), "{said:?}");
    }
    let mut export = tool();
    export.args(COMMANDS[2]).arg(files.path());
    let chrome: Value = serde_json::from_slice(&feed(&mut export, b"").stdout).unwrap();
    assert_eq!(chrome["otherData"]["complete"], false);
    assert_eq!(chrome["otherData"]["ended"], true);
    fs::write(files.path(), short(0)).unwrap();
    for words in DOCUMENTS {
        let (_, document, said) = document(words, &files.path());
        assert_eq!(document["complete"], true, "{words:?}: {said:?}");
    }
}
