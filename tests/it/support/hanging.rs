//! Programs that hang under the recorder.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use super::compile::program;
use super::process::{Outcome, finish, run, tool};
use super::run::Run;

/// How long something is waited for that comes within seconds, or never.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A program that hangs under the recorder.
pub(crate) struct Hanging {
    folder: TempDir,
    recorder: Option<Child>,
    /// `stuck` itself.
    pub(crate) program: Pid,
    has_ended: bool,
}

impl Hanging {
    /// Starts `stuck` to hang in this way.
    #[track_caller]
    pub(crate) fn start(how: &str) -> Self {
        Self::with(how, &[])
    }

    /// The same, with options of the recorder.
    #[track_caller]
    pub(crate) fn with(how: &str, options: &[&str]) -> Self {
        Self::of(&Run::new(&program("stuck")).words(&[how]).options(options))
    }

    /// Starts something that starts `stuck`.
    #[track_caller]
    pub(crate) fn of(run: &Run) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = run.clone().soft("devices=2").command(folder.path());
        Self::spawn(folder, &mut command)
    }

    /// The same by a command that records into this folder.
    #[track_caller]
    pub(crate) fn spawn(folder: TempDir, command: &mut Command) -> Self {
        let file = |name: &str| File::create(folder.path().join(name)).unwrap();
        command.stdin(Stdio::null()).current_dir(folder.path());
        command.stdout(file("out")).stderr(file("err"));
        let recorder = Some(command.spawn().unwrap());
        let mut hanging = Self {
            folder,
            recorder,
            program: Pid::INIT,
            // Until its number is known.
            has_ended: true,
        };
        let line = hanging.until("out", "stuck ", 1);
        let pid = line.lines().find_map(|line| line.strip_prefix("stuck "));
        hanging.program = Pid::from_raw(pid.unwrap().parse().unwrap()).unwrap();
        hanging.has_ended = false;
        hanging
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("t.atrace")
    }

    pub(crate) fn recorder(&self) -> Pid {
        Pid::from_child(self.recorder.as_ref().unwrap())
    }

    /// The present content of a file next to the trace: `out` and `err` are the output of the program
    /// and the recorder.
    pub(crate) fn written(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    /// Waits until such a file has this number of lines that begin with a text. Lines of the recorder
    /// have its name.
    #[track_caller]
    pub(crate) fn until(&self, name: &str, begin: &str, count: usize) -> String {
        let begun = Instant::now();
        loop {
            let written = self.written(name);
            let whole = written.rsplit_once('\n').map_or("", |(whole, _)| whole);
            if count_of(whole, begin) >= count {
                return written;
            }
            assert!(
                begun.elapsed() < PATIENCE,
                "no {begin} in {name}: {written}"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The report, once it has this verdict and this first cause.
    #[track_caller]
    pub(crate) fn reported(&self, verdict: &str, kind: &str) -> Value {
        let begin = Instant::now();
        loop {
            let report = report(&self.file());
            let found = (&report["verdict"], &report["culprits"][0]["kind"]);
            if found == (&Value::from(verdict), &Value::from(kind)) {
                return report;
            }
            assert!(begin.elapsed() < PATIENCE, "{report:#}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Ends the recorder, which leaves the program behind.
    pub(crate) fn kill_recorder(&mut self) {
        let mut recorder = self.recorder.take().unwrap();
        recorder.kill().unwrap();
        recorder.wait().unwrap();
    }

    /// Ends the program, and waits for the recorder.
    #[track_caller]
    pub(crate) fn kill_program(&mut self) -> Outcome {
        kill_process(self.program, Signal::KILL).unwrap();
        self.finish()
    }

    /// Waits for the recorder, and returns its status.
    #[track_caller]
    pub(crate) fn finish(&mut self) -> Outcome {
        let outcome = finish(self.recorder.take().unwrap());
        self.has_ended = true;
        outcome.unwrap_or_else(|outcome| panic!("{outcome}"))
    }
}

/// How many lines begin with a text.
pub(crate) fn count_of(written: &str, begin: &str) -> usize {
    let lines = written.lines();
    let lines = lines.map(|line| line.strip_prefix("ascend-trace: ").unwrap_or(line));
    lines.filter(|line| line.starts_with(begin)).count()
}

impl Drop for Hanging {
    fn drop(&mut self) {
        // Where a test failed both may still run; else neither does.
        if !self.has_ended {
            let _ = kill_process(self.program, Signal::KILL);
        }
        if let Some(recorder) = &mut self.recorder {
            let _ = recorder.kill();
            let _ = recorder.wait();
        }
    }
}

/// The report on a recording.
#[track_caller]
pub(crate) fn report(file: &Path) -> Value {
    let outcome = run(tool().arg("why").arg(file).arg("--json"));
    // The recording has no end where its recorder was killed.
    assert!([0, 3].contains(&outcome.status), "{outcome}");
    serde_json::from_str(&outcome.out()).unwrap()
}
