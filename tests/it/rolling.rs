//! Recordings that go on in further files.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::process::{Outcome, run};
use crate::support::run::Recording;
use crate::support::tables::{Tables, parse};
use crate::support::{Run, program, tool};

const STEPS: i64 = 170;

/// A program of more than three seconds, with a file for each second.
fn recorded(options: &[&str]) -> Recording {
    let mut all = vec!["--roll", "1s"];
    all.extend(options);
    let words = [&STEPS.to_string(), "20"];
    Run::new(&program("windows"))
        .words(&words)
        .options(&all)
        .compared()
}

/// The files in the folder of a recording, the first one first.
fn files(recording: &Recording) -> Vec<PathBuf> {
    let trace = recording.trace();
    let entries = std::fs::read_dir(trace.parent().unwrap()).unwrap();
    let paths = entries.map(|it| it.unwrap().path());
    let mut files: Vec<PathBuf> = paths
        .filter(|it| it.extension().is_some_and(|it| it == "atrace"))
        .collect();
    files.sort();
    files
}

fn command(words: &[&str], files: &[PathBuf]) -> Outcome {
    run(tool().args(words).args(files))
}

#[track_caller]
fn json(words: &[&str], files: &[PathBuf]) -> Value {
    let outcome = command(&[words, &["--json"]].concat(), files).expect(0);
    serde_json::from_str(&outcome.out()).unwrap()
}

/// The tables of all files together.
fn table(files: &[PathBuf], folder: &Path) -> Tables {
    let mut command = tool();
    command.arg("export").args(files);
    run(command.args(["--format", "csv", "-o"]).arg(folder)).expect(0);
    let table = |name: &str| parse(&std::fs::read_to_string(folder.join(name)).unwrap());
    Tables {
        calls: table("calls.csv"),
        tasks: table("tasks.csv"),
        dependencies: table("dependencies.csv"),
        stalls: table("stalls.csv"),
    }
}

/// The steps of the fills, each as often as there are fills.
fn steps(table: &Tables) -> Vec<i64> {
    let fills = table.tasks.iter();
    let fills = fills.filter(|it| it.text("kind") == "memset" && it.text("untimed") != "captured");
    let mut steps: Vec<i64> = fills.map(|it| it.number("bytes") / 64).collect();
    steps.sort_unstable();
    steps
}

#[test]
fn all_files_together_are_what_one_file_has() {
    let rolled = recorded(&[]);
    let files = files(&rolled);
    assert!(files.len() >= 3, "{files:?}");
    for (number, file) in (1..).zip(&files) {
        let name = file.file_name().unwrap().to_str().unwrap();
        assert_eq!(name, format!("t-{number:04}.atrace"));
    }
    let said = rolled.outcome.err();
    assert!(said.contains("t-0001.atrace to "), "{said}");
    assert!(said.contains("t-*.atrace"), "{said}");
    let words = [&STEPS.to_string(), "20"];
    let plain = Run::new(&program("windows")).words(&words).compared();
    let whole = json(&["info"], &[plain.trace()]);
    let set = json(&["info"], &files);
    assert_eq!(set["complete"], true);
    assert_eq!(set["exit_status"], 0);
    for (of, what) in [
        ("calls", "count"),
        ("calls", "nested"),
        ("tasks", "count"),
        ("graphs", "nodes"),
        ("lost", "calls"),
    ] {
        assert_eq!(set[of][what], whole[of][what], "{of} {what}");
    }
    for what in ["events", "ranges"] {
        assert_eq!(set[what], whole[what], "{what}");
    }
    for list in ["processes", "streams"] {
        let count = |it: &Value| it[list].as_array().map(Vec::len);
        assert_eq!(count(&set), count(&whole), "{list}");
    }
    let tables = table(&files, &rolled.beside("csv"));
    let twice = (1..=STEPS).flat_map(|step| [step, step]);
    assert_eq!(steps(&tables), twice.collect::<Vec<_>>());
    // Times that came with the next file belong to their tasks.
    let timed = tables
        .tasks
        .iter()
        .filter(|it| !it.text("begin_ns").is_empty());
    assert!(timed.count() as i64 >= 2 * STEPS, "{:?}", tables.untimed());
    for report in ["stats", "steps", "critical", "check"] {
        command(&[report], &files).expect(0);
    }
}

#[test]
fn each_file_has_a_part_and_what_it_depends_on() {
    let rolled = recorded(&[]);
    let files = files(&rolled);
    let mut all = Vec::new();
    for (at, file) in files.iter().enumerate() {
        let own = std::slice::from_ref(file);
        let info = json(&["info"], own);
        assert_eq!(info["session"]["part"]["number"], at + 1);
        assert_eq!(info["graphs"]["nodes"], 1, "it was captured before");
        let is_last = at + 1 == files.len();
        assert_eq!(info["exit_status"].is_null(), !is_last);
        let tables = table(own, &file.with_extension("csv"));
        for (name, times) in [("aclrtCreateStream", 2), ("aclrtMalloc", 1)] {
            assert_eq!(tables.count_calls(name), times, "{name}");
        }
        all.extend(steps(&tables));
    }
    let twice = (1..=STEPS).flat_map(|step| [step, step]);
    assert_eq!(all, twice.collect::<Vec<_>>(), "each is in one file");
}

#[test]
fn a_set_with_a_gap_is_refused_and_its_end_is_not() {
    let rolled = recorded(&[]);
    let mut files = files(&rolled);
    let refused = command(&["stats"], &[files[0].clone(), files[2].clone()]);
    assert_ne!(refused.status, 0);
    let gap = "there is a gap: part 2 of the recording is missing";
    assert!(refused.err().contains(gap), "{refused}");
    let twice = command(&["info"], &[files[0].clone(), files[0].clone()]);
    assert!(twice.err().contains("are the same part"), "{twice}");
    files.remove(0);
    files.reverse();
    let set = json(&["info"], &files);
    assert_eq!(set["complete"], true);
    let begun = set["session"]["kept"]["since_ns"].as_i64().unwrap();
    assert!(set["begin_ns"].as_i64().unwrap() >= begun);
    let text = command(&["info"], &files).expect(0).out();
    assert!(
        text.contains("begins with file 2 of the recording"),
        "{text}"
    );
    // Other recordings are not of it.
    let plain = Run::new(&program("windows")).words(&["3"]).compared();
    let mixed = command(&["stats"], &[files[0].clone(), plain.trace()]);
    assert!(mixed.err().contains("is no part of a recording"), "{mixed}");
}

#[test]
fn only_the_last_files_are_kept() {
    let rolled = recorded(&["--keep", "2"]);
    let files = files(&rolled);
    assert_eq!(files.len(), 2, "{files:?}");
    let set = json(&["info"], &files);
    assert_eq!(set["complete"], true);
    assert!(set["session"]["part"]["number"].as_i64() > Some(1));
    assert_eq!(set["graphs"]["nodes"], 1);
}

#[test]
fn options_that_do_not_fit_are_refused_before_the_program_starts() {
    for (options, why) in [
        (&["--roll", "1s", "--ring", "5s"][..], "cannot be used with"),
        (
            &["--roll", "10"],
            "is neither a time, such as 10m, nor a size",
        ),
        (&["--roll", "1K"], "a file has a size of 1M or more"),
        (&["--roll", "5ms"], "a file has a time of 1s or more"),
        (&["--roll", "1s", "--keep", "0"], "0 is not in 1..=10000"),
        (&["--keep", "3"], "--keep needs --ring or --roll"),
        (&["--roll", "1s", "-o", "-"], "--roll needs a trace file"),
    ] {
        let mut command = tool();
        command.arg("record").args(options);
        let outcome = run(command.args(["--", "/bin/echo", "began"]));
        assert_ne!(outcome.status, 0, "{outcome}");
        assert!(outcome.err().contains(why), "{outcome}");
        assert!(!outcome.out().contains("began"), "{outcome}");
    }
}

#[test]
fn a_pattern_in_quotes_is_one_recording() {
    let rolled = recorded(&[]);
    let files = files(&rolled);
    let set = [rolled.trace().with_file_name("t-*.atrace")];
    assert_eq!(json(&["stats"], &set), json(&["stats"], &files));

    let diff = |one: &PathBuf| json(&["diff"], &[one.clone(), set[0].clone()]);
    assert_eq!(diff(&set[0])["changed"], false);
    let shorter = diff(&files[0]);
    let steps = |side: &str| shorter[side][0]["steps"].as_u64();
    assert!(steps("a").is_some() && steps("a") < steps("b"), "{shorter}");

    let time = |files: &[PathBuf]| json(&["what-if"], files)["makespan_ns"].as_i64();
    assert!(time(&set) > time(&files[..1]) && time(&files[..1]).is_some());
    let refused = command(&["what-if"], &files).expect(2);
    assert!(
        refused.err().contains("by a pattern in quotes"),
        "{refused}"
    );

    // A build without an engine for queries refuses the query, not the pattern.
    let mut query = tool();
    query
        .arg("query")
        .arg(&set[0])
        .arg("select count(*) from tasks");
    let said = run(&mut query).err();
    assert!(!said.contains("cannot open"), "{said}");

    // Files with the same session are one recording, also without a pattern.
    assert!(json(&["why"], &files).get("recordings").is_none());
}

#[test]
fn a_dataset_has_the_files_of_a_recording_as_one() {
    let rolled = recorded(&[]);
    let files = files(&rolled);
    let folder = rolled.beside("dataset");
    let add = |files: &[PathBuf]| {
        let mut command = tool();
        run(command
            .args(["dataset", "add"])
            .args(files)
            .arg("--to")
            .arg(&folder))
    };
    let added = add(&files).expect(0);
    assert!(added.err().contains("1 added"), "{added}");
    let again = add(&files).expect(0);
    assert!(again.err().contains("already there"), "{again}");
    // Fewer files would take rows away.
    let fewer = add(&files[1..]).expect(2);
    let text = format!(
        "the dataset has the files 1 to {} of this recording",
        files.len()
    );
    assert!(fewer.err().contains(&text), "{fewer}");

    let manifests = std::fs::read_dir(folder.join("_manifest")).unwrap();
    let manifests: Vec<PathBuf> = manifests.map(|it| it.unwrap().path()).collect();
    let [manifest] = manifests.as_slice() else {
        panic!("{manifests:?}");
    };
    let manifest = std::fs::read_to_string(manifest).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["parts"], serde_json::json!([1, files.len()]));
    let tables = manifest["files"].as_array().unwrap();
    let tasks = tables.iter().filter(|it| it["table"] == "tasks");
    let tasks: u64 = tasks.map(|it| it["rows"].as_u64().unwrap()).sum();
    assert_eq!(
        tasks,
        table(&files, &rolled.beside("csv")).tasks.len() as u64
    );
}
