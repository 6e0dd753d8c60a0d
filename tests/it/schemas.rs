//! The documents of `--json` follow the schemas of `schema`, and documents with a mistake do not.

mod validator;

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::hanging::Hanging;
use crate::support::{Run, program, run, tool};
use validator::Validator;

const JSON: &str = include_str!("../../docs/JSON.md");

/// Fields that an object may not have.
const OPTIONAL: [&str; 13] = [
    "call_site",
    "file",
    "line",
    "stack",
    "budget",
    "queue_depth",
    "boot_id",
    "kept",
    "part",
    "hosts",
    "host",
    "through",
    "notes",
];

/// Objects with any names of fields.
const MAPS: [&str; 3] = ["functions", "kinds", "untimed"];

fn schema(name: &str) -> Value {
    let outcome = run(tool().args(["schema", name])).expect(0);
    serde_json::from_str(&outcome.out()).unwrap()
}

/// The document that a command prints.
fn document(words: &[&str], files: &[&Path]) -> Value {
    let mut command = tool();
    command.args(words).arg("--json").args(files);
    serde_json::from_str(&run(&mut command).out()).unwrap()
}

/// The schema of the document's name accepts it.
#[track_caller]
pub(crate) fn follows_its_schema(document: &Value) {
    let name = document["schema"].as_str().expect("it names its schema");
    let schema = schema(name.strip_prefix("ascend-trace/").unwrap());
    let mistake = Validator::new(&schema).mistake(document);
    assert_eq!(mistake, None, "{name}: {document:#}");
}

/// The documents of all commands that report on one recording.
const REPORTS: [&[&str]; 11] = [
    &["info"],
    &["stats"],
    &["stats", "--communication"],
    &["stats", "--memory"],
    &["steps"],
    &["requests"],
    &["critical"],
    &["what-if"],
    &["what-if", "--syncs"],
    &["check"],
    &["why"],
];

#[track_caller]
fn reports_follow(file: &Path) {
    for words in REPORTS {
        follows_its_schema(&document(words, &[file]));
    }
    follows_its_schema(&document(&["diff"], &[file, file]));
}

fn training() -> crate::support::Recording {
    let run = Run::new(&program("training")).words(&["6", "65536", "4"]);
    run.options(&["--stacks"]).traced()
}

#[test]
fn documents_of_a_training_loop_follow_their_schemas() {
    let recording = training();
    let file = recording.trace();
    let steps = document(&["steps"], &[&file]);
    assert!(
        !steps["comparisons"][0]["more"]
            .as_array()
            .unwrap()
            .is_empty(),
        "{steps:#}"
    );
    reports_follow(&file);
    let failed = ["diff", "--fail-if", "step>-1%"];
    follows_its_schema(&document(&failed, &[&file, &file]));
    follows_its_schema(&document(&["why"], &[&file, &file]));
}

#[test]
fn documents_of_ranks_memory_graphs_and_the_hardware_log_follow_their_schemas() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root").display().to_string();
    let ranks = Run::new(&program("ranks")).words(&["all", &root, "20", "1", "2"]);
    let ranks = ranks.options(&["--timing", "events"]).traced();
    let links = document(&["stats", "--communication"], &[&ranks.trace()]);
    assert!(
        !links["collectives"].as_array().unwrap().is_empty(),
        "{links:#}"
    );
    let memory = Run::new(&program("memory")).soft("memory=1073741824");
    let memory = memory.options(&["--stacks"]).traced();
    let held = document(&["stats", "--memory"], &[&memory.trace()]);
    assert!(!held["refused"].as_array().unwrap().is_empty(), "{held:#}");
    let graphs = Run::new(&program("graphs")).soft("mspti_kernels=2");
    let graphs = graphs.options(&["--timing", "both"]).traced();
    let found = document(&["stats"], &[&graphs.trace()]);
    assert!(!found["graphs"].as_array().unwrap().is_empty(), "{found:#}");
    for recording in [&ranks, &memory, &graphs] {
        reports_follow(&recording.trace());
    }
}

#[test]
fn documents_of_a_program_that_hangs_follow_their_schemas() {
    let mut hanging = Hanging::with("event", &["--stacks"]);
    let report = hanging.reported("hangs", "unrecorded");
    assert!(!report["culprits"].as_array().unwrap().is_empty());
    follows_its_schema(&report);
    for words in REPORTS {
        follows_its_schema(&document(words, &[&hanging.file()]));
    }
    let recorder = hanging.recorder().as_raw_nonzero().to_string();
    follows_its_schema(&document(&["ctl", &recorder, "status"], &[]));
    hanging.kill_program();
}

#[test]
fn functions_follow_their_schema() {
    follows_its_schema(&document(&["hooks"], &[]));
}

/// A copy of a value with one element of each list.
fn shortened(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().take(1).map(shortened).collect(),
        Value::Object(fields) => {
            let fields = fields.iter();
            Value::Object(
                fields
                    .map(|(name, it)| (name.clone(), shortened(it)))
                    .collect(),
            )
        }
        value => value.clone(),
    }
}

/// The places of all values inside a document.
fn places(value: &Value, place: &str, to: &mut Vec<String>) {
    let inner: Vec<(String, &Value)> = match value {
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(at, it)| (at.to_string(), it))
            .collect(),
        Value::Object(fields) => fields.iter().map(|(name, it)| (name.clone(), it)).collect(),
        _ => Vec::new(),
    };
    for (name, inner) in inner {
        let place = format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"));
        places(inner, &place, to);
        to.push(place);
    }
}

/// A value of another type.
fn of_another_type(value: &Value) -> Value {
    match value {
        Value::String(_) => json!(1),
        Value::Null => json!({}),
        _ => json!("no such value"),
    }
}

/// Changes each place of a document in each way. The schema refuses all of the results.
#[track_caller]
fn mistakes_are_refused(document: &Value) {
    let name = document["schema"].as_str().unwrap();
    let schema = schema(name.strip_prefix("ascend-trace/").unwrap());
    let validator = Validator::new(&schema);
    let document = shortened(document);
    let mut all = Vec::new();
    places(&document, "", &mut all);
    let refused = |changed: &Value, what: &str| {
        assert!(
            validator.mistake(changed).is_some(),
            "{name}: {what} was accepted"
        );
    };
    for place in &all {
        let (outer, field) = place.rsplit_once('/').unwrap();
        let mut changed = document.clone();
        let value = changed.pointer_mut(place).unwrap();
        *value = of_another_type(value);
        refused(&changed, &format!("another type of {place}"));

        let mut changed = document.clone();
        let is_needed =
            !MAPS.contains(&outer.rsplit('/').next().unwrap()) && !OPTIONAL.contains(&field);
        if let (Some(fields), true) = (
            changed.pointer_mut(outer).unwrap().as_object_mut(),
            is_needed,
        ) {
            fields.remove(field);
            refused(&changed, &format!("a document without {place}"));
        }
        let mut changed = document.clone();
        let inner = changed.pointer_mut(place).unwrap();
        if let (Some(fields), false) = (inner.as_object_mut(), MAPS.contains(&field)) {
            fields.insert("no_such_field".to_owned(), json!(1));
            refused(&changed, &format!("an unknown field in {place}"));
        }
    }
    let mut changed = document.clone();
    changed["no_such_field"] = json!(1);
    refused(&changed, "an unknown field");
}

#[test]
fn a_wrong_type_a_missing_field_and_an_unknown_one_are_refused() {
    let recording = training();
    let file = recording.trace();
    for words in [
        &["info"][..],
        &["stats"],
        &["steps"],
        &["critical"],
        &["what-if"],
        &["check"],
    ] {
        mistakes_are_refused(&document(words, &[&file]));
    }
    mistakes_are_refused(&document(&["diff"], &[&file, &file]));
    mistakes_are_refused(&document(&["hooks"], &[]));
}

#[test]
fn every_documented_document_has_a_schema_with_its_dialect_and_name() {
    let listed = run(tool().arg("schema")).expect(0).out();
    let listed: BTreeSet<&str> = listed
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let headings = JSON
        .lines()
        .filter_map(|line| line.strip_prefix("## ascend-trace/"));
    assert_eq!(listed, headings.collect());
    for name in listed {
        let schema = schema(name);
        assert_eq!(
            schema["$schema"],
            "https://json-schema.org/draft/2020-12/schema"
        );
        assert_eq!(schema["title"], format!("ascend-trace/{name}"));
        // A document of another name is refused.
        let other = json!({ "schema": "ascend-trace/other", "version": 2 });
        assert!(Validator::new(&schema).mistake(&other).is_some(), "{name}");
    }
}

#[test]
fn fields_of_tables_have_meaning_title_and_unit() {
    let schema = schema("stats");
    let operation = &schema["$defs"]["OperationStats"]["properties"];
    let mean = &operation["time"]["properties"]["mean_ns"];
    assert_eq!(mean["type"], json!(["integer", "null"]));
    assert_eq!(
        (&mean["title"], &mean["x-unit"]),
        (&json!("mean"), &json!("ns"))
    );
    assert_eq!(mean["description"], "the estimate for one task, or `null`");
    assert_eq!(operation["count"]["type"], "integer");
}
