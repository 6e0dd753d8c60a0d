//! Advice about real runs of programs: their steps, and the critical paths to their ends.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{run, tool};

/// The bundled programs, and their number of rounds without the live view.
const DEMOS: [(&str, usize); 4] = [
    ("overlap", 40),
    ("pipeline", 28),
    ("stall", 20),
    ("transformer", 160),
];

fn recorded(folder: &tempfile::TempDir, name: &str) -> PathBuf {
    let path = folder.path().join(format!("{name}.atrace"));
    let mut command = tool();
    command.args(["demo", "--no-tui", name, "-o"]).arg(&path);
    run(&mut command).expect(0);
    path
}

fn document(words: &[&str], path: &PathBuf) -> Value {
    let outcome = run(tool().args(words).arg("--json").arg(path)).expect(0);
    serde_json::from_str(&outcome.out()).unwrap()
}

fn begins(document: &Value) -> Vec<(i64, i64)> {
    let steps = document["steps"].as_array().unwrap().iter();
    let of = |step: &Value, field: &str| step[field].as_i64().unwrap();
    let span = |step: &Value| {
        let begin = of(step, "begin_ns");
        (begin, begin + of(step, "length_ns"))
    };
    steps.map(span).collect()
}

#[test]
fn rounds_of_the_demos_are_found_as_steps() {
    let folder = tempfile::tempdir().unwrap();
    for (name, rounds) in DEMOS {
        let path = recorded(&folder, name);
        let found = begins(&document(&["steps", "--repeated"], &path));
        assert_eq!(found.len(), rounds, "{name}: {found:?}");
        if name == "transformer" {
            // It marks them itself.
            let marked = document(&["steps"], &path);
            assert_eq!(marked["processes"][0]["origin"], "named");
            let pairs = begins(&marked).into_iter().zip(found);
            for ((begin, _), (first, _)) in pairs {
                // The device may begin after the range on the host has ended.
                assert!(begin <= first, "{begin} {first}");
            }
        }
    }
}

#[test]
fn a_pattern_without_matches_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = recorded(&folder, "transformer");
    let steps = |by: &str| {
        let mut command = tool();
        command.args(["steps", "--by", by]).arg(&path);
        run(&mut command)
    };
    let outcome = steps("epoch *").expect(2);
    assert!(outcome.err().contains("no range or mark matches epoch *"));
    let outcome = steps("STEP ?").expect(0);
    assert!(outcome.out().starts_with("10 steps of thread "));
}

#[test]
fn a_critical_path_has_no_gaps_and_follows_steps() {
    let folder = tempfile::tempdir().unwrap();
    let path = recorded(&folder, "transformer");
    let check = |words: &[&str]| {
        let document = document(words, &path);
        let (begin, end) = (&document["begin_ns"], &document["end_ns"]);
        let (begin, end) = (begin.as_i64().unwrap(), end.as_i64().unwrap());
        let kinds = document["kinds"].as_array().unwrap().iter();
        let total: i64 = kinds.filter_map(|it| it["total_ns"].as_i64()).sum();
        assert_eq!(total, end - begin, "{words:?}");
        let kinds = document["kinds"].as_array().unwrap().iter();
        let count: u64 = kinds.filter_map(|it| it["count"].as_u64()).sum();
        let pieces = document["segments"].as_array().unwrap();
        // On a busy machine the path may have more pieces than are listed. The shortest are left out then.
        let left_out = count - pieces.len() as u64;
        assert!(left_out == 0 || pieces.len() == 10_000, "{left_out}");
        let (mut reached, mut gaps) = (begin, 0);
        for piece in pieces {
            let from = piece["begin_ns"].as_i64().unwrap();
            assert!(from >= reached, "{piece} {reached}");
            gaps += u64::from(from > reached);
            reached = piece["end_ns"].as_i64().unwrap();
        }
        assert!(reached <= end, "{words:?}");
        gaps += u64::from(reached < end);
        assert!(
            gaps <= left_out,
            "{words:?}: {gaps} gaps, {left_out} pieces"
        );
        (begin, end)
    };
    let whole = check(&["critical"]);
    let steps = begins(&document(&["steps"], &path));
    assert_eq!(check(&["critical", "--step", "step 7"]), steps[7]);
    let part = check(&["critical", "--range", "10ms..20ms"]);
    assert_eq!(part, (whole.0 + 10_000_000, whole.0 + 20_000_000));
    let mut command = tool();
    command.args(["critical", "--step", "step x"]).arg(&path);
    let refused = run(&mut command).expect(2);
    assert!(refused.err().contains("no step is called step x"));
}

#[test]
fn chrome_files_have_a_track_of_the_critical_path_on_demand() {
    let folder = tempfile::tempdir().unwrap();
    let path = recorded(&folder, "overlap");
    let found = document(&["critical"], &path);
    let export = |format: &str, out: &str| {
        let mut command = tool();
        command.args(["export", "--critical", "--format", format, "-o"]);
        command.arg(folder.path().join(out)).arg(&path);
        run(&mut command)
    };
    export("chrome", "t.json").expect(0);
    let text = std::fs::read_to_string(folder.path().join("t.json")).unwrap();
    let chrome: Value = serde_json::from_str(&text).unwrap();
    let events = chrome["traceEvents"].as_array().unwrap();
    let pieces = || events.iter().filter(|it| it["cat"] == "critical");
    let segments = found["segments"].as_array().unwrap();
    assert_eq!(pieces().count(), segments.len());
    let total: f64 = pieces().filter_map(|it| it["dur"].as_f64()).sum();
    let length = found["end_ns"].as_i64().unwrap() - found["begin_ns"].as_i64().unwrap();
    assert!(
        (total * 1000.0 - length as f64).abs() < 1.0,
        "{total} {length}"
    );
    let refused = export("kineto", "t-kineto").expect(2);
    assert!(refused.err().contains("--critical is for"));
}

/// A table of a CSV export: its rows, each as its cells.
fn table(folder: &Path, name: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    let mut lines = text
        .lines()
        .map(|line| line.split(',').map(str::to_owned).collect());
    (lines.next().unwrap(), lines.collect())
}

fn column(table: &(Vec<String>, Vec<Vec<String>>), name: &str) -> Vec<String> {
    let place = table.0.iter().position(|it| it == name);
    let place = place.unwrap_or_else(|| panic!("no {name} in {:?}", table.0));
    table.1.iter().map(|row| row[place].clone()).collect()
}

#[test]
fn tables_have_the_critical_path_and_the_steps_that_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = recorded(&folder, "pipeline");
    let export = |words: &[&str], out: &str| {
        let mut command = tool();
        command.args(["export", "--format", "csv"]).args(words);
        command.arg("-o").arg(folder.path().join(out)).arg(&path);
        run(&mut command)
    };
    export(&["--critical", "--steps"], "all").expect(0);
    let critical = table(&folder.path().join("all"), "critical.csv");
    let found = document(&["critical"], &path);
    let segments = found["segments"].as_array().unwrap();
    let expected: Vec<String> = segments
        .iter()
        .map(|it| it["begin_ns"].to_string())
        .collect();
    assert_eq!(column(&critical, "begin_ns"), expected);
    let kinds: Vec<_> = segments
        .iter()
        .filter_map(|it| it["kind"].as_str())
        .collect();
    assert_eq!(column(&critical, "kind"), kinds);
    let ties = column(&critical, "tie");
    let ties = ties.iter().filter(|it| *it == "1").count();
    assert_eq!(Some(ties as u64), found["ties"].as_u64());
    // The program does not name its steps.
    let report = document(&["steps"], &path);
    let rows = report["steps"].as_array().unwrap();
    let names: Vec<_> = rows.iter().filter_map(|it| it["name"].as_str()).collect();
    let steps = table(&folder.path().join("all"), "steps.csv");
    assert_eq!(column(&steps, "name"), names);
    let of = |field: &str| -> Vec<String> { rows.iter().map(|it| it[field].to_string()).collect() };
    for field in ["begin_ns", "length_ns", "compute_ns", "idle_ns", "tasks"] {
        assert_eq!(column(&steps, field), of(field), "{field}");
    }
    let spans = begins(&report);
    let starts = column(&critical, "begin_ns");
    for (step, begin) in column(&critical, "step").iter().zip(starts) {
        let begin: i64 = begin.parse().unwrap();
        let place = spans.iter().position(|it| (it.0..it.1).contains(&begin));
        assert_eq!(step, place.map_or("", |it| names[it]), "{begin}");
    }
    // Without the options, tables are as they were.
    export(&[], "plain").expect(0);
    let plain = folder.path().join("plain");
    assert!(table(&plain, "critical.csv").1.is_empty());
    assert!(table(&plain, "steps.csv").1.is_empty());
    let refused = export(&["--steps-by", "epoch *"], "none").expect(2);
    assert!(refused.err().contains("no range or mark matches epoch *"));
    let mut command = tool();
    command
        .args(["export", "--steps", "--format", "chrome"])
        .arg(&path);
    let refused = run(&mut command).expect(2);
    assert!(
        refused
            .err()
            .contains("--steps is for --format csv, parquet, sqlite and ascend")
    );
}

#[test]
fn tables_have_the_steps_of_a_pattern() {
    let folder = tempfile::tempdir().unwrap();
    let path = recorded(&folder, "transformer");
    let out = folder.path().join("t-csv");
    let mut command = tool();
    command.args(["export", "--format", "csv", "--steps-by", "STEP ?", "-o"]);
    run(command.arg(&out).arg(&path)).expect(0);
    let names = column(&table(&out, "steps.csv"), "name");
    let expected: Vec<String> = (0..10).map(|it| format!("step {it}")).collect();
    assert_eq!(names, expected);
}

fn recorded_with(folder: &tempfile::TempDir, name: &str, options: &str) -> PathBuf {
    let path = folder.path().join(format!("{name}.atrace"));
    let mut command = tool();
    command.env("SOFTACL", options);
    command.args(["demo", "--no-tui", "transformer", "-o"]);
    run(command.arg(&path)).expect(0);
    path
}

fn diff(a: &PathBuf, b: &PathBuf, words: &[&str]) -> std::process::Command {
    let mut command = tool();
    command.arg("diff").args(words).args([a, b]);
    command
}

#[test]
fn changes_of_programs_are_found_and_conditions_fail() {
    let folder = tempfile::tempdir().unwrap();
    let before = recorded_with(&folder, "before", "");
    let slow = recorded_with(&folder, "slow", "launch_ns=600000");
    let found = run(&mut diff(&before, &slow, &["--json"])).expect(0).out();
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!(
        (&found["by_steps"], &found["changed"]),
        (&Value::Bool(true), &Value::Bool(true))
    );
    let rows = found["pairs"][0]["rows"].as_array().unwrap();
    let operations = rows.iter().filter(|it| it["kind"] == "operation");
    let kernels = operations.filter(|it| !it["name"].as_str().unwrap().contains("Mem"));
    let verdicts: Vec<_> = kernels.map(|it| (&it["name"], &it["verdict"])).collect();
    assert!(verdicts.len() > 3, "{verdicts:?}");
    assert!(verdicts.iter().all(|it| it.1 == "longer"), "{verdicts:?}");
    assert_eq!(rows[0]["kind"], "step");
    assert_eq!(rows[0]["verdict"], "longer", "{}", rows[0]);
    assert_eq!(found["pairs"][0]["edits"], Value::Array(Vec::new()));
    let outcome = run(&mut diff(&before, &slow, &["--fail-if", "step>-99%"])).expect(1);
    assert!(
        outcome.err().contains("step>-99%: step changed beyond"),
        "{outcome}"
    );
    run(&mut diff(
        &before,
        &slow,
        &["--fail-if", "step<-99%", "--fail-if", "aclnnMatmul<-1%"],
    ))
    .expect(0);
    for (condition, why) in [
        ("nothing>1%", "no operation has this name"),
        ("step", "a condition is step or the name of an operation"),
    ] {
        let outcome = run(&mut diff(&before, &slow, &["--fail-if", condition])).expect(2);
        assert!(outcome.err().contains(why), "{outcome}");
    }
}

#[test]
fn two_runs_of_a_program_have_the_same_operations() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (
        recorded_with(&folder, "one", ""),
        recorded_with(&folder, "other", ""),
    );
    let found = run(&mut diff(&one, &other, &["--json", "--all"]))
        .expect(0)
        .out();
    let found: Value = serde_json::from_str(&found).unwrap();
    let rows = found["pairs"][0]["rows"].as_array().unwrap();
    let operations = rows.iter().filter(|it| it["kind"] == "operation");
    for row in operations {
        assert_eq!(row["a"]["count"], row["b"]["count"], "{row}");
    }
    assert_eq!(found["pairs"][0]["edits"], Value::Array(Vec::new()));
    // A recording and itself.
    let text = run(&mut diff(&one, &one, &[])).expect(0).out();
    assert!(text.contains("no significant change"), "{text}");
}
