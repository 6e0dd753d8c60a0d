//! Recordings that end before their program.

use super::*;

fn info(trace: &Path) -> Value {
    let outcome = run(tool().args(["info", "--json"]).arg(trace)).expect(0);
    serde_json::from_str(&outcome.out()).unwrap()
}

#[test]
fn a_stopped_recording_is_complete_and_the_program_runs_on() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("t.atrace");
    let mut program = Asking::start(folder.path(), &[]);
    program.reaches("4");
    let stopped = program.ctl(&["stop"]).expect(0).out();
    assert!(
        stopped.contains("stopped: the file is complete"),
        "{stopped}"
    );
    let bytes = std::fs::read(&trace).unwrap();
    let known = info(&trace);
    assert_eq!(known["end_reason"], "stopped by ctl");
    assert!(known["exit_status"].is_null(), "the program runs");
    assert_eq!(known["complete"], true, "{known}");
    assert_eq!(known["calls"]["open"], 0);
    program.go_on();
    program.reaches("7");
    let refused = program.ctl(&["resume"]);
    assert!(refused.err().contains("was stopped"), "{refused}");
    program.ctl(&["stop"]).expect(0);
    let status = program.ctl(&["status", "--json"]).expect(0).out();
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["recordings"][0]["stopped"], true);
    program.go_on();
    program.end();
    let after = std::fs::read(&trace).unwrap();
    assert!(bytes == after, "the file does not change any more");
    let table = Tables::of_file(&trace, &folder.path().join("csv"));
    assert_eq!(steps(&table), [1, 2, 3]);
    assert!(table.tasks.iter().all(|it| it.text("untimed") != "unread"));
    assert_eq!(table.count_calls("aclrtDestroyStream"), 0);
    let text = run(tool().arg("info").arg(&trace)).expect(0).out();
    let expected = "unknown: stopped by ctl";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn signals_and_the_exit_status_pass_a_recorder_that_was_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let windows = program("windows");
    let script = r#"trap 'kill $!; exit 9' TERM; "$0" 3 0 >/dev/null; sleep 600 >/dev/null & echo step 0; wait"#;
    let words = ["-c", script, windows.to_str().unwrap()];
    let run = Run::new(Path::new("/bin/sh")).words(&words);
    let options = ["--ring", "30s", "--on", "exit!=0", "--wait"];
    let mut program = Asking::run(&run.options(&options), folder.path());
    program.reaches("0");
    program.ctl(&["stop"]).expect(0);
    let pid = Pid::from_child(&program.recorder);
    kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(program.recorder.wait().unwrap().code(), Some(9));
    let trace = folder.path().join("t.atrace");
    assert_eq!(info(&trace)["end_reason"], "stopped by ctl");
    // The exit is not part of the recording.
    assert!(!folder.path().join("t-snapshot.atrace").exists());
}

/// Threads that are in calls, and never rest.
#[test]
fn a_recording_is_stopped_while_calls_are_under_way() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("t.atrace");
    let run = Run::new(&program("windows")).words(&["100000", "1"]);
    let mut program = Asking::run(&run, folder.path());
    loop {
        let status = program.ctl(&["status", "--json"]);
        let status: Value = serde_json::from_str(&status.out()).unwrap_or_default();
        if status["recordings"][0]["calls"].as_u64() > Some(500) {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    program.ctl(&["stop"]).expect(0);
    let known = info(&trace);
    assert_eq!(known["complete"], true, "{known}");
    assert!(known["calls"]["count"].as_u64() > Some(500));
    assert!(program.recorder.try_wait().unwrap().is_none(), "it runs on");
    kill_process(Pid::from_child(&program.recorder), Signal::TERM).unwrap();
    assert_eq!(program.recorder.wait().unwrap().code(), Some(128 + 15));
}
