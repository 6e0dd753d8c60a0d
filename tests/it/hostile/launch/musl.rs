//! Programs for musl's loader, which the library cannot be loaded into: it needs glibc.

use std::path::PathBuf;

use crate::support::compile::hostile_by;
use crate::support::process::write_executable;
use crate::support::{Run, program, run, tool};

fn musl() -> Option<PathBuf> {
    hostile_by("musl", "musl", &["musl-gcc"])
}

#[test]
fn a_program_for_musl_is_refused_before_it_starts() {
    let Some(musl) = musl() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut command = tool();
    command
        .args(["record", "-o"])
        .arg(folder.path().join("t.atrace"));
    let outcome = run(command.arg("--").arg(&musl)).expect(125);
    assert_eq!(outcome.out(), "");
    let said = outcome.said();
    assert_eq!(said.len(), 1, "{outcome}");
    assert!(said[0].contains("musl"), "{outcome}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn children_for_musl_run_as_they_would() {
    let Some(musl) = musl() else { return };
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.sh");
    write_executable(
        &script,
        b"#!/bin/sh\n\"$1\" a b\necho status $?\n\"$2\" status 4\n",
    );
    let words = [musl.to_str().unwrap(), program("ends").to_str().unwrap()].map(str::to_owned);
    let words = [words[0].as_str(), words[1].as_str()];
    let recording = Run::new(&script).words(&words).compared();
    let outcome = recording.outcome.expect(4);
    assert!(outcome.out().contains("2 arguments\nstatus 9"), "{outcome}");
    assert!(outcome.said()[0].contains("2 tasks"), "{outcome}");
}
