//! The way from the program to the file with too much data, too little room, or no reader.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use ascend_trace_recording::Trace;
use ascend_trace_recording::file::{self, LostContent};
use ascend_trace_testkit::whole::opened;
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};

use crate::support::process::finish;
use crate::support::screen::Screen;
use crate::support::{Run, feed, program, run, tool};

/// A recording with a program that waits for a line before it begins.
struct Waiting {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Waiting {
    #[track_caller]
    fn start(mut command: Command) -> Self {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        Self {
            child,
            stdin,
            stdout,
        }
    }

    fn tool(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    fn go(&mut self) {
        self.stdin.write_all(b"go\n").unwrap();
    }

    /// The rest of the program's output, until no process can write any more.
    fn rest(&mut self) -> String {
        let mut text = String::new();
        self.stdout.read_to_string(&mut text).unwrap();
        text
    }
}

fn burst(threads: u32, calls: u64, word: &str) -> Run {
    let (threads, calls) = (threads.to_string(), calls.to_string());
    Run::new(&program("burst")).words(&[&threads, &calls, word])
}

/// The counted calls of a trace.
fn counted(trace: &Trace) -> u64 {
    let name = |call: &ascend_trace_recording::Call| &trace.function(call.function).name;
    let calls = trace.calls().iter();
    calls.filter(|call| *name(call) == "aclrtGetDevice").count() as u64
}

#[track_caller]
fn open(path: &Path) -> Trace {
    let (trace, warnings) = opened(path).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    trace
}

#[test]
fn a_burst_beyond_the_buffer_is_counted_to_the_last_call() {
    const CALLS: u64 = 150_000;
    let folder = tempfile::tempdir().unwrap();
    let run = burst(2, CALLS, "wait").options(&["--buffer", "4"]);
    let mut waiting = Waiting::start(run.command(folder.path()));
    // The tool sleeps through the burst, which needs 19 MB.
    kill_process(waiting.tool(), Signal::STOP).unwrap();
    waiting.go();
    let mut line = String::new();
    waiting.stdout.read_line(&mut line).unwrap();
    assert_eq!(line, format!("made {}\n", 2 * CALLS));
    kill_process(waiting.tool(), Signal::CONT).unwrap();
    let outcome = finish(waiting.child).unwrap().expect(0);
    let trace = open(&folder.path().join("t.atrace"));
    let (recorded, lost) = (counted(&trace), trace.losses().calls);
    // Each thread's first call is another one; the device is set in the main thread as well.
    let others = trace.calls().len() as u64 - recorded;
    assert!(lost > 0 && recorded > 30_000, "{recorded} {lost}");
    assert_eq!(recorded + lost + others, 2 * CALLS + 4, "{outcome}");
    let said = outcome.said().join("\n");
    assert!(said.contains("LOST: "), "{said}");
}

/// A program that asks without a pause fills all memory. Its tasks and their times still have some.
#[test]
fn calls_that_only_ask_leave_room_for_tasks() {
    let folder = tempfile::tempdir().unwrap();
    let run = burst(1, 150_000, "ask").options(&["--buffer", "4"]);
    let mut waiting = Waiting::start(run.command(folder.path()));
    kill_process(waiting.tool(), Signal::STOP).unwrap();
    waiting.go();
    let mut line = String::new();
    waiting.stdout.read_line(&mut line).unwrap();
    kill_process(waiting.tool(), Signal::CONT).unwrap();
    let outcome = finish(waiting.child).unwrap().expect(0);
    let trace = open(&folder.path().join("t.atrace"));
    assert!(trace.losses().calls > 10_000, "{outcome}");
    let timed = trace.tasks().iter().filter(|task| task.time.is_some());
    assert_eq!(
        (trace.tasks().len(), timed.count()),
        (201, 201),
        "{outcome}"
    );
}

#[test]
fn twenty_thousand_threads_share_the_channels() {
    let recording = Run::new(&program("short_threads")).traced();
    let outcome = recording.outcome.clone().expect(0);
    assert_eq!(outcome.out(), "20000 threads\n");
    let trace = open(&recording.trace());
    let calls = trace.calls().len() as u64;
    assert_eq!(calls + trace.losses().calls, 20_001, "{outcome}");
    // Lost threads were started faster than the tool could look: 4,096 threads have a channel without
    // it.
    assert!(calls >= 4096, "{outcome}");
}

#[test]
fn a_hundred_and_twenty_eight_threads_add_at_most_32_mib() {
    let run = burst(128, 2_000, "memory");
    let resident = |text: &str| -> i64 {
        let line = text.lines().find_map(|line| line.strip_prefix("resident "));
        line.unwrap().parse().unwrap()
    };
    let bare = resident(&run.bare().expect(0).out());
    let traced = run.traced();
    let added = resident(&traced.outcome.clone().expect(0).out()) - bare;
    // The shared memory that the program wrote to counts as its own.
    assert!(added <= 32 * 1024, "{added} KiB");
}

#[test]
fn a_program_outlives_the_tool() {
    const CALLS: u64 = 400_000;
    let folder = tempfile::tempdir().unwrap();
    let mut waiting = Waiting::start(burst(2, CALLS, "wait").command(folder.path()));
    kill_process(waiting.tool(), Signal::KILL).unwrap();
    finish_killed(&mut waiting.child);
    // Far more than the memory holds, without a reader.
    waiting.go();
    assert_eq!(waiting.rest(), format!("made {}\n", 2 * CALLS));
    let (_, warnings) = opened(folder.path().join("t.atrace")).unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(warnings[0].lost, LostContent::End);
}

fn finish_killed(child: &mut Child) {
    assert!(!child.wait().unwrap().success());
}

#[test]
fn a_full_disk_is_said_and_counted_and_the_program_runs_on() {
    const CALLS: u64 = 300_000;
    let folder = tempfile::tempdir().unwrap();
    let mut waiting = Waiting::start(burst(1, CALLS, "wait").command(folder.path()));
    // A limit on the tool's files has the effect of a full disk or a quota.
    let limit = Rlimit {
        current: Some(64 * 1024),
        maximum: Some(64 * 1024),
    };
    prlimit(Some(waiting.tool()), Resource::Fsize, limit).unwrap();
    waiting.go();
    assert_eq!(waiting.rest(), format!("made {CALLS}\n"));
    let outcome = finish(waiting.child).unwrap().expect(0);
    let said = outcome.said().join("\n");
    assert!(said.contains("any more: File too large"), "{said}");
    assert!(said.contains("could not be written to the file"), "{said}");
    // The existing part is whole, and names the missing part.
    let trace = open(&folder.path().join("t.atrace"));
    let all = trace.calls().len() as u64 + trace.losses().calls;
    assert_eq!(all, CALLS + 3, "{outcome}");
    assert_eq!(trace.end().map(|end| end.1), Some(0));
}

#[test]
fn a_folder_that_cannot_be_written_is_refused_before_the_program_starts() {
    let mut command = tool();
    command.current_dir("/sys");
    command
        .args(["record", "--no-tui", "--soft", "--"])
        .arg(program("burst"))
        .args(["1", "1"]);
    let outcome = run(&mut command).expect(125);
    assert_eq!(outcome.out(), "");
    assert!(outcome.err().contains("--output"), "{outcome}");
}

#[test]
fn a_slow_reader_holds_up_the_file_but_not_the_program() {
    const CALLS: u64 = 2_000_000;
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("t.atrace");
    run(Command::new("mkfifo").arg(&fifo)).expect(0);
    let open_now = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let mut reader = fs::File::options()
        .read(true)
        .custom_flags(open_now)
        .open(&fifo)
        .unwrap();
    let mut waiting = Waiting::start(burst(1, CALLS, "wait").command(folder.path()));
    waiting.go();
    // Nobody reads while the program runs.
    let mut line = String::new();
    waiting.stdout.read_line(&mut line).unwrap();
    assert_eq!(line, format!("made {CALLS}\n"));
    let gather = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        loop {
            match reader.read_to_end(&mut bytes) {
                Ok(_) => return bytes,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(error) => panic!("{error}"),
            }
        }
    });
    let outcome = finish(waiting.child).unwrap().expect(0);
    let bytes = gather.join().unwrap();
    let (contents, warnings) = file::read(bytes.as_slice()).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    let (mut calls, mut lost) = (0, 0);
    for row in &contents.rows {
        match row {
            ascend_trace_recording::rows::Row::Call(_) => calls += 1,
            ascend_trace_recording::rows::Row::Loss(loss) => lost += loss.calls,
            _ => {}
        }
    }
    assert_eq!(calls + lost, CALLS + 3, "{outcome}");
}

#[test]
fn the_trace_may_go_to_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = tool();
    command.current_dir(folder.path());
    command
        .args(["record", "--soft", "-o", "-", "--"])
        .arg(program("burst"))
        .args(["1", "100"]);
    let outcome = feed(&mut command, b"").expect(0);
    assert_eq!(outcome.program_err(), "made 100\n");
    assert!(outcome.err().contains("standard output ("), "{outcome}");
    let (contents, warnings) = file::read(outcome.stdout.as_slice()).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    assert!(contents.rows.len() > 100);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_trace_does_not_go_to_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("it ran");
    let mut command = tool();
    command
        .args(["record", "--soft", "-o", "-", "--", "touch"])
        .arg(&mark);
    let outcome = Screen::start(command, 24, 80).finish().expect(125);
    let text = outcome.out();
    assert!(text.contains("standard output is a terminal"), "{text:?}");
    assert!(!text.contains("ASCTRACE"), "{text:?}");
    assert!(!mark.exists(), "the program was not started");
}

#[test]
fn a_reader_of_standard_output_that_leaves_does_not_end_the_program() {
    let mut command = tool();
    command
        .args(["record", "--soft", "-o", "-", "--"])
        .arg(program("burst"))
        .args(["1", "200000", "wait"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert!(child.wait().unwrap().success(), "{rest}");
    assert!(rest.contains("made 200000\n"), "{rest}");
    assert!(rest.contains("standard output any more"), "{rest}");
    assert!(rest.contains("could not be written"), "{rest}");
}

#[test]
fn memory_for_records_is_found_elsewhere_when_a_folder_has_no_room() {
    let folder = tempfile::tempdir().unwrap();
    let run = burst(1, 1000, "");
    // It is tried first, and has no room for anything.
    let mut command = run.command(folder.path());
    command.env("ASCEND_TRACE_MEMORY", "/sys");
    feed(&mut command, b"").expect(0);
    assert_eq!(counted(&open(&folder.path().join("t.atrace"))), 1000);
}

#[test]
fn a_container_with_a_small_dev_shm_is_recorded() {
    // Where mounts are not allowed, the test before this one has to do.
    let mut probe = Command::new("unshare");
    let mount = "mount -t tmpfs -o size=1m tmpfs /dev/shm";
    probe.args(["-rm", "sh", "-c", mount]);
    if !probe.output().is_ok_and(|output| output.status.success()) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let inner = burst(1, 1000, "").command(folder.path());
    let mut command = Command::new("unshare");
    command
        .args(["-rm", "sh", "-c", &format!("{mount} && exec \"$@\""), "sh"])
        .arg(inner.get_program())
        .args(inner.get_args());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    feed(&mut command, b"").expect(0);
    assert_eq!(counted(&open(&folder.path().join("t.atrace"))), 1000);
}
