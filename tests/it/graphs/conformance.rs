use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::compiled;
use crate::support::{Outcome, Run, feed, place};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/soft/runtime/tests/programs")
}

fn programs() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder().join("f_capture")).unwrap();
    let mut programs: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    programs.retain(|path| path.extension().is_some_and(|end| end == "c"));
    programs.sort();
    programs
}

/// The options of the software runtime that a program asks for in its first line.
fn options(source: &Path) -> String {
    let text = std::fs::read_to_string(source).unwrap();
    let first = text.lines().next().unwrap_or_default();
    let asked = first
        .strip_prefix("/* SOFTACL: ")
        .and_then(|rest| rest.strip_suffix(" */"));
    asked.unwrap_or_default().to_owned()
}

/// A difference between two ways to run a program; `None` without one.
fn difference(source: &Path) -> Option<String> {
    let include = folder().display().to_string();
    let options_of_cc = [
        "-std=gnu11",
        "-O1",
        "-I",
        &include,
        "-pthread",
        "-lascendcl",
    ];
    let program = compiled("cc", source, &options_of_cc);
    let run = Run::new(&program).soft(&options(source));
    let bare = run.bare();
    let folder = tempfile::tempdir().unwrap();
    let traced = feed(&mut run.command(folder.path()), b"");
    let judged = |outcome: &Outcome| (outcome.status, outcome.stdout.clone());
    let is_same = judged(&bare) == judged(&traced) && bare.status == 0;
    (!is_same).then(|| format!("{}\n{bare}\n{traced}", source.display()))
}

#[test]
fn every_program_prints_the_same_codes_and_nodes() {
    let mut programs = programs();
    assert!(programs.len() >= 60, "only {} programs", programs.len());
    if place::is_emulated() {
        // Their subject does not depend on the architecture, and each takes seconds there.
        programs = programs.into_iter().step_by(4).collect();
    }
    let next = AtomicUsize::new(0);
    let differences = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().unwrap().get().min(8);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(source) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    differences.lock().unwrap().extend(difference(source));
                }
            });
        }
    });
    let differences = differences.into_inner().unwrap();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
