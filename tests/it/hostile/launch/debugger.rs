//! Programs that a debugger starts and watches.

use std::path::Path;

use crate::support::process::clean;
use crate::support::{Run, Tables, program};

/// A debugger sees every library come, stops all threads at once, and calls into the loader.
#[test]
fn a_program_in_a_debugger_is_recorded_as_alone() {
    let found = clean("sh").args(["-c", "command -v gdb"]).output().unwrap();
    let gdb = String::from_utf8(found.stdout).unwrap();
    if gdb.trim().is_empty() {
        eprintln!("skipped: there is no gdb");
        return;
    }
    let program = program("ends");
    let words = [
        "-nx",
        "-q",
        "-batch",
        "-ex",
        "set startup-with-shell off",
        "-ex",
        "run",
        "--args",
    ];
    let words = [&words[..], &[program.to_str().unwrap(), "status", "3"]].concat();
    let recording = Run::new(Path::new(gdb.trim())).words(&words).traced();
    let outcome = recording.outcome.clone().expect(0);
    assert!(outcome.out().contains("exited with code 03"), "{outcome}");
    let alone = Tables::of(&Run::new(&program).words(&["status", "3"]).traced());
    let tables = Tables::of(&recording);
    assert_eq!(tables.calls.len(), alone.calls.len(), "{outcome}");
    tables.all_timed();
}
