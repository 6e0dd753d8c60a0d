//! The conformance cases: functions of C programs. Each runs in a separate process.

use std::fmt;
use std::path::{Path, PathBuf};

/// One behaviour: a function of a program (`CASE` in `cases.h`), or a program with a `main`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Case {
    pub(crate) source: PathBuf,
    /// The argument of the program; `None` for a program with a `main`.
    pub(crate) name: Option<String>,
    /// Options that the runtime needs: `SOFTACL: …` in the comment before it.
    pub(crate) options: String,
    /// The comment and the code, with the helpers before it.
    pub(crate) text: String,
}

impl Case {
    /// The arguments of its program.
    pub(crate) fn words(&self) -> Vec<&str> {
        self.name.iter().map(String::as_str).collect()
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.source.display(), self.words().join(" "))
    }
}

/// The cases of all C programs in a folder, sorted.
pub(crate) fn cases_in(folder: &Path) -> Vec<Case> {
    let entries = std::fs::read_dir(folder).unwrap();
    let sources = entries.map(|entry| entry.unwrap().path());
    let sources = sources.filter(|path| path.extension().is_some_and(|end| end == "c"));
    let mut cases: Vec<Case> = sources.flat_map(|source| cases_of(&source)).collect();
    cases.sort();
    cases
}

/// The cases of a program.
pub(crate) fn cases_of(source: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(source).unwrap();
    let case = |name: Option<&str>, text: &str, comment: usize| Case {
        source: source.to_owned(),
        name: name.map(str::to_owned),
        options: options(&text[comment..]),
        text: text.to_owned(),
    };
    let mut cases = Vec::new();
    let mut from = 0;
    for (at, _) in text.match_indices("CASE(") {
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let Some((name, _)) = text[at + "CASE(".len()..].split_once(')') else {
            continue;
        };
        let comment = text[from..line].rfind("\n/* ").unwrap_or(line - from);
        let end = text[at..].find("\n}\n").map_or(text.len(), |it| at + it);
        cases.push(case(Some(name), &text[from..end], comment));
        from = end;
    }
    if cases.is_empty() {
        cases.push(case(None, &text, 0));
    }
    cases
}

fn options(text: &str) -> String {
    let mut lines = text.trim_start().lines().take(4);
    let named = lines.find_map(|line| line.split_once("SOFTACL: "));
    named.map_or(String::new(), |(_, options)| {
        options.trim_end_matches("*/").trim().to_owned()
    })
}
