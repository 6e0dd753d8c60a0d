//! Threads without calls of AscendCL, and child processes: how much they work, and what predictions make of it.

use serde_json::Value;

use crate::support::{Recording, Run, program, run, tool};

/// A copy takes a little longer than the loader needs for an item, so the program hardly waits for it.
const SOFT: &str = "copy_ns=2300000";

fn document(words: &[&str], recorded: &Recording) -> Value {
    let mut command = tool();
    command
        .args([words[0], "--json"])
        .arg(recorded.trace())
        .args(&words[1..]);
    serde_json::from_str(&run(&mut command).expect(0).out()).unwrap()
}

fn skip() -> bool {
    let is_absent = std::fs::read_to_string("/proc/self/schedstat").is_err();
    #[expect(clippy::print_stderr, reason = "skipped tests say why")]
    if is_absent {
        eprintln!("skipped: this kernel does not count the processor time of threads in /proc");
    }
    is_absent
}

fn judge(kind: &str) {
    if skip() {
        return;
    }
    let words = [kind];
    let recorded = Run::new(&program("loader"))
        .words(&words)
        .soft(SOFT)
        .traced();
    let truth: f64 = recorded.outcome.out().trim().parse().unwrap();
    let stats = document(&["stats"], &recorded);
    let others = stats["other_threads"].as_array().unwrap();
    let own: Vec<&Value> = others.iter().filter(|it| it["name"] == "loader").collect();
    let [loader] = own.as_slice() else {
        panic!("one loader: {others:?}");
    };
    let pid = &stats["threads"][0]["pid"];
    assert_eq!(loader["pid"] != *pid, kind == "process", "{stats}");
    let work = loader["work_ns"].as_f64().unwrap();
    // The first look is late, and the last one early, by some of 300 items, and by more on a busy machine.
    assert!(
        (0.5 * truth..=1.01 * truth).contains(&work),
        "{work}, in truth {truth}"
    );
    let share = loader["share"].as_f64().unwrap();
    let seen = loader["seen_ns"].as_f64().unwrap();
    assert!((share * seen - work).abs() <= 1e3, "{loader}");
    // Neither the main thread nor those of the device are among them.
    let tid = &stats["threads"][0]["tid"];
    assert!(others.iter().all(|it| it["tid"] != *tid), "{others:?}");
    let is_device = |it: &Value| it["name"].as_str().unwrap().starts_with("softacl");
    assert!(!others.iter().any(is_device), "{others:?}");

    let predicted = document(&["what-if", "copy x0.1"], &recorded);
    let found = &predicted["predictions"][0];
    let figure = |name: &str| found[name].as_f64().unwrap();
    let busiest = &predicted["other_threads"][0];
    assert_eq!(busiest["tid"], loader["tid"], "{predicted}");
    let work = busiest["work_ns"].as_f64().unwrap();
    // On a busy machine, the program takes longer than the loader works in any case.
    assert!(
        figure("makespan_ns") + figure("error_ns") >= work,
        "{predicted}"
    );
}

#[test]
fn the_error_contains_the_work_of_a_thread_that_loads() {
    judge("thread");
}

#[test]
fn the_error_contains_the_work_of_a_process_that_loads() {
    judge("process");
}
