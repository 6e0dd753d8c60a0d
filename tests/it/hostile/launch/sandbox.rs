//! Programs in sandboxes and under limits.
#![expect(clippy::print_stderr, reason = "skipped tests say why")]

use std::process::Command;

use crate::hostile::counts::balanced;
use crate::support::compile::{hostile, soft};
use crate::support::process::{cache, clean};
use crate::support::{Run, run, tool};

#[test]
fn without_threads_calls_return_an_error() {
    let recording = Run::new(&hostile("no_threads")).compared();
    if recording.outcome.status == 77 {
        eprintln!("skipped: there are no filters here");
        return;
    }
    let out = recording.outcome.clone().expect(0).out();
    // ACL_ERROR_RT_INTERNAL_ERROR, as from a runtime that has no resources left.
    assert!(
        out.contains("memset 507000\n") && out.contains("function 507000\n"),
        "{out}"
    );
    assert!(out.contains("synchronise 0\n"), "{out}");
    balanced(&recording);
}

/// The tool's summary of a recording of a shell script with a program as `$0`.
#[track_caller]
fn said(script: &str, status: i32) -> String {
    let program = hostile("given");
    let run = Run::new(std::path::Path::new("/bin/sh"));
    let recording = run
        .words(&["-c", script, program.to_str().unwrap()])
        .traced();
    recording.outcome.expect(status).said().join("\n")
}

#[test]
fn too_little_address_space_is_named_as_the_reason() {
    let text = said("ulimit -v 200000; exec \"$0\"", 3);
    assert!(text.contains("limited to 196 MiB (ulimit -v)"), "{text}");
    assert!(!text.contains("no process has joined"), "{text}");
}

#[test]
fn a_tool_without_address_space_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let tool = tool();
    let mut parent = clean(hostile("parent"));
    parent.args(["space=250", "--"]).arg(tool.get_program());
    parent
        .env("XDG_CACHE_HOME", cache())
        .env("LD_LIBRARY_PATH", &soft().lib);
    parent
        .args(["record", "-o", "t.atrace", "true"])
        .current_dir(folder.path());
    let outcome = run(&mut parent).expect(125);
    assert!(outcome.err().contains("ulimit -v"), "{outcome}");
}

/// Whether this command works here; prints that a test is skipped if not.
fn can_change_user(words: &[&str]) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    let works = || {
        Command::new(words[0])
            .args(&words[1..])
            .output()
            .is_ok_and(|it| it.status.success())
    };
    let can = is_root && works();
    if !can {
        eprintln!("skipped: {} needs root, or is not here", words[0]);
    }
    can
}

#[test]
fn a_program_that_becomes_another_user_is_reported() {
    if !can_change_user(&["setpriv", "--version"]) {
        return;
    }
    let script = "exec setpriv --reuid=4711 --clear-groups true";
    let text = said(script, 0);
    assert!(text.contains("went on as user 4711"), "{text}");
}

#[test]
fn a_trace_that_is_moved_away_is_not_proposed() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = tool();
    command
        .current_dir(folder.path())
        .env("LD_LIBRARY_PATH", &soft().lib);
    command.args([
        "record",
        "-o",
        "t.atrace",
        "--",
        "sh",
        "-c",
        "mv t.atrace u.atrace; \"$0\"",
    ]);
    let outcome = run(command.arg(hostile("given"))).expect(3);
    let text = outcome.said().join("\n");
    let is_there = folder.path().join("t.atrace").exists();
    assert_eq!(text.contains("ascend-trace view"), is_there, "{text}");
    assert_eq!(text.contains("moved or removed"), !is_there, "{text}");
}

#[test]
fn damage_of_the_shared_memory_is_not_reported_as_losses() {
    let outcome = Run::new(&hostile("overwritten")).traced().outcome.expect(6);
    assert_eq!(outcome.out(), "done\n");
    for line in outcome.said() {
        let numbers = line.split(|char: char| !char.is_ascii_digit() && char != ',');
        let longest = numbers.map(|number| number.replace(',', "").len()).max();
        assert!(longest < Some(16), "{outcome}");
    }
}

#[test]
fn a_launcher_that_starts_programs_as_another_user_is_reported() {
    let words = ["runuser", "-u", "nobody", "--", "true"];
    if !can_change_user(&words) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = tool();
    command
        .current_dir(folder.path())
        .args(["record", "-o", "t.atrace", "--"]);
    let outcome = run(command.args(words)).expect(0);
    let text = outcome.said().join("\n");
    assert!(
        text.contains("runuser starts programs as another user"),
        "{text}"
    );
}
