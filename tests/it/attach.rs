//! Programs that are started without a recording, and recorded in parts by `attach`.

mod injected;
mod lives;
mod refusals;
mod rings;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::process::run;
use crate::support::run::has_few_places;
use crate::support::tables::Tables;
use crate::support::{Run, program, tool};

/// Nothing here takes a fraction of this.
const LIMIT: Duration = Duration::from_secs(200);

/// The exit status of a program that has found all of its results right.
const RIGHT: i32 = 7;

/// A program that carries out the lines of its input.
struct Armed {
    child: Child,
    input: Box<dyn Write>,
    output: BufReader<ChildStdout>,
}

impl Armed {
    fn start() -> Self {
        Self::of(Run::new(&program("armed")).armed())
    }

    fn of(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let input = Box::new(child.stdin.take().unwrap());
        Self::with_input(child, input)
    }

    fn with_input(mut child: Child, input: Box<dyn Write>) -> Self {
        Self {
            input,
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    /// The next number that the program prints under this name.
    #[track_caller]
    fn says(&mut self, name: &str) -> u32 {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let number = line.trim().strip_prefix(name);
        let number = number.and_then(|it| it.trim().parse().ok());
        number.unwrap_or_else(|| panic!("{line:?} instead of {name}"))
    }

    fn write(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    /// Has a line carried out.
    #[track_caller]
    fn does(&mut self, line: &str, name: &str) -> u32 {
        self.write(line);
        self.says(name)
    }

    #[track_caller]
    fn fills(&mut self, numbers: impl IntoIterator<Item = u32>) {
        for number in numbers {
            assert_eq!(self.does(&format!("fill {number}"), "filled"), number);
        }
    }

    /// The program ends, and has found no wrong result.
    #[track_caller]
    fn ends(mut self) {
        self.write("end");
        let status = self.child.wait().unwrap();
        assert_eq!(status.code(), Some(RIGHT), "{status}");
    }
}

/// A recorder that is attached to a program.
struct Recorder {
    child: Child,
    messages: BufReader<ChildStderr>,
    trace: PathBuf,
}

impl Recorder {
    /// Asks a program that makes no calls for a recording.
    #[track_caller]
    fn ask(folder: &Path, pid: u32, name: &str, options: &[&str]) -> Self {
        let mut recorder = Self::start(folder, pid, name, options);
        recorder.says("the recording begins with the next AscendCL call");
        recorder
    }

    fn start(folder: &Path, pid: u32, name: &str, options: &[&str]) -> Self {
        let trace = folder.join(name);
        let mut command = tool();
        command.args(["attach", &pid.to_string(), "-o"]).arg(&trace);
        if has_few_places() && !options.contains(&"--timing") {
            command.args(["--timing", "events"]);
        }
        command.args(options).current_dir(folder);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        Self {
            messages: BufReader::new(child.stderr.take().unwrap()),
            child,
            trace,
        }
    }

    /// The next message has this text.
    #[track_caller]
    fn says(&mut self, text: &str) {
        let mut line = String::new();
        self.messages.read_line(&mut line).unwrap();
        assert!(line.contains(text), "{line:?} instead of {text}");
    }

    fn joined(&mut self) {
        self.says("attached to process");
    }

    /// Waits for the end of the recording.
    #[track_caller]
    fn wait(mut self) -> PathBuf {
        let status = self.child.wait().unwrap();
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.messages, &mut rest).unwrap();
        assert!(status.success(), "{status}: {rest}");
        assert!(!rest.contains("LOST"), "{rest}");
        self.trace
    }

    /// Ends the recording as Ctrl-C does.
    #[track_caller]
    fn interrupt(self) -> PathBuf {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        self.wait()
    }

    /// Ends the recording by the command, for the process with this number.
    #[track_caller]
    fn detach(self, pid: u32) -> PathBuf {
        run(tool().args(["detach", &pid.to_string()])).expect(0);
        self.wait()
    }
}

fn info(trace: &Path) -> Value {
    let outcome = run(tool().args(["info", "--json"]).arg(trace)).expect(0);
    serde_json::from_str(&outcome.out()).unwrap()
}

/// The bytes of the fills in a file, in units of 64, in order.
fn fills(tables: &Tables) -> Vec<i64> {
    let tasks = tables.tasks.iter();
    let fills = tasks.filter(|task| task.text("kind") == "memset");
    fills.map(|task| task.number("bytes") / 64).collect()
}

/// The tables of a file that is complete and has nothing to find.
#[track_caller]
fn whole(trace: &Path) -> Tables {
    let known = info(trace);
    assert_eq!(known["complete"], true, "{known}");
    let found = run(tool().arg("check").arg(trace)).expect(0).out();
    assert!(found.contains("nothing was found"), "{found}");
    let folder = tempfile::tempdir().unwrap();
    Tables::of_file(trace, folder.path())
}

/// The lines of the mappings of a process with sessions of recorders.
fn sessions(pid: u32) -> usize {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    maps.lines()
        .filter(|line| line.contains("/session-"))
        .count()
}

fn threads(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/task"))
        .unwrap()
        .count()
}

/// Waits until a process has this number of threads and no session. A thread of the tool ends after it has left the session.
#[track_caller]
fn is_alone(pid: u32, alone: usize) {
    let until = Instant::now() + LIMIT;
    while (threads(pid), sessions(pid)) != (alone, 0) {
        assert!(Instant::now() < until, "{} threads", threads(pid));
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_program_is_recorded_in_parts_and_changed_in_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut armed = Armed::start();
    let pid = armed.says("pid");
    armed.fills([1]);
    armed.does("last", "last");
    let (alone, none) = (threads(pid), sessions(pid));
    assert_eq!(none, 0);
    let mut recorder = Recorder::ask(folder.path(), pid, "one.atrace", &[]);
    armed.fills([2, 3]);
    recorder.joined();
    armed.does("last", "last");
    let one = recorder.detach(pid);
    armed.does("last", "last");
    armed.fills([4]);
    armed.does("make", "made");
    armed.fills([5]);
    is_alone(pid, alone);
    let mut recorder = Recorder::ask(folder.path(), pid, "two.atrace", &["--timing", "events"]);
    armed.fills([6]);
    recorder.joined();
    armed.does("make", "made");
    armed.fills([7]);
    let two = recorder.interrupt();
    armed.fills([8]);
    armed.does("last", "last");
    is_alone(pid, alone);
    armed.ends();
    let (one, two) = (whole(&one), whole(&two));
    assert_eq!(fills(&one)[..2], [2, 3]);
    assert_eq!(fills(&one).len(), 5, "and three of the ids");
    assert_eq!(fills(&two), [6, 7]);
    for tables in [&one, &two] {
        assert_eq!(tables.count_calls("aclInit"), 0);
        tables.all_timed();
    }
    assert_eq!(one.count_calls("aclrtCreateStream"), 0);
    assert_eq!(two.count_calls("aclrtCreateStream"), 2);
}

#[test]
fn the_file_says_what_it_cannot_know() {
    let folder = tempfile::tempdir().unwrap();
    let mut armed = Armed::start();
    let pid = armed.says("pid");
    armed.does("capture 9", "captured");
    let mut recorder = Recorder::ask(
        folder.path(),
        pid,
        "t.atrace",
        &["--stacks", "--buffer", "8"],
    );
    armed.does("replay", "replayed");
    recorder.joined();
    armed.fills([2]);
    let trace = recorder.detach(pid);
    armed.ends();
    let known = info(&trace);
    assert_eq!(known["session"]["attached"], pid);
    assert_eq!(known["end_reason"], "detached");
    assert_eq!(known["session"]["runtime"], "softacl");
    assert!(known["exit_status"].is_null(), "the program ran on");
    let text = run(tool().arg("info").arg(&trace)).expect(0).out();
    for line in ["earlier calls and tasks are not known", "unknown: detached"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let tables = whole(&trace);
    assert_eq!(tables.count_calls("aclmdlRIExecuteAsync"), 1);
    assert_eq!(fills(&tables), [2]);
    let made = known["streams"].as_array().unwrap();
    assert_eq!(made.len(), 2, "streams from before are known: {known}");
    for report in ["stats", "critical", "steps", "why"] {
        run(tool().arg(report).arg(&trace)).expect(0);
    }
}

#[test]
fn requests_change_a_recording_that_has_attached() {
    let folder = tempfile::tempdir().unwrap();
    let mut armed = Armed::start();
    let pid = armed.says("pid");
    let mut recorder = Recorder::ask(folder.path(), pid, "t.atrace", &[]);
    armed.fills([1]);
    recorder.joined();
    let ctl = |words: &[&str]| {
        let mut command = tool();
        command.args(["ctl", &pid.to_string()]).args(words);
        run(&mut command).expect(0).out()
    };
    let status: Value = serde_json::from_str(&ctl(&["status", "--json"])).unwrap();
    assert_eq!(status["recordings"][0]["attached"], true);
    ctl(&["pause"]);
    armed.fills([2]);
    ctl(&["mark", "after", "the", "pause"]);
    ctl(&["resume"]);
    armed.fills([3]);
    ctl(&["stop"]);
    let trace = recorder.wait();
    armed.fills([4]);
    // A pause of the recorder does not outlast its recording.
    let mut recorder = Recorder::ask(folder.path(), pid, "u.atrace", &[]);
    armed.fills([5]);
    recorder.joined();
    let next = recorder.detach(pid);
    armed.ends();
    assert_eq!(info(&trace)["cost"]["pauses"], 1, "the end is none");
    assert_eq!(info(&next)["cost"]["pauses"], 0, "the end is none");
    assert_eq!(fills(&whole(&trace)), [1, 3]);
    assert_eq!(fills(&whole(&next)), [5]);
}

#[test]
fn a_recording_ends_after_its_time_or_with_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let mut armed = Armed::start();
    let pid = armed.says("pid");
    armed.does("load 2", "loads");
    let recorder = Recorder::start(folder.path(), pid, "t.atrace", &["--duration", "10ms"]);
    let trace = recorder.wait();
    assert_eq!(info(&trace)["end_reason"], "detached");
    armed.does("rest", "rests");
    let mut recorder = Recorder::ask(folder.path(), pid, "u.atrace", &[]);
    armed.fills([3]);
    recorder.joined();
    armed.ends();
    let trace = recorder.wait();
    let known = info(&trace);
    let reason = known["end_reason"].as_str().unwrap();
    assert!(reason.contains("only its parent has its status"), "{known}");
    let tables = whole(&trace);
    assert_eq!(fills(&tables), [3]);
    assert_eq!(tables.count_calls("aclFinalize"), 1);
}

#[test]
fn a_program_is_recorded_from_its_first_call_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut armed = Armed::of(Run::new(&program("armed")).words(&["late"]).armed());
    let pid = armed.says("late");
    let mut recorder = Recorder::ask(folder.path(), pid, "t.atrace", &[]);
    armed.write("");
    assert_eq!(armed.says("pid"), pid);
    recorder.joined();
    armed.fills([1, 2]);
    let trace = recorder.detach(pid);
    armed.ends();
    let tables = whole(&trace);
    assert_eq!(fills(&tables), [1, 2]);
    assert_eq!(tables.count_calls("aclInit"), 1);
    assert_eq!(tables.count_calls("aclrtCreateStream"), 2);
}

/// The number of a call counts from the attachment on. The program joins with the first fill.
#[test]
fn an_attachment_has_a_window_and_a_later_one_has_none() {
    let folder = tempfile::tempdir().unwrap();
    let mut armed = Armed::start();
    let pid = armed.says("pid");
    armed.fills([9]);
    for name in ["one.atrace", "two.atrace"] {
        let options = [
            "--start-at",
            "call=aclrtMemsetAsync#2",
            "--stop-at",
            "call=aclrtMemsetAsync#4",
        ];
        let mut recorder = Recorder::ask(folder.path(), pid, name, &options);
        armed.fills([1]);
        recorder.joined();
        armed.fills([2, 3, 4, 5]);
        let tables = whole(&recorder.detach(pid));
        assert_eq!(fills(&tables), [2, 3, 4], "{name}");
    }
    let mut recorder = Recorder::ask(folder.path(), pid, "all.atrace", &[]);
    armed.fills([6]);
    recorder.joined();
    armed.fills([7]);
    let tables = whole(&recorder.detach(pid));
    assert_eq!(fills(&tables), [6, 7]);
    armed.ends();
}

#[test]
fn an_attachment_has_filters_that_stay_for_the_process() {
    const SKIP: [&str; 2] = ["--skip", "call=aclrtSynchronizeStream"];
    let folder = tempfile::tempdir().unwrap();
    let mut armed = Armed::start();
    let pid = armed.says("pid");
    let mut record = |name: &str, options: &[&str]| {
        let mut recorder = Recorder::ask(folder.path(), pid, name, options);
        armed.fills([2]);
        recorder.joined();
        armed.fills([3]);
        let trace = recorder.detach(pid);
        let tables = tempfile::tempdir().unwrap();
        (info(&trace), Tables::of_file(&trace, tables.path()))
    };
    for (name, options) in [
        ("one.atrace", &SKIP[..]),
        ("all.atrace", &[]),
        ("two.atrace", &SKIP),
    ] {
        let (known, tables) = record(name, options);
        let skips = !options.is_empty();
        assert_eq!(fills(&tables), [2, 3], "{known}");
        assert_eq!(
            tables.count_calls("aclrtSynchronizeStream") == 0,
            skips,
            "{known}"
        );
        assert_eq!(
            known["cost"]["filtered_calls"].as_u64() > Some(0),
            skips,
            "{known}"
        );
    }
    let mut other = Recorder::ask(folder.path(), pid, "other.atrace", &["--only", "device=1"]);
    armed.fills([4]);
    other.says("an earlier recording of it had other filters");
    assert_eq!(other.child.wait().unwrap().code(), Some(125));
    armed.ends();
}

/// The program forks a worker: both are recorded by `recorder`, then the worker alone. Returns the two traces. The worker
/// has ended.
#[track_caller]
fn record_forked_worker(folder: &Path, armed: &mut Armed, mut recorder: Recorder) -> [PathBuf; 2] {
    armed.fills([2]);
    recorder.joined();
    armed.write("fork");
    let child = armed.says("pid");
    armed.fills([3]);
    let both = recorder.detach(child);
    armed.fills([4]);
    let mut recorder = Recorder::ask(folder, child, "child.atrace", &[]);
    armed.fills([5]);
    recorder.joined();
    let alone = recorder.detach(child);
    armed.fills([6]);
    armed.write("end");
    let mut line = String::new();
    armed.output.read_line(&mut line).unwrap();
    assert_eq!(line, format!("child: status {RIGHT}\n"));
    [both, alone]
}
