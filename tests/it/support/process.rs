//! Running commands to their end.
#![expect(clippy::print_stderr, reason = "skipped and stuck tests say why")]

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use rustix::process::Pid;

use super::place;
pub(crate) use super::place::scratch;
use super::stuck::{self, Stuck};

/// No command of these tests runs for a fraction of this; a command that does has got stuck.
const LIMIT: Duration = Duration::from_secs(300);

/// Settings of the tester's environment that must not reach the tested command.
const FOREIGN: [&str; 20] = [
    "ASCEND_HOME_PATH",
    "ASCEND_RT_VISIBLE_DEVICES",
    "ASCEND_TRACE_ARMED",
    "ASCEND_TRACE_ENGINE",
    "ASCEND_TRACE_ENGINE_LIBRARY",
    "ASCEND_TRACE_INTERPOSER",
    "ASCEND_TRACE_MEMORY",
    "ASCEND_TRACE_SESSION",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LOCAL_RANK",
    "MV2_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_RANK",
    "PMIX_RANK",
    "PMI_RANK",
    "RANK",
    "RANK_ID",
    "SLURM_PROCID",
    "SOFTACL",
    "SOFTACL_TRUTH",
];

/// The end and the output of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// As a shell gives it: 128 and the number for a signal.
    pub(crate) status: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Outcome {
    pub(crate) fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub(crate) fn err(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// The tool's own lines on stderr, without its name.
    pub(crate) fn said(&self) -> Vec<String> {
        let text = self.err();
        let lines = text
            .lines()
            .filter_map(|line| line.strip_prefix("ascend-trace: "));
        lines.map(str::to_owned).collect()
    }

    /// Everything else on stderr: the program's.
    pub(crate) fn program_err(&self) -> String {
        let text = self.err();
        let lines = text
            .split_inclusive('\n')
            .filter(|line| !line.starts_with("ascend-trace: "));
        lines.collect()
    }

    /// Fails with everything that is known unless the status is this.
    #[track_caller]
    pub(crate) fn expect(self, status: i32) -> Self {
        assert_eq!(self.status, status, "{self}");
        self
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (out, err) = (self.out(), self.err());
        write!(
            f,
            "status {}\n--- stdout\n{out}--- stderr\n{err}---",
            self.status
        )
    }
}

/// A command in a clean environment.
pub(crate) fn clean(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    for name in FOREIGN {
        command.env_remove(name);
    }
    command
}

/// The command under test.
pub(crate) fn tool() -> Command {
    let mut command = clean(place::command());
    command.env("XDG_CACHE_HOME", cache());
    command
}

/// Where the command under test unpacks its libraries for programs.
pub(crate) fn cache() -> PathBuf {
    scratch().join("cache")
}

/// Makes an executable file. Not by this process: a child that another test starts at the same time
/// would hold the file open for writing, and then it cannot be executed.
#[track_caller]
pub(crate) fn write_executable(path: &Path, content: &[u8]) {
    let mut shell = clean("sh");
    shell
        .args(["-c", "cat >\"$0\" && chmod 755 \"$0\""])
        .arg(path);
    feed(&mut shell, content).expect(0);
}

/// Whether a program in C++ can be compiled; says that a test is skipped if not.
pub(crate) fn has_cxx() -> bool {
    has("c++")
}

/// Whether there is a compiler of this name; says that a test is skipped if not.
pub(crate) fn has(compiler: &str) -> bool {
    let question = format!("command -v {compiler}");
    let has_it = run(clean("sh").args(["-c", &question])).status == 0;
    if !has_it {
        eprintln!("skipped: there is no {compiler}");
    }
    has_it
}

/// Whether valgrind can be used here; says that a test is skipped if not. It can be there and not know the loader.
pub(crate) fn has_valgrind() -> bool {
    if place::is_emulated() {
        eprintln!("skipped: no valgrind for another architecture");
        return false;
    }
    let mut valgrind = clean("sh");
    valgrind.args(["-c", "valgrind -q --error-exitcode=99 true"]);
    let has_it = run(&mut valgrind).status == 0;
    if !has_it {
        eprintln!("skipped: no valgrind");
    }
    has_it
}

/// Runs a command without input.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> Outcome {
    feed(command, b"")
}

/// Runs a command with this input; a second time if an emulator gets stuck in itself.
#[track_caller]
pub(crate) fn feed(command: &mut Command, input: &[u8]) -> Outcome {
    let (outcome, stuck) = match attempt(command, input) {
        (_, Some(stuck)) if place::is_emulated() && stuck.in_emulator => {
            let threads = &stuck.threads;
            eprintln!("the emulator got stuck, again: {command:?}\n{threads}");
            attempt(command, input)
        }
        ended => ended,
    };
    if let Some(Stuck { threads, .. }) = stuck {
        panic!("{command:?} did not end: {outcome}\n{threads}");
    }
    outcome
}

#[track_caller]
fn attempt(command: &mut Command, input: &[u8]) -> (Outcome, Option<Stuck>) {
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    // A program need not read its input.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let ended = watch(child);
    writer.join().unwrap();
    ended
}

/// Waits for a child; one that does not end is killed.
pub(crate) fn finish(child: Child) -> Result<Outcome, Outcome> {
    match watch(child) {
        (outcome, None) => Ok(outcome),
        (outcome, Some(stuck)) => {
            eprintln!("{}", stuck.threads);
            Err(outcome)
        }
    }
}

/// Waits for a child; one that does not end is looked at and killed, with all that it has started.
fn watch(child: Child) -> (Outcome, Option<Stuck>) {
    let pid = Pid::from_child(&child);
    let (ended, end) = mpsc::channel::<()>();
    let watchdog = std::thread::spawn(move || {
        let is_stuck = end.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout);
        is_stuck.then(|| stuck::end(pid))
    });
    let output = child.wait_with_output().unwrap();
    drop(ended);
    let stuck = watchdog.join().unwrap();
    (Outcome::from(output), stuck)
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        let signal = output.status.signal().map(|signal| 128 + signal);
        Self {
            status: output.status.code().or(signal).unwrap(),
            stdout: output.stdout,
            stderr: output.stderr,
        }
    }
}
