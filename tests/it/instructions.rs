//! Instructions of a recorded call, and of a task with events. They are counted and not timed, so the result does not depend on
//! the machine's load.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::support::compile::{built, program_with};
use crate::support::process::{clean, has_valgrind, tool};
use crate::support::run;

/// Calls of the shorter run; the longer one makes twice as many.
const CALLS: u64 = 20_000;
/// Most instructions of a recorded call, with those of the program and of the function that it calls. The half is for the
/// few calls of each segment that look for a pause.
const MOST: f64 = 100.5;

/// The same during a pause of the recording: such a call is left at the entry.
const MOST_PAUSED: f64 = 52.0;

/// The same while no recorder is attached to the program, more than without the tool.
const MOST_ARMED: f64 = 31.5;

/// Tasks of the shorter run of launches, in batches.
const TASKS: u64 = 10_000;
const BATCH: u64 = 50;
/// Most instructions of the program's thread for a task with two events around it, and for one of `auto`, with those of the
/// program and of the runtime.
const MOST_TIMED: f64 = 3_300.0;
/// Most instructions of all threads for such a task that lock the bus.
const MOST_LOCKED: f64 = 8.0;

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
            "counted/libascendcl.so",
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

    fn recorded(&self, calls: u64, options: &[&str]) -> u64 {
        let mut command = tool();
        command.args(["record", "--no-tui", "--force", "--timing", "off"]);
        command.args(options).arg("-o");
        command.arg(self.folder.path().join("t.atrace"));
        command.args(["--", "valgrind"]);
        collected(self.arguments(&mut command, calls))
    }
}

impl Counted {
    /// The program waits for a recorder that never comes.
    fn armed(&self, calls: u64) -> u64 {
        let mut command = tool();
        command.args(["arm", "--", "valgrind"]);
        collected(self.arguments(&mut command, calls))
    }
}

/// A program that submits tasks, and its counted runs.
struct Launches {
    program: PathBuf,
    folder: TempDir,
}

impl Launches {
    fn new() -> Self {
        let library = built(
            "launched/libascendcl.so",
            "launches_library.c",
            &["-O2", "-shared", "-fPIC"],
        );
        let library = library.to_str().unwrap().to_owned();
        Self {
            program: program_with("launches", &["-O2", "-pthread", &library]),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// Instructions of the program's thread, and those of all threads that lock the bus. `timing` is `None` for a run without the tool.
    fn counted(&self, timing: Option<&str>, tasks: u64) -> [u64; 2] {
        let file = self.folder.path().join("callgrind.out");
        let mut command = match timing {
            None => clean("valgrind"),
            Some(timing) => {
                let mut command = tool();
                command.args(["record", "--no-tui", "--force", "--timing", timing, "-o"]);
                command.arg(self.folder.path().join("t.atrace"));
                command.args(["--", "valgrind"]);
                command
            }
        };
        command
            .args(["--tool=callgrind", "--collect-bus=yes"])
            .args(["--separate-threads=yes", "--fair-sched=try"])
            .arg("--error-exitcode=99")
            .arg(format!("--callgrind-out-file={}", file.display()))
            .arg(&self.program)
            .args(["1", &(tasks / BATCH).to_string(), &BATCH.to_string()]);
        let outcome = run(&mut command);
        assert_eq!(outcome.status, 0, "{outcome}");
        let threads = self.totals();
        let locked = threads.iter().map(|[_, locked]| locked).sum();
        [threads.first().unwrap()[0], locked]
    }

    /// Instructions of each thread, and how many of them lock the bus. The program's thread is the first. Removes the files.
    fn totals(&self) -> Vec<[u64; 2]> {
        let file = |thread: u32| {
            self.folder
                .path()
                .join(format!("callgrind.out-{thread:02}"))
        };
        let files = (1..).map(file).take_while(|file| file.exists());
        let totals = files.map(|file| {
            let text = std::fs::read_to_string(&file).unwrap();
            std::fs::remove_file(&file).unwrap();
            let totals = text.lines().find_map(|line| line.strip_prefix("totals:"));
            let mut counts = totals.unwrap().split_whitespace();
            // A count of zeros at the end is left out.
            std::array::from_fn(|_| counts.next().map_or(0, |count| count.parse().unwrap()))
        });
        totals.collect()
    }

    /// Both of one more task.
    fn per_task(&self, timing: Option<&str>) -> [f64; 2] {
        let (once, twice) = (self.counted(timing, TASKS), self.counted(timing, 2 * TASKS));
        [0, 1].map(|place| (twice[place] as f64 - once[place] as f64) / TASKS as f64)
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
fn a_recorded_call_takes_a_hundred_instructions_and_one_in_a_pause_fifty() {
    if !has_valgrind() {
        return;
    }
    let counted = Counted::new();
    let bare = per_call(|calls| counted.alone(None, calls));
    let floor = per_call(|calls| counted.alone(Some(&counted.floor), calls));
    let recorded = per_call(|calls| counted.recorded(calls, &[]));
    let paused = per_call(|calls| counted.recorded(calls, &["--paused"]));
    eprintln!(
        "instructions of a call: bare {bare:.1}, C floor {floor:.1}, recorded {recorded:.1}, paused {paused:.1}"
    );
    assert!(bare < floor && floor < recorded, "all of them are counted");
    // Other processors need other numbers of instructions for the same work.
    if cfg!(target_arch = "x86_64") {
        assert!(recorded <= MOST, "{recorded:.1} instructions");
        assert!(paused <= MOST_PAUSED, "{paused:.1} instructions");
    }
}

#[test]
fn a_call_without_a_recorder_takes_a_few_instructions_more_than_without_the_tool() {
    if !has_valgrind() {
        return;
    }
    let counted = Counted::new();
    let bare = per_call(|calls| counted.alone(None, calls));
    let armed = per_call(|calls| counted.armed(calls));
    eprintln!("instructions of a call: bare {bare:.1}, armed {armed:.1}");
    assert!(bare < armed, "the library is there");
    if cfg!(target_arch = "x86_64") {
        assert!(
            armed - bare <= MOST_ARMED,
            "{:.1} instructions",
            armed - bare
        );
    }
}

#[test]
fn a_task_with_events_takes_few_instructions_and_few_of_them_lock_the_bus() {
    if !has_valgrind() {
        return;
    }
    let launches = Launches::new();
    let [bare, off, events, auto] =
        [None, Some("off"), Some("events"), Some("auto")].map(|way| launches.per_task(way));
    eprintln!(
        "instructions of a task, and those of all threads that lock the bus: bare {bare:.1?}, off {off:.1?}, events {events:.1?}, auto {auto:.1?}"
    );
    assert!(
        bare[0] < off[0] && off[0] < events[0],
        "all of them are counted"
    );
    assert!(events[1] > 0.5, "the turn of the stream is taken");
    if cfg!(target_arch = "x86_64") {
        for [all, locked] in [events, auto] {
            assert!(all <= MOST_TIMED, "{all:.1} instructions");
            assert!(locked <= MOST_LOCKED, "{locked:.2} lock the bus");
        }
    }
}
