//! The life of services in short: recordings that are paused and snapshotted, recorders and programs that are killed, full
//! disks, and recorders that attach. The program checks its own results. It counts its fills, and logs their true times.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use serde_json::Value;

use crate::support::process::run;
use crate::support::tables::Tables;
use crate::support::truth::{TruthLogTask, read_torn};
use crate::support::{Run, program, tool};

/// Lives of a service, and actions in each of them.
const LIVES: u64 = 3;
const ACTIONS: u64 = 10;
/// The long version.
const LONG: Duration = Duration::from_secs(2 * 3600);
const MANY_ACTIONS: u64 = 120;

/// The numbers of fills are counted modulo this: the memory of the program has room for no larger one.
const LARGEST: i64 = 1000;
const UNIT: i64 = 64;
/// The exit status of a program that has found all of its results right.
const RIGHT: i32 = 7;
const LIMIT: Duration = Duration::from_secs(200);

/// How a service is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Service {
    Ring,
    Rolled,
    Attached,
}

#[test]
fn every_file_of_a_service_opens_and_agrees_with_the_truth() {
    for life in 0..LIVES {
        Life::of(life, ACTIONS).run();
    }
}

#[test]
#[ignore = "a soak: two hours"]
fn every_file_of_a_service_opens_and_agrees_with_the_truth_for_hours() {
    let until = Instant::now() + LONG;
    for life in 1_000.. {
        if Instant::now() > until {
            return;
        }
        Life::of(life, MANY_ACTIONS).run();
    }
}

/// One program, from its start to its end.
struct Life {
    number: u64,
    actions: u64,
    service: Service,
    random: u64,
}

impl Life {
    fn of(number: u64, actions: u64) -> Self {
        let services = [Service::Ring, Service::Attached, Service::Rolled];
        Self {
            number,
            actions,
            service: services[(number % 3) as usize],
            random: number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        }
    }

    /// A number below `limit`; the same ones in every run of the tests.
    fn below(&mut self, limit: u64) -> u64 {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % limit
    }

    fn rest(&mut self) {
        let ms = self.below(60);
        std::thread::sleep(Duration::from_millis(ms));
    }

    fn run(mut self) {
        let folder = tempfile::tempdir().unwrap();
        let mut program = CountingProgram::start(self.command(folder.path()));
        let is_over = AtomicBool::new(false);
        let pid = program.pid;
        let is_killed = self.below(3) == 0;
        std::thread::scope(|scope| {
            let fills = scope.spawn(|| program.fill_until(&is_over));
            for _ in 0..self.actions {
                self.rest();
                self.act(folder.path(), pid);
            }
            if is_killed {
                kill_process(as_pid(pid), Signal::KILL).unwrap();
            }
            is_over.store(true, SeqCst);
            fills.join().unwrap();
        });
        let status = program.ends();
        let name = format!("life {}, {:?}", self.number, self.service);
        match is_killed {
            false => assert_eq!(status, Some(RIGHT), "{name}"),
            true => assert_ne!(status, Some(RIGHT), "{name}"),
        }
        until_recorders_end(folder.path());
        judge(folder.path(), pid, &name);
    }

    fn command(&self, folder: &Path) -> Command {
        let run = Run::new(&program("armed"));
        let mut command = match self.service {
            Service::Attached => {
                let mut command = run.armed();
                command.env("SOFTACL_TRUTH", truth_in(folder));
                command
            }
            Service::Ring => {
                let options = [
                    "--respawn",
                    "--timing",
                    "events",
                    "--ring",
                    "1s",
                    "--after",
                    "20ms",
                ];
                run.options(&options).command(folder)
            }
            Service::Rolled => {
                let options = ["--respawn", "--timing", "events", "--roll", "1s"];
                run.options(&options).command(folder)
            }
        };
        let messages = std::fs::File::create(folder.join("said")).unwrap();
        command.stderr(messages);
        command
    }

    /// Does one of the things that happen to a service.
    fn act(&mut self, folder: &Path, pid: u32) {
        if self.service == Service::Attached {
            return self.attach(folder, pid);
        }
        let pid = pid.to_string();
        let ctl = |words: &[&str]| {
            // A recorder that was just killed takes no requests.
            drop(run(tool().args(["ctl", &pid]).args(words)));
        };
        match self.below(6) {
            0 => {
                ctl(&["pause"]);
                self.rest();
                ctl(&["resume"]);
            }
            1 => ctl(&["mark", "a mark"]),
            2 if self.service == Service::Ring => ctl(&["snapshot", "soak"]),
            3 => {
                if let Some(recorder) = recorder_of(&pid) {
                    // It may have ended meanwhile.
                    let _ = kill_process(recorder, Signal::KILL);
                }
            }
            4 => {
                if let Some(recorder) = recorder_of(&pid) {
                    fill_the_disk(recorder);
                }
            }
            _ => {}
        }
    }

    /// Attaches a recorder, which ends in one of several ways.
    fn attach(&mut self, folder: &Path, pid: u32) {
        let file = folder.join(format!("attached-{}.atrace", self.random));
        let mut command = tool();
        command.args([
            "attach",
            &pid.to_string(),
            "--timing",
            "events",
            "--budget",
            "off",
            "-o",
        ]);
        command.arg(file).stderr(Stdio::piped());
        let mut recorder = command.spawn().unwrap();
        let mut messages = BufReader::new(recorder.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("attached to process") {
            line.clear();
            assert!(
                messages.read_line(&mut line).unwrap() > 0,
                "it does not attach"
            );
        }
        self.rest();
        let signal = match self.below(3) {
            0 => Signal::KILL,
            1 => Signal::INT,
            _ => Signal::TERM,
        };
        kill_process(Pid::from_child(&recorder), signal).unwrap();
        // The next messages may need the pipe.
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut messages, &mut rest).unwrap();
        recorder.wait().unwrap();
        assert!(!rest.contains("LOST"), "{rest}");
    }
}

/// A program that counts.
struct CountingProgram {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    pid: u32,
}

impl CountingProgram {
    fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let pid = line.trim().strip_prefix("pid ").unwrap().parse().unwrap();
        Self {
            input: child.stdin.take().unwrap(),
            output,
            child,
            pid,
        }
    }

    /// Fills with one number after another. The program may be killed meanwhile.
    fn fill_until(&mut self, is_over: &AtomicBool) {
        for number in (1..=LARGEST).cycle() {
            let mut line = String::new();
            let is_sent = writeln!(self.input, "fill {number}").is_ok();
            if !is_sent || self.output.read_line(&mut line).unwrap() == 0 {
                return;
            }
            assert_eq!(line, format!("filled {number}\n"));
            if is_over.load(SeqCst) {
                return;
            }
        }
    }

    fn ends(mut self) -> Option<i32> {
        let _ = writeln!(self.input, "end");
        self.child.wait().unwrap().code()
    }
}

fn as_pid(pid: u32) -> Pid {
    Pid::from_raw(pid.cast_signed()).unwrap()
}

fn truth_in(folder: &Path) -> PathBuf {
    folder.join("truth.jsonl")
}

/// The present recorder of a program; `None` between two of them.
fn recorder_of(pid: &str) -> Option<Pid> {
    let outcome = run(tool().args(["ctl", pid, "status", "--json"]));
    let status: Value = serde_json::from_str(&outcome.out()).ok()?;
    let recorder = status["recordings"][0]["recorder"].as_i64()?;
    Pid::from_raw(i32::try_from(recorder).ok()?)
}

/// Limits the files of a recorder to a size that they soon have, which has the effect of a full disk, and then has room again.
fn fill_the_disk(recorder: Pid) {
    let unlimited = Rlimit {
        current: None,
        maximum: None,
    };
    let limit = Rlimit {
        current: Some(16 << 10),
        maximum: None,
    };
    // It may have ended meanwhile.
    let _ = prlimit(Some(recorder), Resource::Fsize, limit);
    std::thread::sleep(Duration::from_millis(20));
    let _ = prlimit(Some(recorder), Resource::Fsize, unlimited);
}

/// Waits for recorders that complete their files.
fn until_recorders_end(folder: &Path) {
    let until = Instant::now() + LIMIT;
    for file in traces(folder) {
        let opened = std::fs::File::open(&file).unwrap();
        while opened.try_lock().is_err() {
            assert!(
                Instant::now() < until,
                "{} is being written",
                file.display()
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn traces(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|it| it.unwrap().path());
    let mut traces: Vec<_> = paths
        .filter(|it| it.extension().is_some_and(|it| it == "atrace"))
        .collect();
    traces.sort();
    traces
}

/// Judges all files of a life.
#[track_caller]
fn judge(folder: &Path, pid: u32, name: &str) {
    let truth = fills_in_truth(&truth_in(folder), pid);
    let files = traces(folder);
    assert!(!files.is_empty(), "{name} left no file");
    let mut tasks = 0;
    for file in files {
        let name = format!("{name}, {}", file.file_name().unwrap().display());
        tasks += judge_file(&file, &truth, &name);
    }
    assert!(tasks > 0, "{name}: no fill was recorded");
}

/// The fills of the program that ran, in order.
fn fills_in_truth(log: &Path, pid: u32) -> Vec<TruthLogTask> {
    let tasks = read_torn(log).into_iter();
    let fills = tasks.filter(|it| it.pid == i64::from(pid) && it.kind == "memset");
    let mut fills: Vec<_> = fills.collect();
    fills.sort_by_key(|it| it.begin);
    fills
}

/// Judges one file, and returns the number of its fills.
#[track_caller]
fn judge_file(file: &Path, truth: &[TruthLogTask], name: &str) -> usize {
    let outcome = run(tool().args(["info", "--json"]).arg(file));
    assert!([0, 3].contains(&outcome.status), "{name}: {outcome}");
    let known: Value = serde_json::from_str(&outcome.out()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let tables = Tables::of_lost_file(file, folder.path());
    let fills: Vec<_> = tables
        .tasks
        .iter()
        .filter(|it| it.text("kind") == "memset")
        .collect();
    // A recording has each fill from its begin to its end, but for pauses and for calls that it counts as lost.
    let numbers = fills.iter().map(|it| it.number("bytes") / UNIT);
    let numbers: Vec<i64> = numbers.collect();
    let gaps: Vec<_> = numbers
        .windows(2)
        .filter(|it| it[1] != it[0] % LARGEST + 1)
        .collect();
    let ranges = std::fs::read_to_string(folder.path().join("ranges.csv")).unwrap();
    let pauses = ranges.matches(",recording paused,").count();
    let lost = known["lost"]["calls"].as_u64().unwrap_or_default();
    assert!(
        gaps.len() as u64 <= pauses as u64 + lost,
        "{name}: gaps at {gaps:?}, {pauses} pauses, {lost} lost"
    );
    // A killed program leaves no entry of the last tasks in the log.
    let known_until = truth.last().map_or(i64::MIN, |it| it.end);
    for fill in fills.iter().filter(|it| it.text("untimed").is_empty()) {
        if fill.number("begin_ns") > known_until {
            continue;
        }
        let (begin, end) = (fill.number("begin_ns"), fill.number("end_ns"));
        let error = fill.number("err_ns");
        // The one that began at nearly the same time.
        let next = truth.partition_point(|it| it.begin < begin);
        let nearest = truth[next.saturating_sub(1)..].iter().take(2);
        let off = nearest.map(|it| (it.begin - begin).abs().max((it.end - end).abs()));
        let off = off.min().unwrap_or(i64::MAX);
        assert!(
            off <= error,
            "{name}: a fill from {begin} to {end} ± {error} is {off} ns off"
        );
    }
    fills.len()
}
