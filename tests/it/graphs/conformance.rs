use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::compiled;
use crate::conformance_cases::{Case, cases_in};
use crate::support::compile::conformance_programs;
use crate::support::{Outcome, Run, feed, place};

/// A difference between two ways to run a case; `None` without one.
fn difference(case: &Case) -> Option<String> {
    let words = ["-std=gnu11", "-O1", "-pthread", "-lascendcl"];
    let program = compiled("cc", &case.source, &words);
    let run = Run::new(&program).words(&case.words()).soft(&case.options);
    let bare = run.bare();
    let folder = tempfile::tempdir().unwrap();
    let traced = feed(&mut run.command(folder.path()), b"");
    let judged = |outcome: &Outcome| (outcome.status, outcome.stdout.clone());
    let is_same = judged(&bare) == judged(&traced) && bare.status == 0;
    (!is_same).then(|| format!("{case}\n{bare}\n{traced}"))
}

#[test]
fn every_case_prints_the_same_codes_and_nodes() {
    let mut cases = cases_in(&conformance_programs().join("f_capture"));
    assert!(cases.len() >= 60, "only {} cases", cases.len());
    if place::is_emulated() {
        // Their subject does not depend on the architecture, and each takes seconds there.
        cases = cases.into_iter().step_by(4).collect();
    }
    let next = AtomicUsize::new(0);
    let differences = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().unwrap().get().min(8);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    differences.lock().unwrap().extend(difference(case));
                }
            });
        }
    });
    let differences = differences.into_inner().unwrap();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
