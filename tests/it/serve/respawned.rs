//! Recordings that outlive their recorder (`record --respawn`).

use super::*;

/// A program that waits for lines, with its recorder and the parent of both.
struct Respawned {
    waiting: Waiting,
    /// The program.
    pid: u32,
    trace: PathBuf,
}

impl Respawned {
    #[track_caller]
    fn start(folder: &Path, options: &[&str]) -> Self {
        let options: Vec<_> = ["--respawn"].iter().chain(options).copied().collect();
        let run = Run::new(&program("armed")).options(&options);
        let mut command = run.command(folder);
        command.stderr(std::fs::File::create(folder.join("said")).unwrap());
        let mut waiting = Waiting::start(command);
        let pid = waiting.says("pid");
        Self {
            waiting,
            pid,
            trace: folder.join("t.atrace"),
        }
    }

    /// The status of the recording, once a recorder takes requests.
    #[track_caller]
    fn status(&self) -> Value {
        let pid = self.pid.to_string();
        let until = Instant::now() + LIMIT;
        loop {
            let outcome = run(tool().args(["ctl", &pid, "status", "--json"]));
            if outcome.status == 0 {
                return serde_json::from_str(&outcome.out()).unwrap();
            }
            assert!(Instant::now() < until, "{outcome}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[track_caller]
    fn recorder(&self) -> Pid {
        let status = self.status();
        let recorder = status["recordings"][0]["recorder"].as_i64();
        let recorder = recorder.unwrap_or_else(|| panic!("{status}"));
        Pid::from_raw(recorder as i32).unwrap()
    }

    /// Kills the recorder, and waits until the program has joined the next one.
    #[track_caller]
    fn lose(&mut self) {
        let lost = self.recorder();
        kill_process(lost, Signal::KILL).unwrap();
        while self.recorder() == lost {
            std::thread::sleep(Duration::from_millis(5));
        }
        let recorder = self.recorder().as_raw_nonzero().get();
        self.waiting
            .joins_session(self.pid, recorder.cast_unsigned());
    }

    fn said(&self) -> String {
        std::fs::read_to_string(self.trace.with_file_name("said")).unwrap()
    }

    /// The file of recorder `number`.
    fn file(&self, number: u32) -> PathBuf {
        self.trace.with_file_name(format!("t-{number}.atrace"))
    }

    fn parent(&self) -> Pid {
        Pid::from_child(&self.waiting.child)
    }
}

/// The same of a file that may have no end.
#[track_caller]
fn info_of_lost(trace: &Path) -> Value {
    let outcome = run(tool().args(["info", "--json"]).arg(trace));
    assert!([0, 3].contains(&outcome.status), "{outcome}");
    serde_json::from_str(&outcome.out()).unwrap()
}

fn fills_of_lost(trace: &Path) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let tables = Tables::of_lost_file(trace, folder.path());
    let tasks = tables.tasks.iter();
    tasks.filter(|it| it.text("kind") == "memset").count()
}

#[test]
fn a_recording_that_loses_no_recorder_is_as_one_without_the_option() {
    let recording = Run::new(&program("windows"))
        .words(&["20", "0"])
        .options(&["--respawn"])
        .compared();
    let known = info(&recording.trace());
    assert_eq!(known["complete"], true, "{known}");
    assert_eq!(known["exit_status"], 0, "{known}");
    for absent in ["attached", "continues"] {
        assert!(known["session"][absent].is_null(), "{known}");
    }
    let command = known["session"]["command"].as_array().unwrap();
    assert_eq!(command.len(), 3, "{known}");
    let said = recording.outcome.err();
    assert!(said.contains("look at it with"), "{said}");
    let plain = Run::new(&program("windows")).words(&["20", "0"]).compared();
    let counted = |trace: &Path| info(trace)["calls"]["count"].clone();
    assert_eq!(counted(&recording.trace()), counted(&plain.trace()));
}

#[test]
fn a_killed_recorder_is_replaced_and_the_next_file_has_the_gap() {
    let folder = tempfile::tempdir().unwrap();
    let mut respawned = Respawned::start(folder.path(), &["--timing", "events"]);
    respawned.waiting.fill(1);
    respawned.lose();
    respawned.waiting.fill(2);
    respawned.lose();
    respawned.waiting.fill(3);
    let (first, second, third) = (
        respawned.trace.clone(),
        respawned.file(2),
        respawned.file(3),
    );
    let pid = respawned.pid;
    let said = folder.path().join("said");
    respawned.waiting.ends();
    let said = std::fs::read_to_string(said).unwrap();
    assert_eq!(said.matches("by signal 9 (SIGKILL)").count(), 2, "{said}");
    assert!(!said.contains("LOST"), "{said}");
    assert!(
        said.contains("until the earlier recorder was lost is in"),
        "{said}"
    );
    assert!(info_of_lost(&first)["session"]["continues"].is_null());
    assert_eq!(info_of_lost(&first)["complete"], false);
    for (file, earlier) in [(&second, &first), (&third, &second)] {
        let known = info_of_lost(file);
        let continues = &known["session"]["continues"];
        assert_eq!(continues["file"], earlier.to_str().unwrap(), "{known}");
        assert_eq!(continues["reason"], "by signal 9 (SIGKILL)", "{known}");
        let (lost, begin) = (&continues["lost_ns"], &known["session"]["start_ns"]);
        assert!(lost.as_i64() < begin.as_i64(), "{known}");
        assert_eq!(known["session"]["attached"], pid, "{known}");
        assert!(fills_of_lost(file) > 0, "{known}");
        let text = run(tool().arg("info").arg(file)).out();
        assert!(text.contains("continues"), "{text}");
    }
    let known = info(&third);
    assert_eq!(known["complete"], true, "{known}");
    assert_eq!(known["exit_status"], RIGHT, "{known}");
    let tables = Tables::of_file(&third, &folder.path().join("csv"));
    let last = tables.tasks.iter().filter(|it| it.text("kind") == "memset");
    assert_eq!(last.map(|it| it.number("bytes")).next_back(), Some(3 * 64));
}

#[test]
fn files_that_follow_each_other_and_snapshots_have_the_number_of_the_recorder() {
    for (options, first, second) in [
        (&["--roll", "1h"][..], "t-0001.atrace", "t-2-0001.atrace"),
        (&["--ring", "30s"], "t.atrace", "t-2.atrace"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut respawned = Respawned::start(folder.path(), options);
        respawned.waiting.fill(1);
        respawned.lose();
        respawned.waiting.fill(2);
        if options[0] == "--ring" {
            let pid = respawned.pid.to_string();
            run(tool().args(["ctl", &pid, "snapshot", "slow"])).expect(0);
            assert!(folder.path().join("t-2-snapshot.atrace").exists());
        }
        respawned.waiting.ends();
        for name in [first, second] {
            assert!(fills_of_lost(&folder.path().join(name)) > 0, "{name}");
        }
    }
}

#[test]
fn signals_reach_the_program_and_those_for_options_the_recorder() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--ring", "30s", "--on", "signal=USR1"];
    let mut respawned = Respawned::start(folder.path(), &options);
    respawned.waiting.fill(1);
    let snapshot = folder.path().join("t-snapshot.atrace");
    let until = Instant::now() + LIMIT;
    kill_process(respawned.parent(), Signal::USR1).unwrap();
    while !snapshot.exists() {
        assert!(Instant::now() < until, "{}", respawned.said());
        std::thread::sleep(Duration::from_millis(5));
    }
    kill_process(respawned.parent(), Signal::QUIT).unwrap();
    while !respawned.said().contains("armed") {
        assert!(Instant::now() < until, "{}", respawned.said());
        std::thread::sleep(Duration::from_millis(5));
    }
    kill_process(respawned.parent(), Signal::TERM).unwrap();
    let status = respawned.waiting.child.wait().unwrap();
    assert_eq!(status.code(), Some(128 + Signal::TERM.as_raw()));
    let known = info(&respawned.trace);
    assert_eq!(known["exit_status"], 128 + Signal::TERM.as_raw(), "{known}");
    let said = respawned.said();
    assert!(said.contains("ended by signal 15"), "{said}");
}

/// The program and its recorder run on.
#[test]
fn a_recorder_without_its_parent_completes_the_file_when_the_program_ends() {
    let folder = tempfile::tempdir().unwrap();
    let mut respawned = Respawned::start(folder.path(), &[]);
    respawned.waiting.fill(1);
    respawned.waiting.child.kill().unwrap();
    respawned.waiting.child.wait().unwrap();
    respawned.waiting.fill(2);
    writeln!(respawned.waiting.input, "end").unwrap();
    let until = Instant::now() + LIMIT;
    while info_of_lost(&respawned.trace)["complete"] != true {
        assert!(Instant::now() < until, "{}", respawned.said());
        std::thread::sleep(Duration::from_millis(20));
    }
    let known = info(&respawned.trace);
    assert!(known["exit_status"].is_null(), "{known}");
    let reason = known["end_reason"].as_str().unwrap();
    assert!(reason.contains("was killed"), "{known}");
    assert_eq!(fills(&respawned.trace), 2);
}

#[test]
fn a_stopped_recording_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let mut respawned = Respawned::start(folder.path(), &[]);
    respawned.waiting.fill(1);
    let pid = respawned.pid.to_string();
    run(tool().args(["ctl", &pid, "stop"])).expect(0);
    respawned.waiting.fill(2);
    assert_eq!(respawned.status()["recordings"][0]["stopped"], true);
    let trace = respawned.trace.clone();
    respawned.waiting.ends();
    assert_eq!(fills(&trace), 1);
    assert!(!folder.path().join("t-2.atrace").exists());
}

#[test]
fn a_program_that_cannot_be_recorded_or_started_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("t.atrace");
    let script = folder.path().join("script");
    std::fs::write(&script, "#!/nonexistent/shell\n").unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let mut command = tool();
    command.args(["record", "--respawn", "-o"]).arg(&trace);
    let refused = run(command.arg("--").arg(&script)).expect(127).err();
    assert!(refused.contains("does not exist"), "{refused}");
    assert!(!trace.exists());
    std::fs::write(&trace, "not ours").unwrap();
    let mut command = tool();
    command.args(["record", "--respawn", "-o"]).arg(&trace);
    let refused = run(command.args(["--", "true"])).expect(125).err();
    assert_eq!(refused.matches("exists: --force").count(), 1, "{refused}");
    assert_eq!(std::fs::read_to_string(&trace).unwrap(), "not ours");
}

#[test]
fn options_that_a_further_recorder_cannot_follow_are_refused() {
    for (words, part) in [
        (&["-o", "-"][..], "needs a trace file"),
        (&["--delay", "1s"], "records the whole run"),
        (&["--start-at", "step=3"], "records the whole run"),
        (&["--tui"], "--tui"),
    ] {
        let mut command = tool();
        command.args(["record", "--respawn"]).args(words);
        let outcome = run(command.args(["--", "true"])).expect(125);
        assert!(outcome.err().contains(part), "{words:?}: {outcome}");
    }
}
