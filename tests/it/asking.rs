//! The waits of a process: queried by its number, and by a signal to its recorder.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;

use crate::support::hanging::{Hanging, PATIENCE};
use crate::support::{Outcome, Run, place, program, run, screen::Screen, tool};

fn why(word: &str) -> Outcome {
    run(tool().args(["why", word]))
}

fn number(pid: Pid) -> String {
    pid.as_raw_nonzero().to_string()
}

/// Waits for something that comes within seconds, or never.
#[track_caller]
fn until<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "it is never so that {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The parent of a process.
fn parent(pid: Pid) -> Pid {
    let status = fs::read_to_string(format!("/proc/{}/status", number(pid))).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"));
    Pid::from_raw(line.unwrap().trim().parse().unwrap()).unwrap()
}

#[test]
fn every_process_of_a_recording_leads_to_it() {
    let script = "\"$0\" event; exit 3";
    let stuck = program("stuck");
    let words = ["-c", script, stuck.to_str().unwrap()];
    let mut stuck = Hanging::of(&Run::new(Path::new("/bin/sh")).words(&words));
    stuck.reported("hangs", "unrecorded");
    let shell = parent(stuck.program);
    assert_ne!(shell, stuck.recorder());
    for pid in [stuck.program, shell, stuck.recorder()].map(number) {
        let text = why(&pid).expect(0).out();
        assert!(text.starts_with("the program hangs"), "{pid}: {text}");
        assert!(text.contains("[unrecorded]"), "{pid}: {text}");
    }
    // Neither of them has noticed.
    assert_eq!(stuck.kill_program().status, 3);
    let trace = stuck.file();
    run(tool().args(["info", "--strict"]).arg(&trace)).expect(0);
    let text = why(trace.to_str().unwrap()).expect(0).out();
    assert!(
        text.contains("[unrecorded]") || text.starts_with("nothing hangs"),
        "{text}"
    );
}

#[test]
fn a_recording_is_found_under_another_name() {
    let stuck = Hanging::start("event");
    stuck.reported("hangs", "unrecorded");
    let moved = stuck.file().with_file_name("moved.atrace");
    fs::rename(stuck.file(), &moved).unwrap();
    let text = why(&number(stuck.program)).expect(0).out();
    assert!(text.contains("[unrecorded]"), "{text}");
}

#[test]
fn a_file_named_by_a_number_comes_before_a_pid() {
    let recording = Run::new(&program("stuck")).words(&["slow"]).traced();
    let name = std::process::id().to_string();
    let mut ask = tool();
    ask.args(["why", &name]);
    fs::copy(recording.trace(), recording.beside(&name)).unwrap();
    ask.current_dir(recording.trace().parent().unwrap());
    let text = run(&mut ask).expect(0).out();
    assert!(text.starts_with("nothing hangs"), "{text}");
}

#[test]
fn a_process_that_is_not_recorded_is_reported() {
    let none = why("4194304").expect(2);
    assert_eq!(none.said(), ["there is no process 4194304"]);
    let own = std::process::id();
    let said = why(&own.to_string()).expect(2).said();
    assert!(
        said[0].starts_with(&format!("process {own} is not recorded")),
        "{said:?}"
    );
}

#[test]
fn a_recording_that_goes_to_a_pipe_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = tool();
    command.args(["record", "--no-tui", "--soft=devices=1", "-o", "-", "--"]);
    command.arg(program("stuck")).arg("again");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let recorder = command.current_dir(folder.path()).spawn().unwrap();
    let pid = Pid::from_child(&recorder);
    // Before the program runs, the signal would end the recorder as it ends any program.
    let program = until("it has a program", || {
        let path = format!("/proc/{0}/task/{0}/children", number(pid));
        let children = fs::read_to_string(path).unwrap_or_default();
        let child = Pid::from_raw(children.trim().parse().ok()?)?;
        // The recorder starts others before.
        let program = fs::read_link(format!("/proc/{}/exe", number(child))).ok()?;
        program.ends_with("stuck").then_some(child)
    });
    let refused = why(&number(pid)).expect(2);
    assert!(
        refused.said()[0].contains("goes to a pipe or a device"),
        "{refused}"
    );
    kill_process(pid, Signal::QUIT).unwrap();
    kill_process(program, Signal::KILL).unwrap();
    let outcome = crate::support::process::finish(recorder).unwrap();
    assert_eq!(outcome.status, 137, "{}", outcome.err());
    assert!(
        outcome
            .err()
            .contains("there is no report: the recording goes to a pipe"),
        "{}",
        outcome.err()
    );
    // The output that came through it is whole.
    let trace = folder.path().join("t.atrace");
    fs::write(&trace, &outcome.stdout).unwrap();
    run(tool().args(["info", "--strict"]).arg(&trace)).expect(0);
}

/// A user who may not look at processes of others.
const OTHER_UID: u32 = 65_534;

#[test]
fn a_process_of_another_user_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut ask = if rustix::process::geteuid().is_root() {
        // The command may be in a place that only its owner can enter.
        let copy = folder.path().join("ascend-trace");
        fs::copy(place::command(), &copy).unwrap();
        for path in [folder.path(), &copy] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let mut ask = Command::new(copy);
        ask.uid(OTHER_UID).current_dir("/");
        ask
    } else {
        tool()
    };
    let asked = run(ask.args(["why", "1"])).expect(2);
    let refused = "no permission to look at process 1: run this as its user, or as root";
    assert_eq!(asked.said(), [refused]);
}

#[test]
fn several_are_reported_in_turn() {
    let stuck = Hanging::start("event");
    stuck.reported("hangs", "unrecorded");
    let ended = Run::new(&program("stuck")).words(&["slow"]).traced();
    let ended = ended.trace();
    let words = [number(stuck.program), "4194304".to_owned()];
    let outcome = run(tool().arg("why").args(&words).arg(&ended)).expect(2);
    let said = outcome.said();
    assert!(
        said.contains(&"there is no process 4194304".to_owned()),
        "{said:?}"
    );
    let text = outcome.out();
    let heads = text.lines().filter(|line| line.ends_with(".atrace:"));
    assert_eq!(heads.count(), 2, "{text}");
    assert!(
        text.contains("[unrecorded]") && text.contains("\nnothing hangs"),
        "{text}"
    );
    let json = run(tool().args(["why", "--json", &words[0]]).arg(&ended)).expect(0);
    let json: Value = serde_json::from_str(&json.out()).unwrap();
    let recordings = json["recordings"].as_array().unwrap();
    let verdicts: Vec<_> = recordings
        .iter()
        .map(|it| it["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["hangs", "ended"]);
    assert_eq!(recordings[1]["file"], ended.to_str().unwrap());
}

#[test]
fn a_signal_to_the_recorder_asks_and_the_program_goes_on() {
    let mut stuck = Hanging::start("again");
    kill_process(stuck.recorder(), Signal::QUIT).unwrap();
    stuck.until("err", "Threads", 1);
    // It asks again and again.
    kill_process(stuck.recorder(), Signal::QUIT).unwrap();
    stuck.until("err", "Threads", 2);
    for _ in 0..2 {
        let turns = stuck.written("out").lines().count();
        kill_process(stuck.program, Signal::USR1).unwrap();
        stuck.until("out", "", turns + 1);
    }
    assert_eq!(stuck.finish().status, 0, "{}", stuck.written("err"));
    let pid = number(stuck.program);
    assert_eq!(
        stuck.written("out"),
        format!("stuck {pid}\nstuck {pid}\ndone\n")
    );
    run(tool().args(["info", "--strict"]).arg(stuck.file())).expect(0);
}

#[test]
fn a_recorder_in_the_background_of_a_script_can_be_asked() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::new(&program("stuck")).words(&["event"]);
    let run = run.variable("STUCK_KEEPS_SIGNALS", "1");
    let recorder = run.soft("devices=1").command(folder.path());
    // As shells start what runs in the background.
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' INT QUIT; exec \"$0\" \"$@\""]);
    shell.arg(recorder.get_program()).args(recorder.get_args());
    for (name, value) in recorder.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let mut stuck = Hanging::spawn(folder, &mut shell);
    stuck.reported("hangs", "unrecorded");
    kill_process(stuck.recorder(), Signal::QUIT).unwrap();
    stuck.until("err", "the program hangs", 1);
    // The program ignores it as it would on its own.
    kill_process(stuck.program, Signal::QUIT).unwrap();
    assert_eq!(stuck.kill_program().status, 137);
}

#[test]
fn the_key_ends_the_program_as_it_would_untraced() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::new(&program("stuck"))
        .words(&["event"])
        .soft("devices=1");
    let mut command = run.command(folder.path());
    command.process_group(0);
    let mut stuck = Hanging::spawn(folder, &mut command);
    stuck.reported("hangs", "unrecorded");
    // A terminal sends it to the group of both.
    kill_process_group(stuck.recorder(), Signal::QUIT).unwrap();
    let status = stuck.finish().status;
    let said = stuck.written("err");
    assert_eq!(status, 128 + 3, "{said}");
    assert!(said.contains("signal 3 (SIGQUIT)"), "{said}");
    assert!(said.contains("ascend-trace: the program hangs"), "{said}");
    crate::support::run(tool().args(["info", "--strict"]).arg(stuck.file())).expect(0);
}

#[test]
fn under_the_view_a_line_says_where_the_report_is() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = tool();
    command.args([
        "record",
        "--tui",
        "--soft=devices=2",
        "-o",
        "t.atrace",
        "--",
    ]);
    command
        .arg(program("stuck"))
        .arg("event")
        .current_dir(folder.path());
    let screen = Screen::start(command, 24, 100);
    screen.until("live, following");
    let trace = folder.path().join("t.atrace");
    let pid = until("the program runs", || {
        let log = fs::read_to_string(trace.with_file_name("t.atrace.log")).ok()?;
        let mut lines = log
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'));
        let pid = lines.find_map(|line| line.trim_end().strip_prefix("stuck "))?;
        Pid::from_raw(pid.parse().ok()?)
    });
    screen.signal(Signal::QUIT);
    screen.until("what the program waits for is in t.atrace.why");
    let report = fs::read_to_string(trace.with_file_name("t.atrace.why")).unwrap();
    assert!(report.contains("\nThreads\n"), "{report}");
    // The program has started, and the view works.
    let length = screen.length();
    kill_process(pid, Signal::KILL).unwrap();
    screen.until_after(length, "program ended");
    screen.press("q");
    let outcome = screen.finish().expect(137);
    let said = "ascend-trace: what the program waits for is in t.atrace.why";
    assert!(outcome.out().contains(said), "{outcome}");
}
