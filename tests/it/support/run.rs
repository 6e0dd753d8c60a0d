//! Running one program with and without the tracer.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::compile::soft;
use super::process::{Outcome, clean, feed, tool};

/// The card that all programs of this run of the tests see, if not 910b.
pub(crate) const CHIP: &str = "ASCEND_TRACE_TEST_CHIP";

/// Whether that card's streams take few records with a time, which is available only after the program
/// has synchronised.
pub(crate) fn has_few_places() -> bool {
    std::env::var(CHIP).is_ok_and(|chip| ["310p", "910a"].contains(&chip.as_str()))
}

/// A program and the way to run it.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    program: PathBuf,
    words: Vec<String>,
    options: Vec<String>,
    soft: String,
    input: Vec<u8>,
    variables: Vec<(String, String)>,
    folder: Option<PathBuf>,
    has_budget: bool,
}

impl Run {
    pub(crate) fn new(program: &Path) -> Self {
        Self {
            program: program.to_owned(),
            words: Vec::new(),
            options: Vec::new(),
            soft: String::new(),
            input: Vec::new(),
            variables: Vec::new(),
            folder: None,
            has_budget: false,
        }
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// The program's arguments.
    pub(crate) fn words(mut self, words: &[&str]) -> Self {
        self.words = words.iter().map(ToString::to_string).collect();
        self
    }

    /// Options of `record`.
    pub(crate) fn options(mut self, options: &[&str]) -> Self {
        self.options = options.iter().map(ToString::to_string).collect();
        self
    }

    /// Options of the software runtime.
    pub(crate) fn soft(mut self, soft: &str) -> Self {
        soft.clone_into(&mut self.soft);
        self
    }

    /// Keeps the default budget of events. Other runs have no budget, so all tasks have times.
    pub(crate) fn budgeted(mut self) -> Self {
        self.has_budget = true;
        self
    }

    /// A variable of the program's environment.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The folder that it is run in.
    pub(crate) fn folder(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_owned());
        self
    }

    pub(crate) fn input(mut self, input: &[u8]) -> Self {
        input.clone_into(&mut self.input);
        self
    }

    /// The program on its own.
    #[track_caller]
    pub(crate) fn bare(&self) -> Outcome {
        feed(&mut self.plain(), &self.input)
    }

    /// The command that starts the program on its own.
    pub(crate) fn plain(&self) -> Command {
        let mut command = clean(&self.program);
        command
            .args(&self.words)
            .env("SOFTACL", self.soft_options());
        command.env("LD_LIBRARY_PATH", &soft().lib);
        self.surround(&mut command);
        command
    }

    /// The command that records the program; `folder` gets the trace and the truth log.
    pub(crate) fn command(&self, folder: &Path) -> Command {
        let mut command = tool();
        command.args(["record", "--no-tui"]);
        command.arg(format!("--soft={}", self.soft_options()));
        let is_given = |wanted: &str| self.options.iter().any(|option| option == wanted);
        if has_few_places() && !is_given("--timing") {
            // There, most short tasks are left out otherwise.
            command.args(["--timing", "events"]);
        }
        if !self.has_budget && !is_given("--budget") {
            command.args(["--budget", "off"]);
        }
        command.args(&self.options).arg("-o").arg(trace_in(folder));
        command.arg("--").arg(&self.program).args(&self.words);
        command.env("SOFTACL_TRUTH", truth_in(folder));
        self.surround(&mut command);
        command
    }

    /// The command that starts the program for recorders that attach to it.
    pub(crate) fn armed(&self) -> Command {
        let mut command = tool();
        command.arg("arm");
        command.arg(format!("--soft={}", self.soft_options()));
        command.args(&self.options).arg("--");
        command.arg(&self.program).args(&self.words);
        self.surround(&mut command);
        command
    }

    /// The command that starts the program for the server with this name.
    pub(crate) fn served(&self, name: &str) -> Command {
        let mut command = tool();
        command.args(["env", "--name", name]);
        command.arg(format!("--soft={}", self.soft_options()));
        command.args(&self.options).arg("--");
        command.arg(&self.program).args(&self.words);
        self.surround(&mut command);
        command
    }

    /// The options of the software runtime, on the card that this run of the tests is about.
    fn soft_options(&self) -> String {
        match std::env::var(CHIP) {
            Ok(chip) if !self.soft.contains("chip=") => format!("chip={chip},{}", self.soft),
            _ => self.soft.clone(),
        }
    }

    fn surround(&self, command: &mut Command) {
        command.envs(self.variables.clone());
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
    }

    /// The program under the tracer.
    #[track_caller]
    pub(crate) fn traced(&self) -> Recording {
        let folder = tempfile::tempdir().unwrap();
        let outcome = feed(&mut self.command(folder.path()), &self.input);
        Recording { outcome, folder }
    }

    /// Runs it both ways and holds the outcomes against each other.
    #[track_caller]
    pub(crate) fn compared(&self) -> Recording {
        let traced = self.compared_but_for_losses();
        let outcome = &traced.outcome;
        assert!(!outcome.err().contains("LOST"), "{outcome}");
        traced
    }

    /// As [`Run::compared`], for programs in which calls may come while another thread makes a forked
    /// child a separate process: those are counted and not recorded.
    #[track_caller]
    pub(crate) fn compared_but_for_losses(&self) -> Recording {
        let bare = self.bare();
        let traced = self.traced();
        let outcome = &traced.outcome;
        assert_eq!(outcome.status, bare.status, "{bare}\n{outcome}");
        assert_eq!(outcome.out(), bare.out(), "{bare}\n{outcome}");
        assert_eq!(outcome.program_err(), bare.err(), "{bare}\n{outcome}");
        traced
    }
}

fn trace_in(folder: &Path) -> PathBuf {
    folder.join("t.atrace")
}

fn truth_in(folder: &Path) -> PathBuf {
    folder.join("truth.jsonl")
}

/// A recording, in a separate folder.
pub(crate) struct Recording {
    pub(crate) outcome: Outcome,
    folder: TempDir,
}

impl Recording {
    pub(crate) fn trace(&self) -> PathBuf {
        trace_in(self.folder.path())
    }

    pub(crate) fn truth(&self) -> PathBuf {
        truth_in(self.folder.path())
    }

    /// The last number that the program has printed under this name, on a separate line.
    #[track_caller]
    pub(crate) fn number(&self, name: &str) -> u64 {
        let out = self.outcome.out();
        let mut values = out.lines().filter_map(|line| line.strip_prefix(name));
        let last = values.next_back().and_then(|rest| rest.trim().parse().ok());
        last.unwrap_or_else(|| panic!("no line `{name} N`: {}", self.outcome))
    }

    /// A path next to the trace.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}
