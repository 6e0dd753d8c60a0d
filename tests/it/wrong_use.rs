//! What cannot be done is refused in one clear line on stderr, with the documented status.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::compile::program_with;
use crate::support::process::{clean, write_executable};
use crate::support::{Outcome, Run, example, program, run, tool};

/// The statuses of DESIGN: the tool's own trouble before the launch, as `env` and `timeout` do.
const TOOL: i32 = 125;
const NOT_EXECUTABLE: i32 = 126;
const NOT_FOUND: i32 = 127;
/// Commands that launch nothing.
const TROUBLE: i32 = 2;

fn command(words: &[&str]) -> Command {
    let mut command = tool();
    command.args(words);
    command
}

/// One line of the tool's on stderr that holds all these words, nothing else, and the status.
#[track_caller]
fn refused(command: &mut Command, status: i32, words: &[&str]) -> Outcome {
    let outcome = run(command).expect(status);
    assert_eq!(outcome.out(), "", "{command:?}: {outcome}");
    assert_eq!(outcome.program_err(), "", "{command:?}: {outcome}");
    let said = outcome.said();
    assert_eq!(said.len(), 1, "{command:?}: {outcome}");
    for word in words {
        assert!(said[0].contains(word), "{word} is not in: {}", said[0]);
    }
    outcome
}

/// As [`refused`], for words that are no command line: hints may follow.
#[track_caller]
fn misunderstood(words: &[&str], status: i32, expected: &[&str]) {
    let outcome = run(&mut command(words)).expect(status);
    assert_eq!(outcome.out(), "", "{outcome}");
    assert_eq!(outcome.program_err(), "", "{outcome}");
    let said = outcome.said();
    assert!((1..=3).contains(&said.len()), "{outcome}");
    for word in expected {
        assert!(said[0].contains(word), "{word} is not in: {}", said[0]);
    }
    assert!(said.last().unwrap().contains("--help"), "{outcome}");
}

/// A recording of `program` in a separate folder.
fn record(folder: &Path, program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = command(&["record", "-o"]);
    command.arg(folder.join("t.atrace")).arg("--").arg(program);
    command
}

/// A refused recording leaves no file behind.
#[track_caller]
fn not_recorded(program: impl AsRef<std::ffi::OsStr>, status: i32, words: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    refused(&mut record(folder.path(), program), status, words);
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_program_that_does_not_exist() {
    not_recorded("/nowhere/app", NOT_FOUND, &["/nowhere/app"]);
    not_recorded(
        "no-such-program-anywhere",
        NOT_FOUND,
        &["no-such-program-anywhere", "PATH"],
    );
}

#[test]
fn a_script_without_an_existing_interpreter() {
    let folder = tempfile::tempdir().unwrap();
    let script = executable(folder.path(), b"#!/nowhere/sh\n");
    not_recorded(script, NOT_FOUND, &["interpreter"]);
}

/// A file that claims to be executable.
fn executable(folder: &Path, content: &[u8]) -> std::path::PathBuf {
    let path = folder.join("app");
    write_executable(&path, content);
    path
}

#[test]
fn a_file_that_is_not_executable() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("plain");
    fs::write(&plain, "#!/bin/sh\n").unwrap();
    not_recorded(&plain, NOT_EXECUTABLE, &["plain", "not executable"]);
    not_recorded(folder.path(), NOT_EXECUTABLE, &["folder"]);
    not_recorded(
        executable(folder.path(), b"no program\n"),
        NOT_EXECUTABLE,
        &["app"],
    );
}

#[test]
fn a_program_for_another_machine() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = fs::read(example("event_sync")).unwrap();
    // e_machine: a processor that no machine of today has.
    bytes[18..20].copy_from_slice(&2_u16.to_le_bytes());
    let foreign = executable(folder.path(), &bytes);
    not_recorded(foreign, NOT_EXECUTABLE, &["app", std::env::consts::ARCH]);
}

#[test]
fn a_static_program() {
    let options = ["-static", "-nostdlib", "-ffreestanding", "-Wl,-e,main"];
    not_recorded(program_with("static", &options), TOOL, &["static"]);
}

#[test]
fn unknown_options_of_the_software_runtime_are_named_with_the_known_ones() {
    let outcome = refused(
        &mut command(&["record", "--soft=devices=2,ticks=1", "true"]),
        TOOL,
        &["`ticks`"],
    );
    let known = [
        "devices",
        "clock_offset_ns",
        "drift_ppm",
        "tick_ns",
        "submit_ns",
        "events",
    ];
    for key in known
        .into_iter()
        .chain(["streams", "queue", "strict", "verbose"])
    {
        assert!(outcome.said()[0].contains(key), "{key}: {outcome}");
    }
    refused(
        &mut command(&["record", "--soft=devices=none", "true"]),
        TOOL,
        &["`devices`"],
    );
}

#[test]
fn output_files_that_cannot_be_written() {
    for path in ["/dev/null/t.atrace", "/proc/t.atrace", "/"] {
        refused(&mut command(&["record", "-o", path, "true"]), TOOL, &[path]);
    }
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("t.atrace");
    fs::write(&old, "old").unwrap();
    refused(
        &mut record(folder.path(), "true"),
        TOOL,
        &["t.atrace", "exists"],
    );
    assert_eq!(fs::read_to_string(old).unwrap(), "old");
}

#[test]
fn words_that_are_no_command_line() {
    misunderstood(&["record", "--frobnicate", "true"], TOOL, &["--frobnicate"]);
    misunderstood(&["--frobnicate", "true"], TOOL, &["--frobnicate"]);
    misunderstood(
        &["record", "--timing", "often", "true"],
        TOOL,
        &["often", "--timing"],
    );
    misunderstood(&["record"], TOOL, &["APP"]);
    misunderstood(&["export", "t.atrace"], TROUBLE, &["--format"]);
    misunderstood(
        &["export", "t.atrace", "--format", "pdf"],
        TROUBLE,
        &["pdf"],
    );
    misunderstood(&["info"], TROUBLE, &["FILE"]);
    misunderstood(&["open", "a", "b"], TROUBLE, &["b"]);
    misunderstood(&["soft"], TROUBLE, &["--include-dir"]);
    refused(
        &mut command(&["demo", "no-such-demo"]),
        TOOL,
        &["no-such-demo", "overlap"],
    );
    refused(
        &mut command(&["record", "--engine", "frida", "true"]),
        TOOL,
        &["frida"],
    );
    // A word that is not a command is a program.
    refused(&mut command(&["frobnicate"]), NOT_FOUND, &["frobnicate"]);
}

#[test]
fn words_that_are_nearly_commands_are_asked_back() {
    let recording = Run::new(&example("event_sync")).traced();
    let trace = recording.trace();
    let trace = trace.to_str().unwrap();
    refused(
        &mut command(&["stat", trace]),
        TOOL,
        &["ascend-trace stats", "ascend-trace -- stat"],
    );
    refused(
        &mut command(&["-q", "exprot", trace]),
        TOOL,
        &["ascend-trace export"],
    );
    refused(&mut command(&[trace]), TOOL, &["ascend-trace view"]);
    // With two dashes it is a program, which there is not.
    refused(&mut command(&["--", "statz", trace]), NOT_FOUND, &["statz"]);
    misunderstood(&["info", trace, "--range", "1..2"], TROUBLE, &["--range"]);
    misunderstood(&["stats", trace, "--range", "1..2"], TROUBLE, &["no unit"]);
}

/// Every command that reads a trace; the last one follows a file that may still grow.
const READERS: [&[&str]; 4] = [
    &["info"],
    &["stats"],
    &["export", "--format", "chrome", "-o", "-"],
    &["view"],
];

#[track_caller]
fn unreadable(readers: &[&[&str]], path: &Path, words: &[&str]) {
    let words: Vec<_> = words.iter().copied().chain(path.to_str()).collect();
    for reader in readers {
        refused(command(reader).arg(path), TROUBLE, &words);
    }
}

#[test]
fn files_that_are_no_traces() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.atrace");
    unreadable(&READERS, &path, &["cannot open"]);
    unreadable(&READERS, folder.path(), &["cannot open"]);
    for foreign in [
        "{\"traceEvents\":[]}\n",
        "PK\u{3}\u{4} and more than any header holds",
    ] {
        fs::write(&path, foreign).unwrap();
        unreadable(&READERS, &path, &["cannot open"]);
    }
    fs::write(&path, "").unwrap();
    unreadable(&READERS[..3], &path, &["empty"]);
}

#[test]
fn a_trace_that_was_cut_off_opens_as_far_as_it_goes() {
    let recording = Run::new(&example("event_sync")).traced();
    let whole = fs::read(recording.trace()).unwrap();
    let path = recording.beside("cut.atrace");
    for length in [whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        for reader in &READERS[..3] {
            let outcome = run(command(reader).arg(&path)).expect(3);
            assert!(!outcome.out().is_empty(), "{outcome}");
            assert_eq!(outcome.program_err(), "", "{outcome}");
            let said = outcome.said().join("\n");
            assert!(
                said.contains("no end"),
                "the missing part is named: {outcome}"
            );
        }
    }
    // Not even the header is whole.
    fs::write(&path, &whole[..7]).unwrap();
    unreadable(&READERS[..3], &path, &[]);
}

/// The tool's lines after a program in which no call was seen.
#[track_caller]
fn advice(outcome: &Outcome) -> String {
    let text = outcome.said().join("\n");
    assert!(text.contains("no AscendCL call was seen"), "{outcome}");
    text
}

#[test]
fn a_program_that_never_calls_ascendcl() {
    let recording = Run::new(&program("idle")).compared();
    let text = advice(&recording.outcome.clone().expect(11));
    assert!(text.contains("Check that the program"), "{text}");
}

#[test]
fn a_program_with_a_runtime_that_the_loader_does_not_find() {
    let folder = tempfile::tempdir().unwrap();
    let bare = run(&mut clean(program("ends"))).expect(127);
    let outcome = run(&mut record(folder.path(), program("ends"))).expect(127);
    assert_eq!(
        outcome.program_err(),
        bare.err(),
        "the message of the loader stays as it is"
    );
    let text = advice(&outcome);
    assert!(
        text.contains("did not find libascendcl.so") && text.contains("--soft"),
        "{text}"
    );
}

#[test]
fn a_program_that_the_tracer_does_not_get_into() {
    let folder = tempfile::tempdir().unwrap();
    let script = executable(folder.path(), b"#!/bin/sh\nunset LD_PRELOAD\nexec \"$@\"\n");
    let recording = Run::new(&script).words(&[program("ends").to_str().unwrap(), "status", "4"]);
    let text = advice(&recording.compared().outcome.expect(4));
    assert!(text.contains("LD_PRELOAD"), "{text}");
}
