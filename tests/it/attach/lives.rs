//! Recorders that are killed, children, other programs in the process, and many recordings of one program.

use super::*;
use crate::ways::tool_in_path;

#[test]
fn a_program_outlives_its_recorder_and_gets_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut armed = Armed::start();
    let pid = armed.says("pid");
    armed.fills([1]);
    let alone = threads(pid);
    let mut recorder = Recorder::ask(folder.path(), pid, "one.atrace", &[]);
    armed.fills([1]);
    recorder.joined();
    recorder.child.kill().unwrap();
    recorder.child.wait().unwrap();
    armed.fills([2]);
    // The thread of the tool notices it.
    is_alone(pid, alone);
    armed.fills([2]);
    let mut recorder = Recorder::ask(folder.path(), pid, "off.atrace", &["--timing", "off"]);
    armed.fills([1]);
    recorder.joined();
    recorder.child.kill().unwrap();
    recorder.child.wait().unwrap();
    armed.fills([2]);
    // Without such a thread, the process leaves the lost recording when another recorder asks.
    assert_eq!(sessions(pid), 1);
    let mut recorder = Recorder::ask(folder.path(), pid, "two.atrace", &[]);
    armed.fills([3]);
    recorder.joined();
    armed.fills([4]);
    let trace = recorder.detach(pid);
    armed.ends();
    let tables = whole(&trace);
    // The call with which the program leaves the lost recording is in neither.
    assert_eq!(fills(&tables).last(), Some(&4));
    assert!(!fills(&tables).contains(&2));
}

#[test]
fn forked_workers_are_recorded_with_their_parent_or_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut armed = Armed::start();
    let parent = armed.says("pid");
    armed.fills([1]);
    let recorder = Recorder::ask(folder.path(), parent, "both.atrace", &[]);
    let [both, alone] = record_forked_worker(folder.path(), &mut armed, recorder);
    let mut recorder = Recorder::ask(folder.path(), parent, "parent.atrace", &[]);
    armed.fills([7]);
    recorder.joined();
    let last = recorder.detach(parent);
    armed.ends();
    let (both, alone, last) = (whole(&both), whole(&alone), whole(&last));
    assert_eq!(fills(&both), [2, 3]);
    assert_eq!(both.processes().len(), 2);
    assert_eq!(fills(&alone), [5]);
    assert_eq!(fills(&last), [7]);
}

/// The recorder has the lock of the parent's page, and the child's own page has none.
#[test]
fn a_forked_worker_stays_in_the_recording_of_its_parent() {
    /// The tool's thread looks for a lost recorder each second.
    const LOOKS: u64 = 2;
    let folder = tempfile::tempdir().unwrap();
    let mut armed = Armed::start();
    let parent = armed.says("pid");
    let options = ["--timing", "events"];
    let mut recorder = Recorder::ask(folder.path(), parent, "t.atrace", &options);
    armed.fills([1]);
    recorder.joined();
    armed.write("fork");
    armed.says("pid");
    let (until, mut number) = (Instant::now() + Duration::from_secs(LOOKS), 1);
    while Instant::now() < until || number < 4 {
        number += 1;
        armed.fills([number]);
        std::thread::sleep(Duration::from_millis(50));
    }
    armed.write("end");
    let mut line = String::new();
    armed.output.read_line(&mut line).unwrap();
    assert_eq!(line, format!("child: status {RIGHT}\n"));
    let trace = recorder.detach(parent);
    armed.ends();
    let tables = whole(&trace);
    let expected: Vec<i64> = (1..=number.into()).collect();
    assert_eq!(fills(&tables), expected);
}

#[test]
fn a_program_that_takes_the_place_of_another_can_be_attached_to() {
    let folder = tempfile::tempdir().unwrap();
    let mut armed = Armed::start();
    let pid = armed.says("pid");
    let mut recorder = Recorder::ask(folder.path(), pid, "one.atrace", &[]);
    armed.fills([1]);
    recorder.joined();
    armed.write("exec");
    assert_eq!(armed.says("pid"), pid);
    armed.fills([2]);
    recorder.says("runs another program");
    armed.fills([3, 4]);
    let one = recorder.detach(pid);
    armed.fills([5]);
    let mut recorder = Recorder::ask(folder.path(), pid, "two.atrace", &[]);
    armed.fills([6]);
    recorder.joined();
    let two = recorder.detach(pid);
    armed.ends();
    let first = fills(&Tables::of_file(&one, &folder.path().join("csv")));
    assert!(
        first.starts_with(&[1]) && first.ends_with(&[4]),
        "{first:?}"
    );
    assert!(!first.contains(&5), "{first:?}");
    assert_eq!(fills(&whole(&two)), [6]);
}

#[test]
fn a_device_may_be_reset_between_recordings_and_in_one_without_times() {
    let folder = tempfile::tempdir().unwrap();
    let mut armed = Armed::of(Run::new(&program("armed")).soft("strict").armed());
    let pid = armed.says("pid");
    let part = |armed: &mut Armed, timing: &str, first: u32, line: Option<&str>| {
        let name = format!("{first}.atrace");
        let mut recorder = Recorder::ask(folder.path(), pid, &name, &["--timing", timing]);
        armed.fills([first]);
        recorder.joined();
        if let Some(line) = line {
            armed.does(line, line);
        }
        armed.fills([first + 1]);
        let tables = whole(&recorder.detach(pid));
        assert_eq!(fills(&tables), [i64::from(first), i64::from(first) + 1]);
        tables
    };
    part(&mut armed, "events", 1, None).all_timed();
    armed.does("reset", "reset");
    armed.fills([9]);
    part(&mut armed, "chained", 11, Some("reset")).all_timed();
    let off = part(&mut armed, "off", 21, Some("reset"));
    let reasons = off.untimed();
    assert!(reasons.iter().all(|it| *it == "timing-off"), "{reasons:?}");
    assert_eq!(reasons.len(), off.tasks.len());
    part(&mut armed, "events", 31, None).all_timed();
    armed.does("reset", "reset");
    part(&mut armed, "auto", 41, None).all_timed();
    armed.ends();
}

#[test]
fn python_that_loads_the_runtime_late_and_its_workers_are_recorded() {
    let Some(python) = tool_in_path("python3") else {
        eprintln!("skipped: there is no python3");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/armed.py");
    let words = ["-B", script.to_str().unwrap()];
    let mut armed = Armed::of(Run::new(&python).words(&words).armed());
    let parent = armed.says("pid");
    armed.write("worker");
    let worker = armed.says("pid");
    let mut recorder = Recorder::ask(folder.path(), worker, "worker.atrace", &[]);
    armed.does("load", "loaded");
    recorder.joined();
    armed.fills([1, 2]);
    let one = recorder.detach(worker);
    armed.fills([3]);
    armed.write("end");
    assert_eq!(armed.says("worker"), RIGHT.cast_unsigned());
    armed.does("load", "loaded");
    armed.fills([4]);
    let mut recorder = Recorder::ask(folder.path(), parent, "parent.atrace", &[]);
    armed.fills([5]);
    recorder.joined();
    let two = recorder.detach(parent);
    armed.fills([6]);
    armed.ends();
    let (one, two) = (whole(&one), whole(&two));
    assert_eq!(fills(&one), [1, 2]);
    assert_eq!(one.count_calls("aclrtCreateStream"), 1);
    assert_eq!(fills(&two), [5]);
    two.all_timed();
}

/// Bytes of addresses that a process has mapped.
fn address_space(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:"));
    let kib = line.and_then(|it| it.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap() << 10
}

/// Attaches again and again to a program that checks all of its results under load.
fn attach_often(armed: Armed, times: u32) {
    attach_often_with(armed, times, &[]);
}

/// The same, with more options of the first recorder.
pub(super) fn attach_often_with(mut armed: Armed, times: u32, first: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let pid = armed.says("pid");
    armed.fills([1]);
    let (alone, before) = (threads(pid), address_space(pid));
    armed.does("load 3", "loads");
    let ways: [&[&str]; 4] = [
        &[],
        &["--timing", "chained"],
        &["--timing", "off", "--stacks"],
        &["--timing", "events", "--buffer", "8"],
    ];
    for (number, way) in (0..times).zip(ways.into_iter().cycle()) {
        let mut options = vec!["--duration", "5ms", "--force"];
        options.extend(way);
        options.extend(if number == 0 { first } else { &[] });
        let mut recorder = Recorder::start(folder.path(), pid, "t.atrace", &options);
        if number == 0 && !first.is_empty() {
            recorder.says("the library is in process");
        }
        recorder.joined();
        assert!(recorder.child.wait().unwrap().success());
        let known = info(&recorder.trace);
        assert_eq!(known["end_reason"], "detached", "{number}: {known}");
        assert!(
            known["calls"]["count"].as_u64() > Some(0),
            "{number}: {known}"
        );
        assert_eq!(known["processes"].as_array().unwrap().len(), 1);
    }
    armed.does("rest", "rests");
    armed.fills([5]);
    is_alone(pid, alone);
    // The addresses of a session are used again: each has about 280 MiB.
    let grown = address_space(pid) - before;
    assert!(grown < 16 << 30, "{grown} bytes of addresses");
    armed.ends();
}

#[test]
fn a_program_under_load_keeps_its_results_over_several_recordings() {
    attach_often(Armed::start(), 12);
}

#[test]
#[ignore = "takes minutes"]
fn a_program_under_load_keeps_its_results_over_a_thousand_recordings() {
    attach_often(Armed::start(), 1000);
}
