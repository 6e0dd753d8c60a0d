//! Many processes and recorders at once.

/// Processes and recorders in other pid namespaces.
mod namespaces;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ascend_trace_recording::Trace;
use ascend_trace_testkit::whole::opened;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::counts::balanced;
use crate::support::compile::hostile;
use crate::support::process::finish;
use crate::support::{Outcome, Recording, Run, Tables, program, run, tool};

/// How long the recorder may take to find a process.
const LIMIT: Duration = Duration::from_secs(300);

/// A recorder with a program that waits for a line, if it was started.
struct Waiting {
    child: Child,
    is_ready: bool,
}

impl Waiting {
    fn start(command: &mut Command) -> Self {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let is_ready = false;
        Self { child, is_ready }
    }

    /// Waits until the program has started, or the recorder has refused.
    fn until_ready(&mut self) {
        let mut line = String::new();
        // Nothing may be read after the end of the line.
        let mut stdout = BufReader::with_capacity(1, self.child.stdout.as_mut().unwrap());
        stdout.read_line(&mut line).unwrap();
        self.is_ready = line == "ready\n";
    }

    fn tool(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Lets the program go on, and waits for the end.
    #[track_caller]
    fn end(mut self) -> Outcome {
        // A recorder that has refused reads nothing.
        let _ = self.child.stdin.take().unwrap().write_all(b"go\n");
        finish(self.child).unwrap()
    }
}

fn recorder(folder: &Path, options: &[&str], app: &Path, words: &[&str]) -> Command {
    let mut command = tool();
    command.current_dir(folder);
    command.args(["record", "--no-tui", "--soft"]).args(options);
    command.arg("--").arg(app).args(words);
    command
}

#[track_caller]
fn open(path: &Path) -> Trace {
    let (trace, warnings) = opened(path).unwrap();
    assert!(warnings.is_empty(), "{path:?}: {warnings:?}");
    trace
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

fn names(folder: &Path) -> Vec<String> {
    let name = |path: PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    files(folder).into_iter().map(name).collect()
}

/// Eight recorders at once, and those with a started program.
fn eight(folder: &Path, options: &[&str]) -> (Vec<Outcome>, Vec<Outcome>) {
    let burst = program("burst");
    let mut all: Vec<_> = (0..8)
        .map(|rank| {
            let mut command = recorder(folder, options, &burst, &["1", "1000", "wait"]);
            Waiting::start(command.env("RANK", rank.to_string()))
        })
        .collect();
    all.iter_mut().for_each(Waiting::until_ready);
    let (ready, refused): (Vec<_>, Vec<_>) = all.into_iter().partition(|it| it.is_ready);
    let end = |all: Vec<Waiting>| all.into_iter().map(Waiting::end).collect();
    (end(ready), end(refused))
}

#[test]
fn of_eight_recorders_with_one_target_one_records_and_the_others_say_why_not() {
    let folder = tempfile::tempdir().unwrap();
    for (options, reason) in [
        (&["-o", "t.atrace"][..], "t.atrace exists"),
        (&["--force", "-o", "t.atrace"], "under way"),
    ] {
        let (ready, refused) = eight(folder.path(), options);
        assert_eq!((ready.len(), refused.len()), (1, 7));
        ready[0].clone().expect(0);
        for outcome in refused {
            let outcome = outcome.expect(125);
            let said = outcome.said().join("\n");
            assert!(said.contains(reason) && said.contains("%r"), "{outcome}");
        }
        assert_eq!(names(folder.path()), ["t.atrace"]);
        let trace = open(&folder.path().join("t.atrace"));
        assert_eq!((trace.calls().len(), trace.end().unwrap().1), (1003, 0));
    }
}

#[test]
fn eight_recorders_with_patterns_or_default_names_have_separate_files() {
    for options in [&["--force", "-o", "t-%r-%q{RANK}.atrace"][..], &[]] {
        let folder = tempfile::tempdir().unwrap();
        let (ready, refused) = eight(folder.path(), options);
        assert_eq!((ready.len(), refused.len()), (8, 0));
        for outcome in ready {
            outcome.expect(0);
        }
        let files = files(folder.path());
        assert_eq!(files.len(), 8);
        for (rank, path) in files.iter().enumerate() {
            let name = path.file_name().unwrap().to_str().unwrap();
            let expected = match options {
                [] => format!("burst-rank{rank}-"),
                _ => format!("t-{rank}-{rank}.atrace"),
            };
            assert!(name.starts_with(&expected), "{name}");
            let trace = open(path);
            assert_eq!(trace.calls().len(), 1003);
            assert_eq!(trace.processes()[0].rank, rank.to_string());
        }
    }
}

#[test]
fn a_name_can_have_the_pid_and_the_host_and_other_patterns_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let burst = program("burst");
    let words = ["1", "1"];
    run(&mut recorder(
        folder.path(),
        &["-o", "%h-%p%%.atrace"],
        &burst,
        &words,
    ))
    .expect(0);
    let [path] = files(folder.path()).try_into().unwrap();
    let pid = open(&path).processes()[0].pid;
    let host = rustix::system::uname();
    let expected = format!("{}-{pid}%.atrace", host.nodename().to_str().unwrap());
    assert_eq!(path.file_name().unwrap().to_str(), Some(expected.as_str()));
    for (name, reason) in [
        ("%z", "after % comes"),
        ("%r", "no rank"),
        ("%q{NO_SUCH_THING}", "NO_SUCH_THING"),
    ] {
        let refused = run(&mut recorder(folder.path(), &["-o", name], &burst, &words));
        let refused = refused.expect(125);
        assert!(refused.err().contains(reason), "{refused}");
        assert_eq!(refused.out(), "", "the program was not started");
    }
    assert_eq!(files(folder.path()).len(), 1);
}

#[test]
fn a_trace_is_replaced_only_once_the_program_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.atrace");
    fs::write(&path, "old").unwrap();
    let broken = folder.path().join("broken");
    crate::support::process::write_executable(&broken, b"#!/nonexistent-interpreter\n");
    let options = ["--force", "-o", "t.atrace"];
    let outcome = run(&mut recorder(folder.path(), &options, &broken, &[]));
    assert!(outcome.status >= 125, "{outcome}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(names(folder.path()), ["broken", "t.atrace"]);
}

#[test]
fn traces_are_private_and_links_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let victim = folder.path().join("victim");
    symlink(&victim, folder.path().join("t.atrace")).unwrap();
    let burst = program("burst");
    let record = |options: &[&str]| run(&mut recorder(folder.path(), options, &burst, &["1", "1"]));
    record(&["-o", "t.atrace"]).expect(125);
    assert!(!victim.exists());
    fs::write(&victim, "precious").unwrap();
    let refused = record(&["--force", "-o", "t.atrace"]).expect(125);
    assert!(refused.err().contains("symbolic link"), "{refused}");
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    record(&["-o", "own.atrace"]).expect(0);
    let mode = fs::metadata(folder.path().join("own.atrace"))
        .unwrap()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn the_folder_of_a_trace_may_vanish() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    let words = ["1", "200000", "wait"];
    let mut command = recorder(
        folder.path(),
        &["-o", "inner/t.atrace"],
        &program("burst"),
        &words,
    );
    let mut waiting = Waiting::start(&mut command);
    waiting.until_ready();
    fs::remove_dir_all(&inner).unwrap();
    let outcome = waiting.end().expect(0);
    assert!(outcome.out().contains("made 200000\n"), "{outcome}");
    assert!(!outcome.err().contains("panicked"), "{outcome}");
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn a_recorder_that_a_signal_stops_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    // The program does not listen: it ends by itself, after the calls that it has still to make.
    let script = "trap '' TERM INT HUP; echo ready; read line; exec \"$0\" 1 100000";
    let burst = program("burst");
    let words = ["-c", script, burst.to_str().unwrap()];
    let mut command = recorder(
        folder.path(),
        &["-o", "t.atrace"],
        Path::new("/bin/sh"),
        &words,
    );
    let mut waiting = Waiting::start(&mut command);
    waiting.until_ready();
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        kill_process(waiting.tool(), signal).unwrap();
    }
    let outcome = waiting.end().expect(0);
    assert!(outcome.out().contains("made 100000\n"), "{outcome}");
    let trace = open(&folder.path().join("t.atrace"));
    let counted = trace.calls().len() as u64 + trace.losses().calls;
    assert_eq!((counted, trace.end().unwrap().1), (100_003, 0));
}

#[test]
fn sessions_of_killed_recorders_are_removed_and_nothing_else() {
    let memory = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    // As session files were called once, and as a user may call a file.
    let users = memory.path().join("ascend-trace-4000000-0");
    fs::write(&users, "a user's").unwrap();
    let record = |name: &str, words: &[&str]| {
        let mut command = recorder(folder.path(), &["-o", name], &program("burst"), words);
        command.env("ASCEND_TRACE_MEMORY", memory.path());
        command
    };
    let start = |name: &str| {
        let mut waiting = Waiting::start(&mut record(name, &["1", "1", "wait"]));
        waiting.until_ready();
        assert!(waiting.is_ready);
        waiting
    };
    let own = || {
        let folders = fs::read_dir(memory.path()).unwrap().flatten();
        let folders = folders.filter(|it| it.path().is_dir());
        let found = folders.flat_map(|it| files(&it.path()));
        let (sockets, sessions): (Vec<_>, Vec<_>) =
            found.partition(|it| it.extension().is_some_and(|end| end == "ctl"));
        assert!(sockets.len() <= 1, "that of the killed one was removed");
        sessions
    };
    let mut killed = start("killed.atrace");
    let left = own();
    assert_eq!(left.len(), 1);
    kill_process(killed.tool(), Signal::KILL).unwrap();
    killed.child.wait().unwrap();
    assert_eq!(own(), left, "nothing has been removed yet");
    let living = start("living.atrace");
    assert_eq!(own().len(), 1, "that of the killed one was removed");
    run(&mut record("third.atrace", &["1", "1"])).expect(0);
    assert_eq!(own().len(), 1, "the living one's is not");
    living.end().expect(0);
    assert_eq!(names(memory.path()), ["ascend-trace-4000000-0"]);
}

fn document(recording: &Recording) -> Value {
    let outcome = run(tool().arg("info").arg(recording.trace()).arg("--json")).expect(0);
    serde_json::from_str(&outcome.out()).unwrap()
}

#[test]
fn stages_of_one_pid_are_distinguished_and_have_their_command_lines() {
    let recording = Run::new(&program("exec")).compared();
    recording.outcome.clone().expect(7);
    let document = document(&recording);
    let processes = document["processes"].as_array().unwrap();
    assert_eq!(processes.len(), 5);
    let first = processes[0]["pid"].as_u64().unwrap();
    let stages: Vec<_> = processes.iter().filter(|it| it["pid"] == first).collect();
    assert_eq!(stages.len(), 2, "{document}");
    let words = |stage: &Value| stage["command"].as_array().unwrap().clone();
    assert_eq!(words(stages[0]).len(), 1);
    assert!(words(stages[1]).len() > 1, "{document}");
    let tables = Tables::of(&recording);
    for stage in processes {
        let number = stage["process"].as_i64().unwrap();
        let calls = tables
            .calls
            .iter()
            .filter(|call| call.number("process") == number);
        assert_eq!(calls.count() as u64, stage["calls"].as_u64().unwrap());
        let tasks = tables
            .tasks
            .iter()
            .filter(|task| task.number("process") == number);
        assert_eq!(tasks.count(), 2);
    }
}

#[test]
fn a_long_command_line_is_cut_and_odd_words_are_kept() {
    let long = "x".repeat(5000);
    for (words, is_whole) in [
        (["1", "1", "", "a b\n\u{1b}[1m"], true),
        (["1", "1", &long, "z"], false),
    ] {
        let recording = Run::new(&program("burst")).words(&words).traced();
        recording.outcome.clone().expect(0);
        let document = document(&recording);
        let command = document["processes"][0]["command"]
            .as_array()
            .unwrap()
            .clone();
        let last = command.last().unwrap().as_str().unwrap();
        if is_whole {
            let found: Vec<_> = command[1..].iter().map(|it| it.as_str().unwrap()).collect();
            assert_eq!(found, words);
        } else {
            assert!(command.len() == 4 && last.ends_with("x…"), "{document}");
            assert!((3000..4000).contains(&last.len()), "{}", last.len());
        }
    }
}

fn many(words: &[&str]) -> Recording {
    let recording = Run::new(&hostile("many_processes")).words(words).traced();
    recording.outcome.clone().expect(0);
    recording
}

#[test]
fn short_processes_lose_nothing() {
    let counts = balanced(&many(&["short", "150", "8", "40"]));
    assert_eq!((counts.recorded, counts.lost), (150 * 40, 0));
}

#[test]
fn many_processes_at_once_lose_nothing() {
    // For this number the memory suffices from the beginning, for any delay of the recorder.
    let counts = balanced(&many(&["together", "200", "5"]));
    assert_eq!((counts.recorded, counts.lost), (200 * 5, 0));
}

#[test]
fn more_processes_than_the_recorder_may_open_files_are_followed_to_their_ends() {
    let folder = tempfile::tempdir().unwrap();
    let run_it = Run::new(&hostile("many_processes")).words(&["together", "120", "2"]);
    let inner = run_it.command(folder.path());
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 64; exec \"$0\" \"$@\""]);
    command.arg(inner.get_program()).args(inner.get_args());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let outcome = run(&mut command).expect(0);
    assert!(!outcome.err().contains("still running"), "{outcome}");
    assert!(!outcome.err().contains("LOST"), "{outcome}");
    assert_eq!(open(&folder.path().join("t.atrace")).calls().len(), 240);
}

#[test]
fn what_takes_a_traces_name_meanwhile_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.atrace");
    let script = "rm t.atrace; echo new >t.atrace; exec \"$0\" 1 1";
    let burst = program("burst");
    let words = ["-c", script, burst.to_str().unwrap()];
    let mut command = recorder(
        folder.path(),
        &["-o", "t.atrace"],
        Path::new("/bin/sh"),
        &words,
    );
    run(&mut command).expect(0);
    assert_eq!(fs::read_to_string(&path).unwrap(), "new\n");
    assert_eq!(names(folder.path()), ["t.atrace"]);
}

#[test]
#[ignore = "takes half a minute of processor time"]
fn a_thousand_processes_at_once_and_three_thousand_short_ones_lose_nothing() {
    let counts = balanced(&many(&["together", "1000", "100"]));
    assert_eq!((counts.recorded, counts.lost), (1000 * 100, 0));
    let counts = balanced(&many(&["short", "3000", "16", "100"]));
    assert_eq!((counts.recorded, counts.lost), (3000 * 100, 0));
}

#[test]
fn counts_that_a_program_has_scribbled_over_are_not_believed() {
    let recording = Run::new(&hostile("scribble_counts")).traced();
    let outcome = recording.outcome.clone().expect(0);
    assert!(outcome.out().contains("scribbled\n"), "{outcome}");
    let counts = balanced(&recording);
    assert_eq!((counts.recorded, counts.lost), (2, 0));
    assert!(outcome.err().contains("made no sense"), "{outcome}");
    assert!(!outcome.err().contains("446,744"), "{outcome}");
}

#[test]
fn a_folder_that_cannot_be_written_and_a_missing_one_are_refused_in_words() {
    let burst = program("burst");
    for target in [
        "/sys/t.atrace",
        "/nonexistent/t-%p.atrace",
        "/proc/t.atrace",
    ] {
        let mut command = recorder(Path::new("/"), &["-o", target], &burst, &["1", "1"]);
        let refused = run(&mut command).expect(125);
        assert!(refused.err().contains("--output"), "{refused}");
        assert_eq!(refused.out(), "");
    }
}
