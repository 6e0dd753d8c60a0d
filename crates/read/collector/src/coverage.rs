//! Which calls were intercepted, and how: collected during the recording, reported at its end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ascend_trace_format::api::Function;
use ascend_trace_format::record::{Lookup, kinds};
use ascend_trace_recording::rows::{CoverageRow, ways};

use super::decode::string;
use super::exports;
use super::patching::EngineReport;
use super::stub_functions::StubFunctions;

/// An export of the software runtime that no other library has. It identifies the runtime under any name of its file.
const SOFTWARE: &str = "softacl_runtime";

/// How a function was fetched by name, as far as it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LookupCounts {
    /// The program got a wrapper.
    pub(crate) wrapped: bool,
    /// The libraries lacked it.
    pub(crate) absent: bool,
    /// The table does not have it.
    pub(crate) unknown: bool,
    pub(crate) untyped: bool,
}

/// Facts from the records of all processes.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    pub(crate) fetched: BTreeMap<String, LookupCounts>,
    pub(crate) libraries: BTreeSet<PathBuf>,
    /// Calls of each function of the table.
    pub(crate) calls: Vec<u64>,
}

impl Coverage {
    /// Counts a call of a function of the table.
    pub(crate) fn count(&mut self, function: u16) {
        let index = usize::from(function);
        if self.calls.len() <= index {
            self.calls.resize(index + 1, 0);
        }
        if let Some(calls) = self.calls.get_mut(index) {
            *calls += 1;
        }
    }

    /// The program has fetched a function by name.
    pub(crate) fn look_up(&mut self, record: &kinds::Lookup<'_>) {
        let fetched = self.fetched.entry(string(record.name)).or_default();
        match record.outcome {
            Lookup::Wrapped => fetched.wrapped = true,
            Lookup::Absent => fetched.absent = true,
            Lookup::Unknown => fetched.unknown = true,
            Lookup::Untyped => fetched.untyped = true,
        }
    }

    /// A process has loaded a library. Returns its path if it is a new one.
    pub(crate) fn load(&mut self, record: &kinds::Library<'_>) -> Option<PathBuf> {
        let path: String = string(record.path);
        let path = PathBuf::from(path);
        let is_new = !record.path.is_empty() && self.libraries.insert(path.clone());
        is_new.then_some(path)
    }
}

impl Coverage {
    /// The report: every function of AscendCL that a library exports or the program asked for.
    /// Functions that the program does not use are only counted.
    pub(crate) fn rows(
        &self,
        functions: &[Function],
        found: &StubFunctions,
        engine: &EngineReport,
    ) -> Vec<CoverageRow> {
        let mut rows = Vec::new();
        let mut left = self.looked_up_or_called(functions);
        for library in &self.libraries {
            let path = library.display().to_string();
            let all_ways = [0, ways::LINKED, ways::LINKED | ways::PATCHED];
            let mut unused = all_ways.map(|ways| CoverageRow {
                library: path.clone(),
                ways,
                ..CoverageRow::default()
            });
            for export in exports::of(library) {
                if export.name == SOFTWARE {
                    rows.push(CoverageRow {
                        library: path.clone(),
                        ways: ways::SOFTWARE,
                        ..CoverageRow::default()
                    });
                    continue;
                }
                let known = position(functions, &export.name);
                if known.is_none() && !exports::is_acl(&export.name) {
                    continue;
                }
                left.remove(&*export.name);
                let row = self.row(&path, &export.name, known, found, engine);
                let is_unused = row.calls == 0 && row.refused.is_empty();
                match unused
                    .iter_mut()
                    .find(|it| is_unused && it.ways == row.ways)
                {
                    Some(unused) => unused.functions += 1,
                    None => rows.push(row),
                }
            }
            rows.extend(unused.into_iter().filter(|row| row.functions > 0));
        }
        for name in left {
            let known = position(functions, name);
            rows.push(self.row("", name, known, found, engine));
        }
        rows
    }

    /// Functions that the program looked up or called.
    fn looked_up_or_called<'a>(&'a self, functions: &'a [Function]) -> BTreeSet<&'a str> {
        let called = functions.iter().zip(&self.calls);
        let called = called.filter(|(_, calls)| **calls > 0);
        let called = called.map(|(function, _)| function.name);
        self.fetched
            .keys()
            .map(String::as_str)
            .chain(called)
            .collect()
    }

    fn row(
        &self,
        library: &str,
        name: &str,
        known: Option<usize>,
        found: &StubFunctions,
        engine: &EngineReport,
    ) -> CoverageRow {
        let numbers = found.named(name).map(usize::from).chain(known);
        let (is_patched, refused) = engine.of(library, name);
        let fetched = self.fetched.get(name).copied().unwrap_or_default();
        let calls = numbers.filter_map(|id| self.calls.get(id)).sum();
        let is_linked = !library.is_empty() || (calls > 0 && fetched == LookupCounts::default());
        let bits = [
            (known.is_some() && is_linked, ways::LINKED),
            (fetched.wrapped, ways::FETCHED),
            (fetched.absent, ways::ABSENT),
            (fetched.unknown, ways::UNSEEN),
            (fetched.untyped, ways::UNTYPED),
            (is_patched, ways::PATCHED),
        ];
        let set = bits.iter().filter(|(is_so, _)| *is_so);
        CoverageRow {
            library: library.to_owned(),
            function: name.to_owned(),
            ways: set.fold(0, |all, (_, bit)| all | bit),
            calls,
            functions: 1,
            refused,
        }
    }
}

/// Whether the library at `path` is the software runtime.
pub fn is_software(path: &Path) -> bool {
    exports::of(path).iter().any(|it| it.name == SOFTWARE)
}

/// The number of the function with this name.
fn position(functions: &[Function], name: &str) -> Option<usize> {
    functions
        .binary_search_by(|function| function.name.cmp(name))
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ascend_trace_format::record::Text;
    use ascend_trace_tables::FUNCTIONS;

    #[test]
    fn lookups_of_one_name_are_put_together() {
        let mut coverage = Coverage::default();
        for outcome in [Lookup::Wrapped, Lookup::Absent] {
            let name = Text::new(b"aclrtMalloc");
            coverage.look_up(&kinds::Lookup { outcome, name });
        }
        let expected = LookupCounts {
            wrapped: true,
            absent: true,
            unknown: false,
            untyped: false,
        };
        assert_eq!(coverage.fetched["aclrtMalloc"], expected);
    }

    /// Its library may have another name, or be gone: the tool does not know which one it was.
    #[test]
    fn called_functions_count_without_a_known_library() {
        let mut coverage = Coverage::default();
        let malloc = position(FUNCTIONS, "aclrtMalloc").unwrap();
        let free = position(FUNCTIONS, "aclrtFree").unwrap();
        coverage.count(u16::try_from(malloc).unwrap());
        coverage.count(u16::try_from(free).unwrap());
        let (outcome, name) = (Lookup::Wrapped, Text::new(b"aclrtFree"));
        coverage.look_up(&kinds::Lookup { outcome, name });
        let rows = coverage.rows(
            FUNCTIONS,
            &StubFunctions::default(),
            &EngineReport::default(),
        );
        let rows: Vec<_> = rows
            .iter()
            .map(|row| (&*row.library, &*row.function, row.ways, row.calls))
            .collect();
        let expected = [
            ("", "aclrtFree", ways::FETCHED, 1),
            ("", "aclrtMalloc", ways::LINKED, 1),
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    fn a_long_path_is_kept_whole() {
        let mut coverage = Coverage::default();
        let path = format!("/{}/libopapi.so", "long".repeat(100));
        coverage.load(&kinds::Library {
            path: Text::new(path.as_bytes()),
        });
        let paths: Vec<_> = coverage.libraries.iter().collect();
        assert_eq!(paths, [&PathBuf::from(path)]);
    }
}
