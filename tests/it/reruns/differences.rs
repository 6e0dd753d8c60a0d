//! `diff` on runs of one program with tasks that take up to 3 % more or less each time.

use std::path::{Path, PathBuf};

use ascend_trace_recording::file::FileContents;
use serde_json::Value;

use crate::support::{run, tool};

use super::clocked::{Clocked, retimed};
use super::pairs::looped;

/// Pairs with a slower operation, and as many without.
const PAIRS: u64 = 20;

/// One run among others of the same program.
fn noisy(round: &str, seed: u64) -> Clocked {
    let script = looped("s 0", 100, round, "");
    let soft = format!("virtual_ns=1000,noise_ppm=30000,noise_seed={seed}");
    Clocked::new(&soft, &[&script])
}

/// A program that runs again and again, and is recorded once: its calls are the same in each run.
struct Program {
    round: &'static str,
    contents: FileContents,
}

impl Program {
    fn new(round: &'static str) -> Self {
        Self {
            round,
            contents: noisy(round, 0).contents(),
        }
    }

    /// The recording of a run.
    fn ran(&self, seed: u64, folder: &Path, name: &str) -> PathBuf {
        let truth = noisy(self.round, seed).truth();
        let path = folder.join(format!("{name}{seed}.atrace"));
        std::fs::write(&path, retimed(self.contents.clone(), &truth)).unwrap();
        path
    }
}

fn diff(a: &Path, b: &Path) -> Value {
    let outcome = run(tool().args(["diff", "--json"]).arg(a).arg(b)).expect(0);
    serde_json::from_str(&outcome.out()).unwrap()
}

/// The row of the fills.
#[track_caller]
fn fills(report: &Value) -> &Value {
    assert_eq!(report["by_steps"], true, "{report}");
    let rows = report["pairs"][0]["rows"].as_array().unwrap();
    let found = rows
        .iter()
        .find(|it| it["kind"] == "operation" && it["name"] == "aclrtMemsetAsync");
    found.unwrap_or_else(|| panic!("no fills: {report}"))
}

#[test]
fn an_operation_that_is_five_percent_slower_is_found_and_nothing_else_is() {
    let before = Program::new("f 0 200;c 0 300;m 0 100;y 0;p 30");
    let after = Program::new("f 0 210;c 0 300;m 0 100;y 0;p 30");
    let folder = tempfile::tempdir().unwrap();
    let runs = (0..=PAIRS).map(|seed| before.ran(seed, folder.path(), "before"));
    let runs: Vec<PathBuf> = runs.collect();
    for pair in runs.windows(2) {
        let report = diff(&pair[0], &pair[1]);
        assert_eq!(report["changed"], false, "{pair:?}: {report}");
    }
    for (seed, run) in (100..100 + PAIRS).zip(&runs) {
        let report = diff(run, &after.ran(seed, folder.path(), "after"));
        let fills = fills(&report);
        assert_eq!(fills["verdict"], "longer", "{seed}: {fills}");
        let change = fills["change"].as_f64().unwrap();
        assert!((0.03..0.07).contains(&change), "{seed}: {fills}");
    }
}
