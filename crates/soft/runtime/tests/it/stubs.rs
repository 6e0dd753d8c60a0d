//! The functions without behaviour, and the table of all functions.
//!
//! `SOFTACL_UPDATE=1 cargo test -p softacl --test it` writes the table again; without it the test fails
//! when it is not current.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{compile, crate_dir, library_dir, programs_dir, scratch};

#[path = "../../build/stubs.rs"]
#[allow(dead_code, reason = "the build script's part")]
mod listed;

use listed::{Function, FunctionState, implemented, state};

/// Every function of the tables, by name.
fn functions() -> Vec<Function> {
    let all = listed::functions(crate_dir()).unwrap();
    assert!(
        all.len() > 1100,
        "the tables hold only {} functions",
        all.len()
    );
    all
}

/// The name of every function of the tables.
pub(crate) fn function_names() -> Vec<String> {
    functions()
        .into_iter()
        .map(|function| function.name)
        .collect()
}

/// Compares a file with its expected content, or writes it on request.
#[track_caller]
fn current(path: &Path, wanted: &str) {
    if std::env::var_os("SOFTACL_UPDATE").is_some() {
        std::fs::write(path, wanted).unwrap();
        return;
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    let update = "SOFTACL_UPDATE=1 cargo test -p softacl --test it";
    assert!(
        found == wanted,
        "{} is not current; run: {update}",
        path.display()
    );
}

const TABLE_BEGIN: &str = "<!-- functions: generated -->\n";
const TABLE_END: &str = "<!-- end -->\n";

#[test]
fn the_function_table_in_the_manual_is_current() {
    let (functions, implemented) = (functions(), implemented(crate_dir()).unwrap());
    let mut counts: BTreeMap<FunctionState, usize> = BTreeMap::new();
    let mut rows = String::new();
    for function in &functions {
        let state = state(function, &implemented);
        *counts.entry(state).or_default() += 1;
        writeln!(
            rows,
            "| {} | {} | {} |",
            function.name,
            state.word(),
            function.header
        )
        .unwrap();
    }
    let count = |state| counts.get(&state).copied().unwrap_or(0);
    let table = format!(
        "{TABLE_BEGIN}{} functions: {} real, {} accepted, {} unsupported.\n\n\
         | function | state | header |\n|---|---|---|\n{rows}{TABLE_END}",
        functions.len(),
        count(FunctionState::Real),
        count(FunctionState::Accepted),
        count(FunctionState::Unsupported),
    );
    let path = manual();
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(TABLE_BEGIN).unwrap();
    let (_, after) = rest.split_once(TABLE_END).unwrap();
    current(&path, &format!("{before}{table}{after}"));
}

pub(crate) fn manual() -> PathBuf {
    crate_dir().join("../../../docs/SOFTACL.md")
}

#[test]
fn the_library_exports_every_function_of_the_tables() {
    let names: Vec<String> = functions()
        .into_iter()
        .map(|function| function.name)
        .collect();
    let list = scratch("symbols").join("names");
    std::fs::write(&list, names.join("\n")).unwrap();
    let finder = compile(&programs_dir().join("tools/find_symbols.c"));
    let output = Command::new(&finder)
        .arg(library_dir().join("libascendcl.so"))
        .arg(&list)
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "missing:\n{report}");
    assert!(
        report.contains(&format!("{} found", names.len())),
        "{report}"
    );
}
