//! Instructions of a recorded call. They are counted and not timed, so the result does not depend on the machine's load.
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::support::compile::{built, program_with};
use crate::support::process::{clean, has_valgrind, tool};
use crate::support::run;

/// Calls of the shorter run; the longer one makes twice as many.
const CALLS: u64 = 20_000;
/// Most instructions of a recorded call, with those of the program and of the function that it calls.
const MOST: f64 = 100.0;

/// Programs and libraries for the counted runs.
struct Counted {
    program: PathBuf,
    /// The least that records a call, in C: two looks at the clock, and 64 bytes.
    floor: PathBuf,
    folder: TempDir,
}

impl Counted {
    fn new() -> Self {
        let library = built(
            "instructions/libascendcl.so",
            "instructions_library.c",
            &["-O2", "-shared", "-fPIC"],
        );
        let library = library.to_str().unwrap().to_owned();
        let options = ["-shared", "-fPIC", "-O2", "-ldl"];
        Self {
            program: program_with("instructions", &["-O2", &library]),
            floor: built("floor.so", "../../benches/programs/wrapper.c", &options),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// Adds the program with this number of calls under valgrind to a command.
    fn arguments<'c>(&self, command: &'c mut Command, calls: u64) -> &'c mut Command {
        let file = self.folder.path().join("callgrind.out");
        command
            .args(["--tool=callgrind", "--error-exitcode=99"])
            .arg(format!("--callgrind-out-file={}", file.display()))
            .arg(&self.program)
            .arg(calls.to_string())
    }

    fn alone(&self, preloaded: Option<&Path>, calls: u64) -> u64 {
        let mut command = clean("valgrind");
        if let Some(library) = preloaded {
            command.env("LD_PRELOAD", library);
        }
        collected(self.arguments(&mut command, calls))
    }

    fn recorded(&self, calls: u64) -> u64 {
        let mut command = tool();
        command.args(["record", "--no-tui", "--force", "--timing", "off", "-o"]);
        command.arg(self.folder.path().join("t.atrace"));
        command.args(["--", "valgrind"]);
        collected(self.arguments(&mut command, calls))
    }
}

/// The instructions that callgrind has counted.
#[track_caller]
fn collected(command: &mut Command) -> u64 {
    let outcome = run(command);
    assert_eq!(outcome.status, 0, "{outcome}");
    let text = outcome.err();
    assert!(!text.contains("LOST"), "{outcome}");
    let mut lines = text.lines();
    let line = lines.find_map(|line| line.split_once("Collected : "));
    let number = line.and_then(|(_, number)| number.trim().parse().ok());
    number.unwrap_or_else(|| panic!("no count: {outcome}"))
}

/// Instructions of one more call.
#[track_caller]
fn per_call(count: impl Fn(u64) -> u64) -> f64 {
    let (once, twice) = (count(CALLS), count(2 * CALLS));
    (twice - once) as f64 / CALLS as f64
}

#[test]
fn a_recorded_call_takes_at_most_a_hundred_instructions() {
    if !has_valgrind() {
        return;
    }
    let counted = Counted::new();
    let bare = per_call(|calls| counted.alone(None, calls));
    let floor = per_call(|calls| counted.alone(Some(&counted.floor), calls));
    let recorded = per_call(|calls| counted.recorded(calls));
    eprintln!("instructions of a call: bare {bare:.1}, C floor {floor:.1}, recorded {recorded:.1}");
    assert!(bare < floor && floor < recorded, "all of them are counted");
    // Other processors need other numbers of instructions for the same work.
    if cfg!(target_arch = "x86_64") {
        assert!(recorded <= MOST, "{recorded:.1} instructions");
    }
}
