//! Intercepted calls of each library, and calls that were not intercepted.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use ascend_trace_recording::Trace;
use ascend_trace_recording::rows::{CoverageRow, ways};

/// One library of AscendCL that a process had loaded.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LibraryCoverage {
    /// Its path; `null` for functions that the program asked for and no library has, and for functions of a library
    /// that is not known.
    pub(crate) library: Option<String>,
    /// Functions of AscendCL that it exports.
    pub(crate) exported: u64,
    /// Those with intercepted calls.
    pub(crate) hooked: u64,
    /// Those that were called.
    pub(crate) called: u64,
    /// Those that the program fetched by name.
    pub(crate) fetched: u64,
    /// Without those that are hooked and were neither fetched nor called.
    pub(crate) functions: Vec<UncoveredFunction>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct UncoveredFunction {
    pub(crate) name: String,
    /// `linked` and `fetched`: calls are seen that come in this way; `absent`: the program asked
    /// for it in vain; `unseen`: the program got it without a wrapper; `untyped`: it is in no table,
    /// its calls are seen without their arguments.
    pub(crate) ways: Vec<&'static str>,
    /// Why an engine that patches functions did not patch it.
    pub(crate) refused: Option<String>,
    pub(crate) calls: u64,
}

const WORDS: [(u8, &str); 6] = [
    (ways::LINKED, "linked"),
    (ways::FETCHED, "fetched"),
    (ways::ABSENT, "absent"),
    (ways::UNSEEN, "unseen"),
    (ways::UNTYPED, "untyped"),
    (ways::PATCHED, "patched"),
];

/// The report of a trace, by library.
pub(super) fn of(trace: &Trace) -> Vec<LibraryCoverage> {
    let mut libraries: BTreeMap<&str, Vec<&CoverageRow>> = BTreeMap::new();
    for row in trace.coverage() {
        libraries.entry(&row.library).or_default().push(row);
    }
    libraries.into_iter().map(library).collect()
}

fn library((path, rows): (&str, Vec<&CoverageRow>)) -> LibraryCoverage {
    let is_there = !path.is_empty();
    let count = |holds: &dyn Fn(&CoverageRow) -> bool| {
        let counted = rows.iter().filter(|row| holds(row));
        counted.fold(0_u64, |sum, row| sum.saturating_add(row.functions))
    };
    LibraryCoverage {
        library: is_there.then(|| path.to_owned()),
        exported: if is_there { count(&|_| true) } else { 0 },
        hooked: count(&|row| row.ways & (ways::LINKED | ways::UNTYPED | ways::PATCHED) != 0),
        called: count(&|row| row.calls > 0),
        fetched: count(&|row| row.ways & (ways::FETCHED | ways::UNSEEN) != 0),
        functions: rows
            .iter()
            .filter(|row| !row.function.is_empty())
            .map(|row| function(row))
            .collect(),
    }
}

fn function(row: &CoverageRow) -> UncoveredFunction {
    let set = WORDS.iter().filter(|(bit, _)| row.ways & bit != 0);
    UncoveredFunction {
        name: row.function.clone(),
        ways: set.map(|(_, word)| *word).collect(),
        refused: Some(row.refused.clone()).filter(|reason| !reason.is_empty()),
        calls: row.calls,
    }
}

impl LibraryCoverage {
    /// Functions that are not patched, by reason.
    pub(crate) fn refused(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut reasons = BTreeMap::<&str, Vec<&str>>::new();
        for function in &self.functions {
            if let Some(reason) = &function.refused {
                reasons.entry(reason).or_default().push(&function.name);
            }
        }
        reasons
    }

    /// Functions that the program asked for by name and that no library has.
    pub(crate) fn absent(&self) -> impl Iterator<Item = &str> {
        let absent = self
            .functions
            .iter()
            .filter(|function| function.ways == ["absent"]);
        absent.map(|function| function.name.as_str())
    }

    /// Functions that the program fetched and calls without our seeing it.
    pub(crate) fn unseen(&self) -> impl Iterator<Item = &str> {
        let unseen = self
            .functions
            .iter()
            .filter(|function| function.ways.contains(&"unseen"));
        unseen.map(|function| function.name.as_str())
    }
}
