//! Programs of other kinds than a plain loop do the same when they are traced, with `--python` and without.

use super::{interpreter, program, source, without_warnings};
use crate::support::Run;
use crate::support::process::Outcome;

const PROGRAM: &str = "tests/programs/torch_kinds.py";

/// Output of a run without losses.
#[track_caller]
fn written(run_it: &Run, options: &[&str], status: i32) -> (String, Outcome) {
    let recording = run_it.clone().options(options).traced();
    let traced = recording.outcome.clone().expect(status);
    assert!(!traced.err().contains("LOST"), "{traced}");
    (traced.out(), traced)
}

#[track_caller]
pub(super) fn check(run_it: &Run, status: i32) -> String {
    let bare = run_it.clone().bare().expect(status);
    for options in [&["--python"][..], &[]] {
        let (out, traced) = written(run_it, options, status);
        let printed = [&out, &bare.out()].map(|text| without_warnings(text));
        assert_eq!(printed[0], printed[1], "{options:?} {traced}");
    }
    bare.out()
}

/// Checkpoints, two optimizers, half precision, functions and hooks of the program's own, errors within steps, and an
/// end by `sys.exit`.
#[test]
fn programs_of_many_kinds_do_the_same() {
    let Some(python) = interpreter() else { return };
    let out = check(&program(&python, &[&source(PROGRAM), "all"]), 7);
    for word in [
        "checkpoint True 2",
        "adversaries 5",
        "mixed 7",
        "second",
        "gradient of 0",
        "no gradient",
    ] {
        assert!(out.contains(word), "{word}: {out}");
    }
}

#[test]
fn processes_that_are_spawned_do_the_same() {
    let Some(python) = interpreter() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rank");
    let words = [&source(PROGRAM), "spawning", file.to_str().unwrap()];
    let out = check(&program(&python, &words).soft("devices=2"), 0);
    let ranks = out.lines().filter(|line| line.starts_with(['0', '1']));
    assert_eq!(ranks.count(), 2, "{out}");
}
