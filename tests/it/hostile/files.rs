//! Files that were made to harm their reader, or that were harmed; what readers say of them.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use ascend_trace_recording::file::Writer;
use ascend_trace_recording::rows::{CallRow, LossRow, SessionRow, StreamRow, TablesRow};
use ascend_trace_recording::rows::{EndRow, FunctionRow, ProcessRow, Row, TaskRow, ThreadRow};
use ascend_trace_testkit::bombs::{self, Bomb};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::process::{Outcome, clean, feed, tool};

/// Names that a terminal or a spreadsheet would obey.
const EVIL: &str = "=HYPERLINK(\"x\")\u{1b}]0;owned\u{7}\u{202e}\nroot:";

/// A process with one thread of this name, and one stream.
pub(super) fn introduce<W: Write>(writer: &mut Writer<W>, process: ProcessRow, name: &str) {
    writer.push(Row::Process(process)).unwrap();
    let thread = ThreadRow {
        thread: 1,
        process: 1,
        tid: 11,
        handle: 0,
        name: name.to_owned(),
    };
    writer.push(Row::Thread(thread)).unwrap();
    let stream = StreamRow {
        process: 1,
        serial: 1,
        context: 1,
        device: 0,
        handle: 7,
        acl_id: Some(4),
        flags: 0,
        priority: 0,
        is_default: false,
        manner: 0,
    };
    writer.push(Row::Stream(stream)).unwrap();
}

/// A trace of two calls and two kernels with evil names, in chunks that can be damaged one by one.
fn trace(folder: &TempDir) -> PathBuf {
    let path = folder.path().join("t.atrace");
    let session = SessionRow {
        command: vec![EVIL.to_owned()],
        ..SessionRow::default()
    };
    let tables = TablesRow {
        functions: vec![FunctionRow {
            name: EVIL.to_owned(),
            task: "kernel".to_owned(),
            ret: "error".to_owned(),
            ..FunctionRow::default()
        }],
        ..TablesRow::default()
    };
    let file = fs::File::create(&path).unwrap();
    let mut writer = Writer::create(file, &session, &tables).unwrap();
    let process = ProcessRow {
        process: 1,
        pid: 10,
        parent_pid: 1,
        begin_ns: 0,
        name: EVIL.to_owned(),
        rank: "3".to_owned(),
        command: EVIL.to_owned(),
        outer_pid: 0,
    };
    introduce(&mut writer, process, EVIL);
    for place in 0..2 {
        let call = CallRow {
            thread: 1,
            begin_ns: i64::from(place) * 1_000_000,
            end_ns: i64::from(place) * 1_000_000 + 500,
            ret: -7,
            stream: Some(1),
            task: Some(TaskRow {
                sequence: place,
                kind: 3,
                untimed: 1,
            }),
            ..CallRow::default()
        };
        writer.push(Row::Call(call)).unwrap();
        writer.flush().unwrap();
    }
    writer.finish(EndRow::default()).unwrap();
    path
}

/// The same with a flipped bit in the last chunk of calls.
fn damaged(folder: &TempDir) -> PathBuf {
    let path = trace(folder);
    let mut bytes = fs::read(&path).unwrap();
    let place = bytes.windows(4).rposition(|it| it == b"CALL").unwrap();
    bytes[place + 24] ^= 1;
    fs::write(&path, bytes).unwrap();
    path
}

fn run(words: &[&str], path: &Path) -> Outcome {
    let mut command = tool();
    command.args(words).arg(path);
    feed(&mut command, b"")
}

fn json(words: &[&str], path: &Path, status: i32) -> Value {
    serde_json::from_slice(&run(words, path).expect(status).stdout).unwrap()
}

/// Checks that a process with this much memory reports a file, or refuses it with a message.
#[track_caller]
fn is_reported_in(limit: usize, bomb: &Bomb, folder: &Path) {
    let path = folder.join("bomb.atrace");
    fs::write(&path, &bomb.bytes).unwrap();
    for words in [
        &["info"][..],
        &["stats"],
        &["export", "--format", "csv", "--force"],
    ] {
        let mut shell = clean("sh");
        shell.args(["-c", "ulimit -d \"$1\"; shift; exec \"$@\"", "sh"]);
        shell.arg((limit / 1024).to_string());
        shell.arg(tool().get_program()).args(words).arg(&path);
        let outcome = feed(&mut shell, b"");
        // One that asks for too much on the way is given up, in words.
        let is_refused = outcome.status == 2 && outcome.err().contains("more memory than");
        assert!(
            [0, 3].contains(&outcome.status) || is_refused,
            "{}: {words:?}: {outcome}",
            bomb.name
        );
    }
}

#[test]
fn small_files_that_ask_for_much_memory_are_reported_in_little() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "references to a text",
        "calls in many chunks",
        "threads of calls",
        "streams of tasks",
    ] {
        let all = bombs::all().into_iter().chain(bombs::crowds());
        let bomb = all.into_iter().find(|it| it.name == name).unwrap();
        let limit = (192 << 20) + 16 * bomb.bytes.len();
        is_reported_in(limit, &bomb, folder.path());
    }
}

#[test]
#[ignore = "millions of threads or streams in each file; takes minutes"]
fn large_files_that_need_much_memory_are_read_as_documented() {
    let folder = tempfile::tempdir().unwrap();
    for bomb in bombs::large() {
        let length = bomb.bytes.len();
        println!("{}: {length} bytes", bomb.name);
        assert!(length > 4 << 20, "{}: {length}", bomb.name);
        // The limits of docs/FORMAT.md: for a pass over the file, and for facts of the index. And room
        // for the rest of the process.
        let windows = (((24 + 64) << 20) + 48 * length).max(640 << 20);
        let entities = (64 << 20) + 16 * length;
        let limit = windows + entities + (128 << 20);
        is_reported_in(limit, &bomb, folder.path());
    }
}

#[test]
fn names_in_a_trace_cannot_command_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(&folder);
    for words in ["info", "stats"] {
        let outcome = run(&[words], &path).expect(0);
        let text = outcome.out() + &outcome.err();
        let obeyed = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.contains(obeyed), "{words}: {text:?}");
        assert!(
            text.contains("\\u{1b}]0;owned\\u{7}\\u{202e}\\nroot:"),
            "{text}"
        );
    }
}

#[test]
fn names_in_a_trace_are_no_formulas_in_tables() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(&folder);
    run(&["export", "--format", "csv"], &path).expect(0);
    let calls = fs::read_to_string(folder.path().join("t-csv/calls.csv")).unwrap();
    assert!(calls.contains("\"'=HYPERLINK(\"\"x\"\")"), "{calls}");
    // Numbers stay numbers.
    assert!(calls.contains(",-7,"), "{calls}");
}

#[test]
fn a_damaged_file_looks_damaged_to_machines() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(&folder);
    for words in [&["info", "--json"][..], &["stats", "--json"]] {
        let sound = json(words, &path, 0);
        assert_eq!(sound["complete"], true);
        assert_eq!(sound["damage"], Value::Array(Vec::new()));
    }
    let path = damaged(&folder);
    for words in [&["info", "--json"][..], &["stats", "--json"]] {
        let output = json(words, &path, 3);
        assert_eq!(output["complete"], false, "{words:?}");
        assert_eq!(output["damage"].as_array().unwrap().len(), 1);
    }
    run(&["export", "--format", "chrome"], &path).expect(3);
    let exported = fs::read(folder.path().join("t.json")).unwrap();
    let exported: Value = serde_json::from_slice(&exported).unwrap();
    assert_eq!(exported["otherData"]["complete"], false);
}

#[test]
fn a_file_without_an_end_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(&folder);
    let bytes = fs::read(&path).unwrap();
    let end = bytes.windows(4).rposition(|it| it == b"END ").unwrap() - 4;
    fs::write(&path, &bytes[..end]).unwrap();
    run(&["info"], &path).expect(3);
    for words in [&["info", "--strict"][..], &["stats", "--strict"]] {
        run(words, &path).expect(3);
    }
    run(&["export", "--strict", "--format", "csv"], &path).expect(3);
}

#[test]
fn lost_calls_are_reported_if_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.atrace");
    let file = fs::File::create(&path).unwrap();
    let (session, tables) = (SessionRow::default(), TablesRow::default());
    let mut writer = Writer::create(file, &session, &tables).unwrap();
    let loss = LossRow {
        calls: 5,
        ..LossRow::default()
    };
    writer.push(Row::Loss(loss)).unwrap();
    writer.finish(EndRow::default()).unwrap();
    run(&["info"], &path).expect(0);
    run(&["info", "--strict"], &path).expect(3);
}

#[test]
fn an_export_never_takes_the_place_of_its_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(&folder);
    let before = fs::read(&path).unwrap();
    let link = folder.path().join("link.json");
    symlink(&path, &link).unwrap();
    let hard = folder.path().join("hard.json");
    fs::hard_link(&path, &hard).unwrap();
    for output in [&path, &link, &hard] {
        let output = output.to_str().unwrap();
        let words = ["export", "--format", "chrome", "--force", "-o", output];
        let outcome = run(&words, &path).expect(2);
        assert!(outcome.err().contains("is the trace itself"), "{outcome}");
    }
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_failed_export_leaves_existing_files_alone() {
    for format in ["csv", "parquet", "chrome", "perfetto"] {
        let folder = tempfile::tempdir().unwrap();
        let path = trace(&folder);
        let output = folder.path().join("out");
        let words = ["export", "--format", format, "-o", output.to_str().unwrap()];
        run(&words, &path).expect(0);
        let before = content(&output);
        // No file may become longer than nothing.
        let mut shell = clean("sh");
        shell.args(["-c", "ulimit -f 0; trap '' XFSZ; exec \"$@\"", "sh"]);
        shell
            .arg(tool().get_program())
            .args(words)
            .arg("--force")
            .arg(&path);
        let outcome = feed(&mut shell, b"").expect(2);
        assert!(outcome.err().contains("cannot write") || outcome.err().contains("failed"));
        assert_eq!(content(&output), before, "{format}");
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 2, "{format}: {left:?}");
    }
}

/// Names and bytes of a file, or of the files of a folder.
fn content(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = match path.is_dir() {
        true => fs::read_dir(path)
            .unwrap()
            .map(|it| it.unwrap().path())
            .collect(),
        false => vec![path.to_owned()],
    };
    files.sort();
    files
        .into_iter()
        .map(|it| (it.clone(), fs::read(it).unwrap()))
        .collect()
}

#[test]
fn an_empty_selection_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(&folder);
    for words in [
        &["stats", "--range", "5s..6s"][..],
        &["export", "--format", "chrome", "--range", "5s..6s"],
    ] {
        let outcome = run(words, &path).expect(2);
        assert!(
            outcome.err().contains("after the end of the recording"),
            "{outcome}"
        );
    }
    let words = ["export", "--format", "csv", "--only", "stream=99"];
    let outcome = run(&words, &path).expect(0);
    assert!(
        outcome.err().contains("nothing matches: --only stream=99"),
        "{outcome}"
    );
}

#[test]
fn tables_distinguish_processes_with_one_pid() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.atrace");
    for processes in [1, 2] {
        fs::write(&path, alike(processes)).unwrap();
        for words in ["info", "stats"] {
            let text = run(&[words], &path).expect(0).out();
            let section = |title: &str| {
                let lines = text.lines().skip_while(|line| *line != title).skip(1);
                lines
                    .take_while(|line| !line.is_empty())
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            };
            let streams = section("Streams");
            assert_eq!(streams.len(), 1 + processes as usize, "{text}");
            let has_column = streams[0].trim_start().starts_with("process ");
            assert_eq!(has_column, processes > 1, "{text}");
            let distinct: BTreeSet<&String> = streams.iter().collect();
            assert_eq!(distinct.len(), streams.len(), "{text}");
        }
    }
}

/// Processes with one pid and threads that each launch a kernel on a stream of the same number.
fn alike(processes: u32) -> Vec<u8> {
    let tables = TablesRow {
        functions: vec![FunctionRow {
            task: "kernel".to_owned(),
            ..FunctionRow::default()
        }],
        ..TablesRow::default()
    };
    let mut writer = Writer::create(Vec::new(), &SessionRow::default(), &tables).unwrap();
    for number in 1..=processes {
        let rows = [
            Row::Process(ProcessRow {
                process: number,
                pid: 10,
                ..ProcessRow::default()
            }),
            Row::Thread(ThreadRow {
                thread: number,
                process: number,
                tid: 10,
                handle: 0,
                name: String::new(),
            }),
            Row::Stream(StreamRow {
                process: number,
                serial: 1,
                context: 1,
                device: 0,
                handle: 7,
                acl_id: Some(4),
                flags: 0,
                priority: 0,
                is_default: false,
                manner: 0,
            }),
            Row::Call(CallRow {
                thread: number,
                end_ns: 500,
                stream: Some(1),
                task: Some(TaskRow {
                    sequence: 0,
                    kind: 3,
                    untimed: 1,
                }),
                ..CallRow::default()
            }),
        ];
        rows.iter().for_each(|row| writer.push(row).unwrap());
    }
    writer.finish(EndRow::default()).unwrap()
}

#[test]
fn a_rank_is_a_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(&folder);
    let info = json(&["info", "--json"], &path, 0);
    assert_eq!(info["processes"][0]["rank"], 3);
}
