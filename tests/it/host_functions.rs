//! Functions of the program that streams run on the host: the tool notes when they ran, and changes nothing else.

use crate::support::{Recording, Run, Tables, program, truth};

const NUMBER: usize = 60;
/// On a busy machine, the clocks of the host may be compared badly for all of one run.
const RUNS: usize = 8;

fn recorded(timing: &str, soft: &str) -> Recording {
    Run::new(&program("hosted"))
        .words(&[&NUMBER.to_string(), "40"])
        .options(&["--timing", timing])
        .soft(soft)
        .compared()
}

/// Host functions and their true times. Of one that its stream does not wait for, only the place in the stream is known.
fn judged(recording: &Recording) -> (usize, usize, i64) {
    let tables = Tables::of(recording);
    let (mut timed, mut inside, mut widest) = (0, 0, 0);
    for (task, truth) in truth::matched(&tables.tasks, &recording.truth()) {
        if task.text("kind") != "hostfunc" || !task.text("untimed").is_empty() {
            continue;
        }
        let bar = task.number("err_ns");
        let off = [
            task.number("begin_ns") - truth.begin,
            task.number("end_ns") - truth.end,
        ];
        timed += 1;
        inside += usize::from(off.iter().all(|off| off.abs() <= bar));
        if truth.end > truth.begin {
            // The tool's function calls the program's at once, unless the thread loses its processor in between.
            widest = widest.max(bar);
        }
    }
    (timed, inside, widest)
}

#[test]
fn functions_on_the_host_are_timed_by_the_host() {
    for (timing, soft) in [
        ("events", "submit_ns=20000"),
        ("auto", "chip=310p,submit_ns=3000,record_ns=1500"),
        ("chained", "chip=910a,turn_ns=2000,switch_ns=1800"),
    ] {
        let is_good = (0..RUNS).any(|_| {
            let (timed, inside, widest) = judged(&recorded(timing, soft));
            println!("{timing} {soft}: {inside} of {timed} inside, the widest bar is {widest} ns");
            assert!(timed >= NUMBER, "{timed}");
            // A thread that loses its processor between the runtime's look at the clock and the tool's.
            inside + timed / 10 >= timed && widest <= 5_000
        });
        assert!(is_good, "{timing} {soft}");
    }
}

/// With more functions on their way than the tool has places, the others have the times of events.
#[test]
fn more_functions_than_places_all_run() {
    let recording = Run::new(&program("hosted"))
        .words(&["1500", "0"])
        .options(&["--timing", "events"])
        .soft("")
        .compared();
    let tables = Tables::of(&recording);
    let functions = tables
        .tasks
        .iter()
        .filter(|it| it.text("kind") == "hostfunc");
    assert!(functions.count() >= 3_000);
}
