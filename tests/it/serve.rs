//! Programs that a server of recordings records, because their environment names it.

mod respawned;

use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::process::run;
use crate::support::tables::Tables;
use crate::support::{Run, program, tool};

/// The exit status of `armed` when it has found all of its results right.
const RIGHT: i32 = 7;

/// Nothing here takes a fraction of this.
const LIMIT: Duration = Duration::from_secs(200);

/// A server that runs.
struct Server {
    child: Child,
    messages: BufReader<ChildStderr>,
    trace: PathBuf,
    name: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        // After a failed test.
        let _ = self.child.kill();
    }
}

impl Server {
    /// Each test has a server with another name.
    #[track_caller]
    fn start(folder: &Path, name: &str, options: &[&str]) -> Self {
        let name = format!("{name}-{}", std::process::id());
        let trace = folder.join("t.atrace");
        let mut command = tool();
        command.args(["serve", "--name", &name, "-o"]).arg(&trace);
        command.args(options).current_dir(folder);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut messages = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        messages.read_line(&mut line).unwrap();
        assert!(line.contains("are recorded"), "{line}");
        Self {
            child,
            messages,
            trace,
            name,
        }
    }

    /// Waits for the end, and returns the messages.
    #[track_caller]
    fn wait(mut self) -> String {
        let status = self.child.wait().unwrap();
        let mut rest = String::new();
        self.messages.read_to_string(&mut rest).unwrap();
        assert!(status.success(), "{status}: {rest}");
        assert!(!rest.contains("LOST"), "{rest}");
        rest
    }

    #[track_caller]
    fn signal(self, signal: Signal) -> String {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        self.wait()
    }

    fn starts(&self, words: &[&str]) -> Command {
        Run::new(&program("armed")).words(words).served(&self.name)
    }
}

/// The text of a program that fills this number of times and ends.
fn lines(fills: u32) -> String {
    let fills: String = (1..=fills).map(|it| format!("fill {it}\n")).collect();
    fills + "end\n"
}

/// Runs `armed` to its end.
#[track_caller]
fn carries_out(mut command: Command, lines: &str) {
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(lines.as_bytes()).unwrap();
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(RIGHT));
}

fn info(trace: &Path) -> Value {
    let outcome = run(tool().args(["info", "--json"]).arg(trace)).expect(0);
    serde_json::from_str(&outcome.out()).unwrap()
}

fn fills(trace: &Path) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let tables = Tables::of_file(trace, folder.path());
    let tasks = tables.tasks.iter();
    tasks.filter(|it| it.text("kind") == "memset").count()
}

#[test]
fn programs_that_start_one_after_another_are_in_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), "several", &[]);
    for number in [2, 3] {
        carries_out(server.starts(&[]), &lines(number));
    }
    let trace = server.trace.clone();
    let said = server.signal(Signal::INT);
    assert!(said.contains("ascend-trace view"), "{said}");
    let known = info(&trace);
    assert_eq!(known["complete"], true, "{known}");
    assert_eq!(known["processes"].as_array().unwrap().len(), 2, "{known}");
    assert_eq!(known["session"]["command"][1], "serve");
    assert_eq!(known["end_reason"], "the server was ended");
    assert!(
        known["exit_status"].is_null(),
        "the server starts no program"
    );
    assert_eq!(fills(&trace), 5);
}

#[test]
fn programs_of_a_shell_with_the_environment_of_a_server_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), "shell", &[]);
    let printed = run(tool().args(["env", "--name", &server.name, "--soft"])).expect(0);
    let script = format!("{}\n\"$0\" && true", printed.out());
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(script).arg(program("armed"));
    carries_out(command, &lines(2));
    let trace = server.trace.clone();
    server.signal(Signal::TERM);
    assert_eq!(fills(&trace), 2);
}

/// A launcher that passes variables on only by name.
#[test]
fn ranks_of_mpirun_are_recorded_with_their_ranks() {
    let root = ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"].map(|it| (it, "1"));
    let mut bare = Command::new("timeout");
    bare.args(["60", "mpirun", "--oversubscribe", "-n", "2", "true"]);
    let starts = bare.envs(root).output();
    if !starts.is_ok_and(|it| it.status.success()) {
        eprintln!("skipped: there is no mpirun that starts ranks");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), "ranks", &[]);
    let printed = run(tool().args(["env", "--name", &server.name, "--soft"])).expect(0);
    let launch = "mpirun -x LD_PRELOAD -x ASCEND_TRACE_ARMED -x ASCEND_TRACE_SESSION -x LD_LIBRARY_PATH --oversubscribe -n 2 \"$0\" 2 0";
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &format!("{}\n{launch}", printed.out())]);
    shell.arg(program("windows")).current_dir(folder.path());
    shell.envs(root);
    run(&mut shell).expect(0);
    let trace = server.trace.clone();
    server.signal(Signal::TERM);
    let known = info(&trace);
    let processes = known["processes"].as_array().unwrap();
    let mut ranks: Vec<_> = processes.iter().map(|it| it["rank"].as_u64()).collect();
    ranks.sort_unstable();
    assert_eq!(ranks, [Some(0), Some(1)], "{known}");
}

/// A program that waits for lines.
struct Waiting {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Waiting {
    fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        Self {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()).lines(),
            child,
        }
    }

    #[track_caller]
    fn fill(&mut self, number: u32) {
        writeln!(self.input, "fill {number}").unwrap();
        let wanted = format!("filled {number}");
        assert!(self.output.any(|line| line.unwrap() == wanted));
    }

    /// The next number that the program prints under this name.
    #[track_caller]
    fn says(&mut self, name: &str) -> u32 {
        let line = self.output.next().unwrap().unwrap();
        let number = line
            .strip_prefix(name)
            .and_then(|it| it.trim().parse().ok());
        number.unwrap_or_else(|| panic!("{line:?} instead of {name}"))
    }

    #[track_caller]
    fn ends(mut self) {
        writeln!(self.input, "end").unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(RIGHT));
    }

    /// Fills until the process has joined a session, and returns the number of fills.
    #[track_caller]
    fn joins(&mut self, server: &Server) -> u32 {
        self.joins_session(self.child.id(), server.child.id())
    }

    /// The same of a program and a recorder, by their numbers.
    #[track_caller]
    fn joins_session(&mut self, program: u32, recorder: u32) -> u32 {
        let recorder = format!("/session-{recorder}-");
        let maps = format!("/proc/{program}/maps");
        let until = Instant::now() + LIMIT;
        let mut fills = 0;
        while !std::fs::read_to_string(&maps).unwrap().contains(&recorder) {
            assert!(Instant::now() < until, "it does not join {recorder}");
            fills += 1;
            self.fill(1 + fills % 100);
        }
        fills
    }
}

#[test]
fn a_program_runs_on_when_the_server_ends() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), "ends", &[]);
    let mut waiting = Waiting::start(server.starts(&[]));
    waiting.fill(1);
    let trace = server.trace.clone();
    let pid = waiting.child.id().to_string();
    let refused = run(tool().args(["detach", &pid])).expect(2).err();
    assert!(refused.contains("recorded by a server"), "{refused}");
    let stopped = run(tool().args(["ctl", &pid, "stop"])).expect(0).out();
    assert!(stopped.contains("stopped"), "{stopped}");
    let said = server.wait();
    assert!(said.contains("1 process still running"), "{said}");
    waiting.fill(2);
    waiting.ends();
    assert_eq!(fills(&trace), 1);
}

#[test]
fn a_program_that_has_started_before_the_server_is_recorded_from_then_on() {
    let folder = tempfile::tempdir().unwrap();
    let name = format!("before-{}", std::process::id());
    let mut waiting = Waiting::start(Run::new(&program("armed")).served(&name));
    waiting.fill(1);
    let server = Server::start(folder.path(), "before", &[]);
    waiting.joins(&server);
    waiting.fill(2);
    let trace = server.trace.clone();
    server.signal(Signal::INT);
    waiting.fill(3);
    waiting.ends();
    let folder = tempfile::tempdir().unwrap();
    let tables = Tables::of_file(&trace, folder.path());
    assert_eq!(tables.count_calls("aclInit"), 0, "it was made before");
    let fills = tables.tasks.iter().filter(|it| it.text("kind") == "memset");
    let last = fills.map(|it| it.number("bytes")).next_back();
    assert_eq!(last, Some(2 * 64));
}

/// A supervisor, such as systemd, starts the next server.
#[test]
fn programs_of_a_killed_server_join_the_next_one() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let mut first = Server::start(folders[0].path(), "next", &["--timing", "events"]);
    let mut waiting = Waiting::start(first.starts(&[]));
    waiting.fill(1);
    first.child.kill().unwrap();
    first.child.wait().unwrap();
    waiting.fill(2);
    let second = Server::start(folders[1].path(), "next", &["--timing", "events"]);
    waiting.joins(&second);
    waiting.fill(3);
    let trace = second.trace.clone();
    second.signal(Signal::TERM);
    waiting.ends();
    assert!(fills(&trace) > 0);
    let known = info(&trace);
    assert_eq!(known["complete"], true, "{known}");
}

#[test]
fn without_a_server_programs_run_unrecorded_and_a_message_says_so() {
    let name = format!("none-{}", std::process::id());
    let mut command = Run::new(&program("armed")).served(&name);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let output = command.stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(RIGHT));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("no server named"), "{said}");
}

#[test]
fn a_name_has_one_server_and_that_of_a_killed_one_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = Server::start(folder.path(), "name", &[]);
    let pid = first.child.id().to_string();
    let second = || {
        let mut command = tool();
        command.args(["serve", "--name", &first.name, "-o"]);
        command.arg(folder.path().join("second.atrace"));
        command
    };
    let refused = run(&mut second()).expect(125).err();
    assert!(refused.contains(&format!("process {pid}")), "{refused}");
    assert!(!folder.path().join("second.atrace").exists());
    first.child.kill().unwrap();
    first.child.wait().unwrap();
    let mut next = second().stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut messages = BufReader::new(next.stderr.take().unwrap());
    messages.read_line(&mut line).unwrap();
    assert!(line.contains("are recorded"), "{line}");
    carries_out(first.starts(&[]), &lines(1));
    kill_process(Pid::from_child(&next), Signal::TERM).unwrap();
    assert!(next.wait().unwrap().success());
    assert_eq!(fills(&folder.path().join("second.atrace")), 1);
}

#[test]
fn a_server_ends_after_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), "time", &["--duration", "1s"]);
    carries_out(server.starts(&[]), &lines(1));
    let trace = server.trace.clone();
    server.wait();
    assert_eq!(fills(&trace), 1);
}

/// The report on a standstill is printed on standard error.
#[test]
fn a_server_without_programs_does_not_stand_still() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), "idle", &["--watchdog", "1s"]);
    carries_out(server.starts(&[]), &lines(1));
    std::thread::sleep(Duration::from_millis(2500));
    let said = server.signal(Signal::TERM);
    assert!(!said.contains("nothing has moved"), "{said}");
}

#[test]
fn a_process_that_has_not_joined_is_not_taken_for_a_recorded_one() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), "other", &[]);
    let mut waiting = Waiting::start(
        Run::new(&program("armed"))
            .words(&["late"])
            .served(&server.name),
    );
    let pid = waiting.child.id().to_string();
    for words in [
        &["why", &pid][..],
        &["ctl", &pid, "stop"],
        &["detach", &pid],
    ] {
        let refused = run(tool().args(words)).expect(2).err();
        assert!(refused.contains("is not recorded"), "{words:?}: {refused}");
    }
    writeln!(waiting.input).unwrap();
    waiting.fill(1);
    waiting.ends();
    let trace = server.trace.clone();
    server.signal(Signal::TERM);
    assert_eq!(fills(&trace), 1);
}

#[test]
fn signals_for_options_do_not_end_a_server_without_them() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), "signals", &[]);
    for signal in [Signal::USR1, Signal::USR2] {
        kill_process(Pid::from_child(&server.child), signal).unwrap();
    }
    carries_out(server.starts(&[]), &lines(1));
    let trace = server.trace.clone();
    server.signal(Signal::HUP);
    assert_eq!(fills(&trace), 1);
}

#[test]
fn a_ring_and_filters_hold_for_all_programs_of_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--ring", "30s", "--skip", "call=aclrtSynchronizeStream"];
    let server = Server::start(folder.path(), "rules", &options);
    for number in [1, 2] {
        carries_out(server.starts(&[]), &lines(number));
    }
    let pid = server.child.id().to_string();
    run(tool().args(["ctl", &pid, "snapshot", "slow"])).expect(0);
    let trace = server.trace.clone();
    let said = server.signal(Signal::INT);
    assert!(said.contains("the filters left out"), "{said}");
    assert_eq!(fills(&trace), 3);
    let names = std::fs::read_dir(folder.path()).unwrap();
    let names = names.map(|it| it.unwrap().file_name().into_string().unwrap());
    assert!(names.into_iter().any(|it| it.contains("snapshot")));
}

#[test]
fn wrong_words_are_refused_with_a_way_out() {
    for (words, part) in [
        (&["env", "A=1", "./app"][..], "ascend-trace -- env A=1"),
        (&["env", "--name", "a/b"], "letters, digits"),
        (&["env", "/nonexistent/app"], "/nonexistent/app"),
        (&["serve", "-o", "-"], "needs a trace file"),
        (
            &["serve", "--ring", "30s", "--on", "exit!=0"],
            "does not start one",
        ),
        (&["serve", "--keep", "3"], "--keep needs"),
        (&["serve", "./app"], "unexpected argument"),
    ] {
        let outcome = run(tool().args(words));
        assert_ne!(outcome.status, 0, "{words:?}");
        let said = outcome.err();
        assert!(said.contains(part), "{words:?}: {said}");
    }
}
