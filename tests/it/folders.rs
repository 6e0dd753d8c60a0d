//! Tables of `export --format ascend` of one process: memory of the program's allocators, and the states of operators.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::readers::msprof_analyze;
use crate::support::tables::{CsvRow, Table};
use crate::support::{Recording, Run, program, run, tool};

/// The folder of the only rank, and the one with its results.
fn exported(recording: &Recording) -> (PathBuf, PathBuf) {
    let folder = recording.beside("exported");
    let mut command = tool();
    command.args(["export", "--format", "ascend", "-o"]);
    run(command.arg(&folder).arg(recording.trace())).expect(0);
    let mut ranks = fs::read_dir(&folder).unwrap();
    let rank = ranks.next().expect("a rank").unwrap().path();
    assert!(ranks.next().is_none());
    let results = rank.join("ASCEND_PROFILER_OUTPUT");
    (rank, results)
}

fn table(results: &Path, name: &str) -> Table {
    CsvRow::all(&fs::read_to_string(results.join(name)).unwrap())
}

/// The bytes of a cell with megabytes.
fn bytes(row: &CsvRow, column: &str) -> u64 {
    let megabytes: f64 = row.text(column).parse().unwrap();
    (megabytes * f64::from(1 << 20)).round() as u64
}

const ALLOCATED: &str = "Total Allocated(MB)";
const RESERVED: &str = "Total Reserved(MB)";

/// The records of a component: allocated and reserved.
fn levels(records: &[CsvRow], component: &str) -> Vec<(u64, u64)> {
    let own = records
        .iter()
        .filter(|it| it.text("Component") == component);
    own.map(|it| (bytes(it, ALLOCATED), bytes(it, RESERVED)))
        .collect()
}

fn stats(recording: &Recording) -> Value {
    let mut command = tool();
    command.args(["stats", "--memory", "--json"]);
    let output = run(command.arg(recording.trace())).expect(0);
    serde_json::from_str(&output.out()).unwrap()
}

/// An allocator of `stats --memory` and its component.
#[track_caller]
fn check_pool(pool: &Value, records: &[CsvRow], component: &str) {
    let number = |key: &str| {
        pool[key]
            .as_u64()
            .unwrap_or_else(|| panic!("{key}: {pool}"))
    };
    let levels = levels(records, component);
    let most = levels.iter().map(|it| it.0).max();
    assert_eq!(most, Some(number("peak_allocated_bytes")), "{pool}");
    let peak = levels.iter().find(|it| Some(it.0) == most).unwrap();
    assert_eq!(peak.1, number("reserved_at_peak_bytes"), "{pool}");
    let reserved = levels.iter().map(|it| it.1).max();
    assert_eq!(reserved, Some(number("peak_reserved_bytes")), "{pool}");
    let end = (number("end_allocated_bytes"), number("end_reserved_bytes"));
    assert_eq!(levels.last(), Some(&end), "{pool}");
}

#[test]
fn memory_of_allocators_is_that_of_the_report() {
    let recording = Run::new(&program("caching"))
        .soft("memory=1073741824")
        .traced();
    let found = stats(&recording);
    let pools = found["pools"].as_array().unwrap();
    let [cached, workspace] = &pools[..] else {
        panic!("{pools:?}")
    };
    let (_, results) = exported(&recording);
    let records = table(&results, "memory_record.csv");
    check_pool(cached, &records, "PTA");
    check_pool(workspace, &records, "WORKSPACE");
    let all = records.iter().filter(|it| it.text("Component") == "APP");
    let most = all.map(|it| bytes(it, RESERVED)).max();
    let places = found["places"].as_array().unwrap();
    let device = places.iter().find(|it| it["place"] == "device 0").unwrap();
    assert_eq!(most, device["peak_bytes"].as_u64());
    check_allocations(&table(&results, "operator_memory.csv"), cached);
}

/// All rows are blocks: the memory that they are in has no rows.
fn check_allocations(rows: &[CsvRow], cached: &Value) {
    let size = |row: &CsvRow| {
        let kilobytes: f64 = row.text("Size(KB)").parse().unwrap();
        (kilobytes * 1024.0).round() as u64
    };
    let time = |row: &CsvRow, column: &str| row.text(column).parse::<f64>().ok();
    let place = "caching allocator of device 0";
    let (own, other): (Vec<_>, Vec<_>) = rows.iter().partition(|it| it.text("Name") == place);
    let names: Vec<&str> = other.iter().map(|it| it.text("Name")).collect();
    assert_eq!(names, ["other blocks of device 0"]);
    let begins = own.iter().filter_map(|it| time(it, "Allocation Time(us)"));
    let in_use = begins.map(|at| {
        let live = own.iter().filter(|it| {
            let begin = time(it, "Allocation Time(us)").unwrap();
            let end = time(it, "Release Time(us)").unwrap_or(f64::MAX);
            begin <= at && at < end
        });
        live.map(|it| size(it)).sum::<u64>()
    });
    assert_eq!(in_use.max(), cached["peak_allocated_bytes"].as_u64());
    for row in own {
        let after = bytes(row, "Allocation Total Allocated(MB)");
        assert!(after >= size(row), "{row:?}");
        assert!(bytes(row, "Allocation Total Reserved(MB)") >= after);
    }
}

/// A recording of calls of operators: a letter for each call or setting.
fn operators(letters: &str) -> (Recording, PathBuf, Table) {
    let recording = Run::new(&program("operator_states"))
        .words(&[letters])
        .options(&["--timing", "events"])
        .traced();
    assert_eq!(recording.outcome.status, 0, "{}", recording.outcome);
    let (folder, results) = exported(&recording);
    let kernels = table(&results, "kernel_details.csv");
    (recording, folder, kernels)
}

#[test]
fn states_of_operators_are_those_that_the_recording_knows() {
    let (_recording, _, kernels) = operators("rnjnbnjnr");
    let states = kernels.iter().map(|it| it.text("OP State"));
    let states: Vec<&str> = states.collect();
    let expected = ["dynamic", "N/A", "static", "N/A", "static", "dynamic"];
    assert_eq!(states, expected);
    let (_recording, _, kernels) = operators("nfnjndn");
    let states = kernels.iter().map(|it| it.text("OP State"));
    let states: Vec<&str> = states.collect();
    assert_eq!(states, ["N/A", "dynamic", "dynamic", "static"]);
}

/// Whether the advisor takes all operators for dynamic ones.
fn is_dynamic_for_advisor(command: &Path, folder: &Path, output: &Path) -> bool {
    let mut advisor = Command::new(command);
    advisor.args(["advisor", "all", "-l", "en", "--force", "-d"]);
    advisor.arg(folder).arg("-o").arg(output);
    let done = advisor.output().unwrap();
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    let text = text + &String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{text}");
    let words: Vec<&str> = text.split(|it: char| !it.is_ascii_alphabetic()).collect();
    let words: Vec<&str> = words.into_iter().filter(|it| !it.is_empty()).collect();
    let sentence = ["operators", "are", "dynamic", "shape"];
    words.windows(4).any(|it| it == sentence)
}

#[test]
fn the_advisor_finds_dynamic_operators_where_all_are_certainly_dynamic() {
    let Some((command, _)) = msprof_analyze() else {
        return;
    };
    let mut found = BTreeMap::new();
    for letters in ["rrr", "rnr", "jnr"] {
        let (recording, folder, _) = operators(letters);
        let output = recording.beside("advice");
        fs::create_dir(&output).unwrap();
        let is_dynamic = is_dynamic_for_advisor(&command, &folder, &output);
        found.insert(letters, is_dynamic);
    }
    let expected = BTreeMap::from([("rrr", true), ("rnr", false), ("jnr", false)]);
    assert_eq!(found, expected);
}
