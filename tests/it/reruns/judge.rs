//! A prediction against the program that really ran with the change.

use std::fmt;
use std::path::Path;

use serde_json::Value;

use crate::support::{run, tool};

use super::clocked::{Clocked, MAPPING, Truth, file_in};

/// A program, a change of it in the words of `what-if`, and the program with that change.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) name: String,
    pub(crate) original: Clocked,
    pub(crate) changes: Vec<String>,
    pub(crate) changed: Clocked,
    /// The changed program captures a graph first, which the other one does not: this takes no part in it.
    pub(crate) captures: bool,
}

/// Result of a pair.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    name: String,
    changes: Vec<String>,
    recorded: i64,
    predicted: i64,
    error: i64,
    rerun: i64,
}

impl Judged {
    fn off(&self) -> i64 {
        (self.predicted - self.rerun).abs()
    }

    /// Within its own error.
    pub(crate) fn is_honest(&self) -> bool {
        self.off() <= self.error
    }

    /// Within 2 %, or within its own error.
    pub(crate) fn is_right(&self) -> bool {
        self.is_honest() || 50 * self.off() <= self.rerun
    }
}

impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |ns: i64| 100.0 * ns as f64 / self.rerun as f64;
        write!(
            f,
            "{}: {:?}: {} ns, predicted {} ns, ran {} ns: off by {} ns ({:.2} %), error {} ns ({:.2} %)",
            self.name,
            self.changes,
            self.recorded,
            self.predicted,
            self.rerun,
            self.predicted - self.rerun,
            part(self.off()),
            self.error,
            part(self.error),
        )
    }
}

/// Output of the command about a recording.
#[track_caller]
pub(crate) fn what_if(recording: &Path, words: &[&str]) -> Value {
    let mut command = tool();
    command
        .args(["what-if", "--json"])
        .arg(recording)
        .args(words);
    let outcome = run(&mut command).expect(0);
    serde_json::from_str(&outcome.out()).unwrap()
}

#[track_caller]
pub(crate) fn number(value: &Value, field: &str) -> i64 {
    let number = value[field].as_i64();
    number.unwrap_or_else(|| panic!("no {field} in {value}"))
}

/// Recordings of programs, each made once.
#[derive(Debug)]
pub(crate) struct Judge {
    folder: tempfile::TempDir,
    known: Vec<(Clocked, std::path::PathBuf, Truth)>,
}

impl Judge {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            known: Vec::new(),
        }
    }

    /// The recording of a program, and the truth about it.
    #[track_caller]
    pub(crate) fn recorded(&mut self, program: &Clocked) -> (&Path, &Truth) {
        let place = self.known.iter().position(|it| it.0 == *program);
        let place = place.unwrap_or_else(|| {
            let number = self.known.len();
            let folder = self.folder.path().join(number.to_string());
            std::fs::create_dir(&folder).unwrap();
            let path = file_in(&folder);
            let truth = program.recorded(&path);
            self.known.push((program.clone(), path, truth));
            number
        });
        let (_, path, truth) = &self.known[place];
        (path, truth)
    }

    /// Predicts, and runs the changed program.
    #[track_caller]
    pub(crate) fn judge(&mut self, pair: &Pair) -> Judged {
        let (path, truth) = self.recorded(&pair.original);
        let words: Vec<&str> = pair.changes.iter().map(String::as_str).collect();
        let report = what_if(path, &words);
        let recorded = number(&report, "makespan_ns");
        let off = (recorded - truth.makespan()).abs();
        assert!(
            off <= truth.makespan() / MAPPING,
            "{}: the recording is off by {off} ns",
            pair.name
        );
        let prediction = &report["predictions"][0];
        let changed = pair.changed.truth();
        let rerun = match pair.captures {
            true => {
                let capture = changed.between("aclmdlRICaptureBegin", "aclmdlRICaptureEnd");
                changed.makespan() - capture
            }
            false => changed.makespan(),
        };
        Judged {
            name: pair.name.clone(),
            changes: pair.changes.clone(),
            recorded,
            predicted: number(prediction, "makespan_ns"),
            error: number(prediction, "error_ns"),
            rerun,
        }
    }
}

/// Fails unless most predictions are within 10 % of the run: a wide error is not enough.
#[track_caller]
pub(crate) fn close(judged: &[Judged]) {
    let far = judged.iter().filter(|it| 10 * it.off() > it.rerun);
    let far: Vec<String> = far.map(|it| format!("{it}\n")).collect();
    assert!(5 * far.len() <= judged.len(), "far off:\n{}", far.concat());
}

/// Fails unless all predictions are right, and 19 of 20 are within their own error.
#[track_caller]
pub(crate) fn verdict(judged: &[Judged]) {
    let lines =
        |these: Vec<&Judged>| -> String { these.iter().map(|it| format!("{it}\n")).collect() };
    let wrong: Vec<&Judged> = judged.iter().filter(|it| !it.is_right()).collect();
    assert!(wrong.is_empty(), "wrong:\n{}", lines(wrong));
    let beyond: Vec<&Judged> = judged.iter().filter(|it| !it.is_honest()).collect();
    assert!(
        20 * beyond.len() <= judged.len(),
        "{} of {} are beyond their own error:\n{}",
        beyond.len(),
        judged.len(),
        lines(beyond)
    );
}
