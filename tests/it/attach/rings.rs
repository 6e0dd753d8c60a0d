//! Recorders that attach and keep the last part, or write several files.

use super::*;

/// The steps of `flight`, and the slow one.
const STEPS: [&str; 4] = ["200", "10", "150", "0"];

fn bytes_of_fills(trace: &Path) -> Vec<i64> {
    let folder = tempfile::tempdir().unwrap();
    fills(&Tables::of_file(trace, folder.path()))
}

#[test]
fn a_slow_step_of_an_armed_program_leaves_a_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let mut flight = Run::new(&program("flight")).words(&STEPS).armed();
    let mut flight = flight.stdout(Stdio::null()).spawn().unwrap();
    let options = ["--ring", "1s", "--on", "step>5x", "--after", "50ms"];
    let mut recorder = Recorder::start(folder.path(), flight.id(), "t.atrace", &options);
    recorder.joined();
    assert!(flight.wait().unwrap().success());
    let trace = recorder.wait();
    let snapshot = folder.path().join("t-snapshot.atrace");
    let known = info(&snapshot);
    let reason = known["session"]["kept"]["snapshot"]["reason"].as_str();
    assert!(reason.unwrap().starts_with("step 150 took "), "{known}");
    assert_eq!(known["session"]["attached"], flight.id(), "{known}");
    assert!(bytes_of_fills(&snapshot).contains(&150));
    assert_eq!(bytes_of_fills(&trace).last(), Some(&200));
}

#[test]
fn a_recorder_that_attaches_goes_on_in_further_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut armed = Armed::start();
    let pid = armed.says("pid");
    let options = ["--roll", "1s"];
    let mut recorder = Recorder::ask(folder.path(), pid, "t.atrace", &options);
    armed.fills([1]);
    recorder.joined();
    let second = folder.path().join("t-0002.atrace");
    let (until, mut number) = (Instant::now() + LIMIT, 1);
    while !second.exists() {
        assert!(Instant::now() < until, "no second file");
        number = number % 1000 + 1;
        armed.fills([number]);
        std::thread::sleep(Duration::from_millis(20));
    }
    recorder.detach(pid);
    armed.ends();
    let files = folder.path().join("t-*.atrace");
    let known = info(&files);
    assert_eq!(known["complete"], true, "{known}");
    assert_eq!(bytes_of_fills(&files).last(), Some(&i64::from(number)));
}

#[test]
fn options_that_need_a_file_or_a_status_are_refused() {
    for (words, part) in [
        (&["--ring", "30s", "-o", "-"][..], "need a trace file"),
        (&["--ring", "30s", "--on", "exit!=0"], "only the parent"),
        (&["--keep", "3"], "--keep needs"),
    ] {
        let refused = run(tool().args(["attach", "1"]).args(words)).expect(125);
        assert!(refused.err().contains(part), "{words:?}: {refused}");
    }
}
