//! Names that clients want (`tests/clients`, by `scripts/wanted.py --list`), and how many of them this project has: the table in
//! docs/CLIENTS.md, by `scripts/wanted.py --rows`. No number of missing functions in it may rise.

use std::process::Command;

use crate::support::{crate_dir, library_dir};

const BEGIN: &str = "<!-- wanted: generated -->\n";
const END: &str = "<!-- end -->\n";

/// Columns with numbers of missing functions: stub, unknown, refuses, lacks.
const MISSING: [usize; 4] = [4, 5, 7, 8];
/// The columns that need no library of the software runtime.
const OF_TABLES: usize = 6;

#[test]
fn functions_that_clients_want_and_miss_become_fewer() {
    let Some(found) = counted() else {
        println!("skipped: no python3");
        return;
    };
    assert!(found.len() > 20, "{found:?}");
    let text = std::fs::read_to_string(crate_dir().join("../../../docs/CLIENTS.md")).unwrap();
    let (_, rest) = text.split_once(BEGIN).unwrap();
    let (table, _) = rest.split_once(END).unwrap();
    let recorded = rows(table.lines().skip(2));
    assert_eq!(recorded.len(), found.len(), "a client is missing");
    for (old, new) in recorded.iter().zip(&found) {
        // Operators are in another library, which these tests do not have.
        let has_operators = ["aclnn", "all"].contains(&new[1].as_str());
        let columns = if has_operators { OF_TABLES } else { new.len() };
        for column in MISSING.into_iter().filter(|it| *it < columns) {
            assert!(
                number(new, column) <= number(old, column),
                "more functions are missing: {new:?}, before {old:?}"
            );
        }
        assert_eq!(
            old[..columns],
            new[..columns],
            "the table is not current (docs/CLIENTS.md says how to write it)"
        );
    }
}

fn number(row: &[String], column: usize) -> usize {
    row[column].parse().unwrap()
}

fn rows<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Vec<String>> {
    let cells = |line: &str| {
        let cells = line.trim_matches(['|', ' ']).split('|');
        cells.map(|cell| cell.trim().to_owned()).collect()
    };
    lines.map(cells).collect()
}

/// The rows of the script for all lists; `None` without Python.
fn counted() -> Option<Vec<Vec<String>>> {
    let root = crate_dir().join("../../..");
    let mut lists: Vec<_> = std::fs::read_dir(root.join("tests/clients"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    lists.sort();
    let mut script = Command::new("python3");
    script
        .arg("-B")
        .arg(root.join("scripts/wanted.py"))
        .args(["--rows", "--softacl"])
        .arg(library_dir());
    let output = script.args(lists).output().ok()?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    Some(rows(String::from_utf8(output.stdout).unwrap().lines()))
}
