//! Wrong input, for every command: one message on stderr with the error, its place and the remedy, and the
//! documented status.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::support::process::clean;
use crate::support::{Outcome, run, tool};

/// Failures of commands that launch a program, and of the others.
const TOOL: i32 = 125;
const TROUBLE: i32 = 2;

/// Each command with its arguments before a trace.
const READERS: &[&[&str]] = &[
    &["info"],
    &["stats"],
    &["steps"],
    &["requests"],
    &["critical"],
    &["what-if"],
    &["check"],
    &["why"],
    &["view"],
    &["export", "--format", "chrome", "-o", "-"],
    &["report", "-o", "r.html"],
    &["open"],
    &["diff", "same.atrace"],
    &["soft", "--missing"],
    &["merge", "-o", "out.atrace"],
    &["dataset", "add", "--to", "set"],
];

/// Words that say what to do.
const ADVICE: [&str; 12] = [
    "check ",
    "Check ",
    "name ",
    "Name ",
    "Record ",
    "raise ",
    "use ",
    "Use ",
    "write ",
    "usage: ",
    "did you mean",
    "give ",
];

/// One message with all these words that says nothing twice, and what to do.
#[track_caller]
fn is_clear(words: &[&str], outcome: &Outcome, status: i32, expected: &[&str]) {
    assert_eq!(outcome.status, status, "{words:?}: {outcome}");
    assert_eq!(outcome.out(), "", "{words:?}: {outcome}");
    assert_eq!(outcome.program_err(), "", "{words:?}: {outcome}");
    let mut said = outcome.said();
    // The last line has the count.
    if words.starts_with(&["dataset", "add"]) {
        said.retain(|it| !it.starts_with("dataset set: "));
    }
    assert_eq!(said.len(), 1, "{words:?}: {outcome}");
    let text = &said[0];
    for word in expected {
        assert!(text.contains(word), "{words:?}: {word} is not in: {text}");
    }
    assert!(!text.contains("os error"), "{words:?}: {text}");
    assert!(
        ADVICE.iter().any(|it| text.contains(it)),
        "{words:?}: no advice: {text}"
    );
    let mut parts: Vec<&str> = text.split([':', ';']).map(str::trim).collect();
    parts.sort_unstable();
    for pair in parts.windows(2) {
        assert!(pair[0] != pair[1], "{words:?}: twice: {}: {text}", pair[0]);
    }
}

#[track_caller]
fn refused(folder: &Path, words: &[&str], status: i32, expected: &[&str]) {
    let outcome = run(tool().args(words).current_dir(folder));
    is_clear(words, &outcome, status, expected);
}

/// A folder with a sound recording in it.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut record = tool();
    record.args(["demo", "--no-tui", "overlap", "-o", "same.atrace"]);
    run(record.current_dir(folder.path())).expect(0);
    folder
}

#[test]
fn an_unknown_option_is_refused_with_the_usage_of_its_command() {
    let folder = tempfile::tempdir().unwrap();
    let commands = [
        "view",
        "export",
        "report",
        "open",
        "query",
        "merge",
        "stats",
        "steps",
        "requests",
        "critical",
        "what-if",
        "diff",
        "why",
        "check",
        "info",
        "hooks",
        "schema",
        "doctor",
        "soft",
        "completions",
        "man",
        "dataset add",
        "dataset align",
        "record",
        "arm",
        "attach",
        "detach",
        "demo",
    ];
    for command in commands {
        let words: Vec<&str> = command.split(' ').chain(["--nope"]).collect();
        let status = match command {
            "record" | "arm" | "attach" | "demo" => TOOL,
            _ => TROUBLE,
        };
        let usage = match command {
            "record" => "usage: ascend-trace [record] ".to_owned(),
            _ => format!("usage: ascend-trace {command} "),
        };
        let help = format!("see `ascend-trace {command} --help`");
        refused(folder.path(), &words, status, &["'--nope'", &usage, &help]);
        let outcome = run(tool().args(&words).current_dir(folder.path()));
        assert!(!outcome.err().contains("did you mean"), "{outcome}");
    }
    refused(
        folder.path(),
        &["-q", "record", "--nope"],
        TOOL,
        &["'--nope'"],
    );
    refused(
        folder.path(),
        &["stats", "--strcit", "x"],
        TROUBLE,
        &["did you mean --strict?"],
    );
    refused(
        folder.path(),
        &["dataset", "ad"],
        TROUBLE,
        &["did you mean add?"],
    );
    refused(folder.path(), &["dataset"], TROUBLE, &["needs a command"]);
}

#[test]
fn missing_and_bad_values_are_named_with_their_option() {
    let folder = tempfile::tempdir().unwrap();
    for (words, expected) in [
        (&["stats", "--range"][..], &["--range"][..]),
        (&["export", "x", "--format"], &["--format"]),
        (&["check", "x", "--deny"], &["--deny"]),
        (&["merge", "x", "-o"], &["--output"]),
        (&["steps"], &["FILE"]),
        (&["requests"], &["FILE"]),
        (&["export", "x"], &["--format"]),
        (
            &["export", "x", "--format", "chrom"],
            &["'chrom'", "did you mean chrome?"],
        ),
        (
            &["query", "--memory", "much", "x", "y"],
            &["'much'", "--memory"],
        ),
        (
            &["dataset", "add", "x", "--to", "y", "--jobs", "3x"],
            &["3x"],
        ),
        (
            &["open", "x", "--port", "99999999"],
            &["99999999", "--port"],
        ),
        (
            &["stats", "x", "--range", "1..2parsec"],
            &["`2parsec`", "unknown unit"],
        ),
        (
            &["critical", "x", "--range", "1parsec..2"],
            &["`1parsec`", "unknown unit"],
        ),
        (
            &["export", "x", "--format", "csv", "--range", "x..2ms"],
            &["`x`", "1.5ms"],
        ),
        (&["stats", "x", "--range", "1..2"], &["`1` has no unit"]),
        (&["stats", "x", "--range", "5"], &["BEGIN..END"]),
    ] {
        refused(folder.path(), words, TROUBLE, expected);
    }
    for (words, expected) in [
        (
            &["record", "--buffer", "big", "true"][..],
            &["'big'", "--buffer"][..],
        ),
        (&["record", "--output"], &["--output"]),
        (&["record", "--watchdog", "3parsec", "true"], &["3parsec"]),
        (
            &["record", "--timing", "evnts", "true"],
            &["evnts", "--timing"],
        ),
    ] {
        refused(folder.path(), words, TOOL, expected);
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named_with_what_to_do() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("dir")).unwrap();
    fs::copy(path("same.atrace"), path("dir/one.atrace")).unwrap();
    fs::create_dir(path("bare")).unwrap();
    fs::write(path("empty"), "").unwrap();
    fs::write(path("short"), b"ASCTRACE\x01").unwrap();
    fs::write(
        path("elf"),
        b"\x7fELF\x02\x01\x01 and more than a header has",
    )
    .unwrap();
    fs::write(path("locked"), "x").unwrap();
    fs::set_permissions(path("locked"), fs::Permissions::from_mode(0o0)).unwrap();
    let is_root = fs::File::open(path("locked")).is_ok();
    if is_root {
        eprintln!("skipped: root can read every file");
    }
    let cases = [
        ("nowhere", &["nowhere", "there is no such file"][..]),
        ("same", &["same", "Name same.atrace"]),
        ("dir", &["dir", "folder", "dir/one.atrace"]),
        ("bare", &["bare", "folder", "no trace file"]),
        ("empty", &["empty", "nothing was recorded", "Record"]),
        ("short", &["short", "after 9 bytes", "Record"]),
        ("elf", &["elf", "not a trace file", "name a file"]),
        ("locked", &["locked", "may not read it"]),
    ];
    for (name, expected) in cases {
        if name == "locked" && is_root {
            continue;
        }
        for reader in READERS {
            // These take several files.
            let expected = match (reader[0], name) {
                ("merge" | "dataset", "dir" | "bare") => {
                    &[name, "not a file", "name the files"][..]
                }
                _ => expected,
            };
            let words = [reader, &[name][..]].concat();
            refused(folder.path(), &words, TROUBLE, expected);
        }
    }
}

#[test]
fn words_of_other_tools_are_refused_and_programs_of_that_name_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    for (words, expected) in [
        (
            &["summary", "x.atrace"][..],
            &["ascend-trace stats x.atrace"][..],
        ),
        (
            &["launch", "./app", "a b"],
            &["ascend-trace record ./app 'a b'"],
        ),
        (&["stop"], &["Ctrl-C"]),
        (&["top"], &["ascend-trace view FILE"]),
    ] {
        let again = format!("`ascend-trace -- {}", words[0]);
        let expected = [expected, &[&*again]].concat();
        let outcome = run(tool().args(words).current_dir(folder.path()));
        assert_eq!(outcome.status, TOOL, "{outcome}");
        for word in expected {
            assert!(outcome.said()[0].contains(word), "{word}: {outcome}");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
    // A program that the user has in PATH, and one that is named as a program.
    let bin = folder.path().join("bin");
    fs::create_dir(&bin).unwrap();
    crate::support::process::write_executable(&bin.join("launch"), b"#!/bin/sh\nexit 7\n");
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", bin.display());
    for words in [&["launch"][..], &["--", "launch"], &["record", "launch"]] {
        let mut command = tool();
        command.args(words).env("PATH", &path);
        run(command.current_dir(folder.path())).expect(7);
    }
    // A file in this folder is proposed.
    crate::support::process::write_executable(&folder.path().join("collect"), b"#!/bin/sh\n");
    let outcome = run(tool().arg("collect").current_dir(folder.path())).expect(TOOL);
    assert!(
        outcome.err().contains("`ascend-trace ./collect`"),
        "{outcome}"
    );
}

#[test]
fn little_address_space_is_said_once_and_not_taken_for_a_full_folder() {
    let folder = tempfile::tempdir().unwrap();
    // As much as the tool itself needs, at any size, and less than it needs to record.
    let size = fs::metadata(tool().get_program()).unwrap().len() / 1024;
    let mut seen = false;
    for mib in (8..72).step_by(8) {
        let mut shell = clean("sh");
        shell.args(["-c", "ulimit -v \"$1\"; shift; exec \"$@\"", "sh"]);
        shell.arg((size + mib * 1024).to_string());
        shell
            .arg(tool().get_program())
            .args(["record", "--no-tui", "true"]);
        let outcome = run(shell.current_dir(folder.path()));
        if outcome.status != TOOL || !outcome.err().contains("address space") {
            continue;
        }
        seen = true;
        assert_eq!(outcome.said().len(), 1, "{outcome}");
        let text = outcome.err();
        assert!(
            text.contains("ulimit -v") && text.contains("--buffer"),
            "{text}"
        );
        assert!(
            !text.contains("/dev/shm") && !text.contains("os error"),
            "{text}"
        );
        assert_eq!(text.matches("raise").count(), 1, "{text}");
    }
    assert!(seen, "no limit between the two was found");
}

/// A name of each kind that a shell would change.
const NAMES: [&[u8]; 12] = [
    b"a b",
    b"it's",
    b"$HOME",
    b"\"two\"",
    b"`id`",
    b"-dash",
    b"*",
    b"a\\b",
    b"new\nline",
    b"tab\t",
    b"\xff\x31",
    "\u{202e}x".as_bytes(),
];

#[test]
fn the_command_that_a_message_proposes_works_for_every_name() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let has_bash = run(clean("sh").args(["-c", "command -v bash"])).status == 0;
    for name in NAMES {
        let folder = tempfile::tempdir().unwrap();
        let name = [name, b".atrace"].concat();
        let name = OsStr::from_bytes(&name);
        let mut output = OsStr::new("--output=").to_owned();
        output.push(name);
        let mut record = tool();
        record.args(["demo", "--no-tui", "overlap"]).arg(output);
        let recorded = run(record.current_dir(folder.path())).expect(0);
        let text = recorded.err();
        const LOOK: &str = "look at it with: ascend-trace view ";
        let shown = text
            .lines()
            .find_map(|line| line.split_once(LOOK))
            .unwrap()
            .1;
        let shell = match shown.starts_with("$'") {
            true if !has_bash => {
                eprintln!("skipped: bash is not installed");
                continue;
            }
            true => "bash",
            false => "sh",
        };
        let info = |word: &str| {
            let mut command = clean(shell);
            command.args(["-c", &format!("exec \"$0\" info {word}")]);
            command.arg(tool().get_program());
            run(command.current_dir(folder.path())).expect(0);
        };
        info(shown);
        // The question about a trace where a program is expected.
        let mut question = tool();
        question.arg(Path::new(".").join(name));
        let asked = run(question.current_dir(folder.path())).expect(TOOL).err();
        let shown = asked
            .split_once("did you mean `ascend-trace view ")
            .unwrap()
            .1;
        info(shown.trim_end().strip_suffix("`?").unwrap());
    }
}
