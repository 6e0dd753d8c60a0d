//! `--python`: the hook inside interpreters, on stand-ins for torch and MindSpore.

use std::path::Path;

use crate::support::process::{run, tool};
use crate::support::tables::CsvRow;
use crate::support::{Recording, Run};
use crate::ways::tool_in_path;

/// The test program for torch, on the stand-in.
fn program(words: &[&str]) -> Option<Run> {
    program_of("hooked.py", words)
}

/// A test program, on the stand-ins.
#[expect(clippy::print_stderr, reason = "skipped tests say why")]
fn program_of(name: &str, words: &[&str]) -> Option<Run> {
    let Some(python) = tool_in_path("python3") else {
        eprintln!("skipped: there is no python3");
        return None;
    };
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let script = programs.join(name);
    let words = [&["-B", script.to_str().unwrap()][..], words].concat();
    let stand_in = programs.join("stand_in");
    Some(
        Run::new(&python)
            .words(&words)
            .variable("PYTHONPATH", stand_in.to_str().unwrap()),
    )
}

/// The ranges of a recording, from its table.
pub(crate) fn ranges(recording: &Recording) -> Vec<CsvRow> {
    let folder = recording.beside("ranges");
    let mut export = tool();
    export.arg("export").arg(recording.trace());
    export.args(["--format", "csv", "-o"]).arg(&folder);
    run(&mut export).expect(0);
    CsvRow::all(&std::fs::read_to_string(folder.join("ranges.csv")).unwrap())
}

#[test]
fn the_hook_changes_nothing_without_a_recorder() {
    let Some(run_it) = program(&[]) else { return };
    let bare = run_it.bare();
    let armed = run(&mut run_it.options(&["--python"]).armed());
    assert_eq!((armed.status, armed.out()), (bare.status, bare.out()));
    assert_eq!(armed.err(), bare.err());
}

/// The same output, errors with their tracebacks included, and the same status.
#[test]
fn the_hook_changes_nothing_and_records_ranges() {
    let Some(run_it) = program(&[]) else { return };
    let recording = run_it.options(&["--python"]).compared();
    let ranges = ranges(&recording);
    let ranges_of = |process: i64| -> Vec<(&str, &str)> {
        let own = ranges.iter().filter(|row| row.number("process") == process);
        own.map(|row| (row.text("kind"), row.text("name")))
            .collect()
    };
    let main = ranges_of(0);
    let count = |kind: &str, name: &str| main.iter().filter(|it| **it == (kind, name)).count();
    for step in ["step 0", "step 1", "step 2"] {
        assert_eq!(count("step", step), 1, "{main:?}");
    }
    assert_eq!(
        count("step", "step 3"),
        0,
        "no optimizer has ended it: {main:?}"
    );
    assert_eq!(count("phase", "forward"), 5);
    assert_eq!(count("phase", "backward"), 4);
    assert_eq!(count("phase", "optimizer"), 6);
    assert_eq!(count("module", "Model"), 5);
    assert_eq!(count("module", "layer (Linear)"), 5);
    assert_eq!(count("module", "head (Unhashable)"), 4);
    assert_eq!(count("loader", "dataloader"), 4);
    assert_eq!(count("fetch", "fetch"), 4);
    assert_eq!(count("function", "my range"), 3);
    assert_eq!(ranges_of(1), [("fetch", "fetch")]);
    // Each is where it was opened, also after an error.
    let of = |name: &'static str| ranges.iter().filter(move |row| row.text("name") == name);
    assert!(of("forward").next_back().unwrap().number("depth") <= 1);
    for step in of("step 1") {
        let (begin, end) = (step.number("begin_ns"), step.number("end_ns"));
        let inside = ranges.iter().filter(|row| {
            row.number("begin_ns") >= begin
                && row.number("end_ns") <= end
                && row.text("name") == "Model"
        });
        assert_eq!(inside.count(), 1);
    }
}

#[test]
fn a_torch_that_cannot_be_imported_fails_as_it_does_without() {
    let Some(run_it) = program(&["broken"]) else {
        return;
    };
    let recording = run_it.options(&["--python"]).compared();
    assert_eq!(recording.outcome.status, 1);
    assert!(recording.outcome.err().contains("this torch is broken"));
    assert!(ranges(&recording).is_empty());
}

#[test]
fn without_the_option_no_range_is_recorded() {
    let Some(run_it) = program(&[]) else { return };
    assert!(ranges(&run_it.compared()).is_empty());
}

/// Steps by the program's own loop, by a trainer, by graphs, and two in one call; cells by their names.
#[test]
fn cells_of_mindspore_are_ranges_and_optimizers_end_steps() {
    let Some(run_it) = program_of("hooked_mindspore.py", &[]) else {
        return;
    };
    let recording = run_it.options(&["--python"]).compared();
    let ranges = ranges(&recording);
    let all = ranges
        .iter()
        .map(|row| (row.text("kind"), row.text("name")));
    let all: Vec<_> = all.collect();
    let count = |kind: &str, name: &str| all.iter().filter(|it| **it == (kind, name)).count();
    let steps: Vec<_> = all.iter().filter(|it| it.0 == "step").collect();
    // `step 12` does not end, so it is left out.
    let names: Vec<String> = (0..12).map(|number| format!("step {number}")).collect();
    assert_eq!(steps.iter().map(|it| it.1).collect::<Vec<_>>(), names);
    for (kind, name, number) in [
        ("phase", "forward", 6),
        ("phase", "backward", 6),
        ("phase", "optimizer", 6),
        ("module", "Net", 2),
        ("module", "fc1 (Dense)", 2),
        ("module", "network.fc1 (Dense)", 4),
        ("module", "network.fc2 (Dense)", 3),
        ("module", "TrainOneStep", 2),
        ("module", "Epoch", 1),
        ("loader", "dataloader", 3),
        ("function", "TrainOneStep.construct", 1),
        ("function", "told", 1),
        ("function", "by_global", 2),
        ("function", "reads", 1),
        ("function", "by_private", 3),
    ] {
        assert_eq!(count(kind, name), number, "{kind} {name}: {all:?}");
    }
}
