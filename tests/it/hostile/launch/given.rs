//! Signals, streams and limits that the program inherits are those that the command was given.

use std::path::Path;
use std::process::Command;

use crate::support::compile::{hostile, soft};
use crate::support::process::clean;
use crate::support::{Outcome, run, tool};

/// The program on its own and under the tracer, started by a parent with these habits.
#[track_caller]
fn both(habits: &[&str]) -> (Outcome, Outcome, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let parent = |rest: &[&Path]| {
        let mut command = clean(hostile("parent"));
        command.args(habits).arg("--").args(rest);
        command.env("LD_LIBRARY_PATH", &soft().lib);
        command.env("XDG_CACHE_HOME", crate::support::process::cache());
        command.env("ASCEND_TRACE_MEMORY", folder.path());
        command.current_dir(folder.path());
        run(&mut command)
    };
    let given = hostile("given");
    let bare = parent(&[&given]);
    let tool = tool();
    let words = ["record", "-o", "t.atrace", "--"].map(Path::new);
    let words = [&[Path::new(tool.get_program())], &words[..], &[&given]].concat();
    let traced = parent(&words);
    (bare, traced, folder)
}

#[track_caller]
fn unchanged(habits: &[&str], expected: &[&str]) {
    let (bare, traced, folder) = both(habits);
    let (bare, traced) = (bare.expect(3), traced.expect(3));
    for line in expected {
        assert!(bare.out().contains(line), "{line} is not in {bare}");
    }
    assert_eq!(bare.out(), traced.out());
    assert_eq!(traced.program_err(), "");
    assert!(traced.said()[0].contains("4 calls"), "{traced}");
    let mut info = tool();
    info.args(["info", "--json"])
        .arg(folder.path().join("t.atrace"));
    let info = run(&mut info).expect(0);
    assert!(
        info.out().contains("\"exit_status\": 3"),
        "the trace has its end: {info}"
    );
    let left = std::fs::read_dir(folder.path()).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["t.atrace"], "and no memory is left behind");
}

#[test]
fn signals_that_a_parent_ignores_stay_ignored_and_no_others() {
    unchanged(&[], &[]);
    unchanged(&["pipe", "usr2"], &["ignored 13\n", "ignored 12\n"]);
}

#[test]
fn signals_that_a_parent_blocks_stay_blocked() {
    unchanged(&["block"], &["blocked 15\n", "blocked 37\n"]);
}

#[test]
fn a_stream_that_is_closed_stays_closed() {
    unchanged(&["stdin"], &["stream 0 closed\n"]);
}

#[test]
fn a_parent_that_does_not_care_for_its_children() {
    unchanged(&["chld"], &["ignored 17\n"]);
}

/// The tool gets a signal to end while it cannot receive it.
#[test]
fn the_rest_of_a_pipe_may_go_away() {
    let folder = tempfile::tempdir().unwrap();
    let mut shell: Command = tool();
    let program = shell.get_program().to_owned();
    shell = clean("sh");
    let script = "\"$0\" record -o \"$1\"/t.atrace -- sh -c 'yes; echo $? >\"$0\"/status' \"$1\" | head -n 1; cat \"$1\"/status";
    shell.args(["-c", script]).arg(program).arg(folder.path());
    shell.env("XDG_CACHE_HOME", crate::support::process::cache());
    let outcome = run(&mut shell);
    assert!(outcome.out().starts_with("y\n"), "{outcome}");
    // `yes` is ended by the signal, as without the tracer.
    let status = std::fs::read_to_string(folder.path().join("status")).unwrap();
    assert_eq!(status, "141\n");
}
