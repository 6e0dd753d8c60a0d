//! The module `ascend_trace` for Python programs: their ranges, and recordings as tables.

use std::path::{Path, PathBuf};

use crate::python::ranges;
use crate::support::process::run;
use crate::support::tables::CsvRow;
use crate::support::{Run, program, tool};
use crate::ways::tool_in_path;

fn here(place: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(place)
}

#[expect(clippy::print_stderr, reason = "skipped tests say why")]
fn python() -> Option<PathBuf> {
    let python = tool_in_path("python3");
    if python.is_none() {
        eprintln!("skipped: there is no python3");
    }
    python
}

fn named_ranges(python: &Path) -> Run {
    let script = here("tests/programs/named_ranges.py");
    Run::new(python)
        .words(&["-B", script.to_str().unwrap()])
        .variable("PYTHONPATH", here("python").to_str().unwrap())
}

/// The program prints the same, and the recording has its ranges, each where it was.
#[test]
fn ranges_of_a_program_are_recorded_and_change_nothing() {
    let Some(python) = python() else { return };
    let recording = named_ranges(&python).compared();
    recording.outcome.clone().expect(0);
    let ranges = ranges(&recording);
    let count = |kind: &str, name: &str, depth: i64| {
        let is_it = |row: &&CsvRow| {
            (row.text("kind"), row.text("name"), row.number("depth")) == (kind, name, depth)
        };
        ranges.iter().filter(is_it).count()
    };
    let expected = [
        ("function", "outer", 0, 1),
        ("function", "inner é x", 1, 1),
        ("function", "failing", 0, 1),
        // Once by itself, and in three threads; within itself; in steps.
        ("function", "decorated", 0, 4),
        ("function", "decorated", 1, 1 + 3 + 3),
        ("function", "decorated", 2, 1),
        ("step", "step 0", 0, 1),
        ("step", "step 1", 0, 1),
        ("step", "step 2", 0, 1),
        ("step", "last step", 0, 1),
        ("function", "a mark", 1, 1),
        ("pause", "recording paused", 0, 1),
    ];
    for (kind, name, depth, times) in expected {
        assert_eq!(
            count(kind, name, depth),
            times,
            "{name} {depth}: {ranges:?}"
        );
    }
    let all: usize = expected.iter().map(|(.., times)| times).sum();
    assert_eq!(ranges.len(), all);
}

#[test]
fn a_recording_is_read_as_tables_and_errors_are_those_of_the_command() {
    let Some(python) = python() else { return };
    let recording = Run::new(&program("phases")).words(&["200", "7"]).traced();
    let other = recording.beside("other.txt");
    std::fs::write(&other, "no recording").unwrap();
    let mut reader = std::process::Command::new(python);
    reader
        .arg("-B")
        .arg(here("tests/programs/read_recording.py"));
    reader.arg(recording.trace()).arg(&other);
    reader.env("PYTHONPATH", here("python"));
    reader.env("ASCEND_TRACE_COMMAND", env!("CARGO_BIN_EXE_ascend-trace"));
    let text = run(&mut reader).expect(0).out();
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].contains("'calls'") && lines[0].contains("'tasks'"),
        "{text}"
    );
    assert_eq!(
        lines[1],
        "ascend-trace/info ascend-trace/stats ascend-trace/steps"
    );
    match lines[2].strip_prefix("no pyarrow: ") {
        Some(why) => assert!(
            why.contains("pip install pyarrow") || why.contains("pyarrow"),
            "{text}"
        ),
        None => assert_eq!(lines[2..5], ["Table 200 True", "0", "KeyError"]),
    }
    let refused: Vec<&str> = lines.iter().rev().take(4).rev().copied().collect();
    assert_eq!(
        refused[0],
        "FileNotFoundError /nonexistent/run.atrace: no such recording"
    );
    assert!(
        refused[1].starts_with("Error cannot open OTHER: "),
        "{text}"
    );
    assert!(
        refused[2].starts_with("Error invalid value 'x' for '--range"),
        "{text}"
    );
    assert!(refused[3].starts_with("TypeError only is a list"), "{text}");
}

#[test]
fn a_program_asks_for_a_snapshot_of_a_ring() {
    let Some(python) = python() else { return };
    let script = here("tests/programs/snapshots.py");
    let recording = Run::new(&python)
        .words(&["-B", script.to_str().unwrap()])
        .variable("PYTHONPATH", here("python").to_str().unwrap())
        .options(&["--ring", "30s", "--after", "0s"])
        .compared();
    let snapshot = recording.trace().with_file_name("t-snapshot.atrace");
    let mut info = tool();
    let info = run(info.args(["info", "--json"]).arg(&snapshot)).expect(0);
    let info: serde_json::Value = serde_json::from_str(&info.out()).unwrap();
    let reason = &info["session"]["kept"]["snapshot"]["reason"];
    assert_eq!(reason.as_str(), Some("loss is nan !"));
    let marks: Vec<(String, String)> = ranges(&recording)
        .iter()
        .map(|it| (it.text("kind").to_owned(), it.text("name").to_owned()))
        .collect();
    let mark = ("snapshot".to_owned(), "loss is nan !".to_owned());
    assert_eq!(
        marks.iter().filter(|it| **it == mark).count(),
        1,
        "{marks:?}"
    );
}
