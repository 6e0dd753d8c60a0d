//! What was caught and what was not: gathered while records come in, told at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use ascend_trace_format::api::Function;
use ascend_trace_format::record::{Header, Lookup, MAX_STRING, Reader, RecordKind};
use ascend_trace_model::rows::{CoverageRow, ways};

use super::exports;
use super::found::Found;
use super::patching::Engine;

/// How a function was fetched by name, as far as it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fetched {
    /// The program got a wrapper.
    pub(crate) wrapped: bool,
    /// The libraries lacked it.
    pub(crate) absent: bool,
    /// The table does not have it.
    pub(crate) unknown: bool,
    pub(crate) untyped: bool,
}

/// What the records of all processes tell.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    pub(crate) fetched: BTreeMap<String, Fetched>,
    pub(crate) libraries: BTreeSet<PathBuf>,
    /// Calls of each function of the table.
    pub(crate) calls: Vec<u64>,
}

impl Coverage {
    /// Takes a record that is for the report only; `false` for any other.
    pub(crate) fn take(&mut self, words: &[u64]) -> bool {
        let Some(header) = words.first().and_then(|word| Header::decode(*word)) else {
            return false;
        };
        match header.kind {
            RecordKind::Lookup => self.lookup(header.aux, Reader::new(words)),
            RecordKind::Library => self.library(Reader::new(words)),
            _ => return false,
        }
        true
    }

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

    fn lookup(&mut self, code: u16, mut reader: Reader<'_>) {
        let lookup = u8::try_from(code).ok().and_then(Lookup::from_code);
        let (Some(lookup), Some(name)) = (lookup, text(&mut reader)) else {
            return;
        };
        let fetched = self.fetched.entry(name).or_default();
        match lookup {
            Lookup::Wrapped => fetched.wrapped = true,
            Lookup::Absent => fetched.absent = true,
            Lookup::Unknown => fetched.unknown = true,
            Lookup::Untyped => fetched.untyped = true,
        }
    }

    /// A path is longer than a text of a record: it comes in parts.
    fn library(&mut self, mut reader: Reader<'_>) {
        let parts = reader.word();
        let path: String = (0..parts.min(16))
            .filter_map(|_| text(&mut reader))
            .collect();
        if !path.is_empty() {
            self.libraries.insert(PathBuf::from(path));
        }
    }
}

impl Coverage {
    /// The report: every function of AscendCL that a library exports or the program asked for. Those
    /// that would have been seen, but that nobody wanted, are only counted.
    pub(crate) fn rows(
        &self,
        functions: &[Function],
        found: &Found,
        engine: &Engine,
    ) -> Vec<CoverageRow> {
        let mut rows = Vec::new();
        let mut left = self.fetched.clone();
        for library in &self.libraries {
            let path = library.display().to_string();
            let mut unused = [ways::LINKED, ways::LINKED | ways::PATCHED].map(|ways| CoverageRow {
                library: path.clone(),
                ways,
                ..CoverageRow::default()
            });
            for export in exports::of(library) {
                let known = position(functions, &export.name);
                if known.is_none() && !exports::is_acl(&export.name) {
                    continue;
                }
                left.remove(&export.name);
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
        for name in left.keys() {
            let known = position(functions, name);
            rows.push(self.row("", name, known, found, engine));
        }
        rows
    }

    fn row(
        &self,
        library: &str,
        name: &str,
        known: Option<usize>,
        found: &Found,
        engine: &Engine,
    ) -> CoverageRow {
        let numbers = found.named(name).map(usize::from).chain(known);
        let (is_patched, refused) = engine.of(library, name);
        let fetched = self.fetched.get(name).copied().unwrap_or_default();
        let bits = [
            (known.is_some() && !library.is_empty(), ways::LINKED),
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
            calls: numbers.filter_map(|id| self.calls.get(id)).sum(),
            functions: 1,
            refused,
        }
    }
}

/// The number of the function with this name.
fn position(functions: &[Function], name: &str) -> Option<usize> {
    functions
        .binary_search_by(|function| function.name.cmp(name))
        .ok()
}

/// The next text of a record.
pub(super) fn text(reader: &mut Reader<'_>) -> Option<String> {
    let mut bytes = [0; MAX_STRING];
    let text = reader.string(&mut bytes)?;
    Some(String::from_utf8_lossy(text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ascend_trace_format::record::{MAX_WORDS, Words};

    fn record(kind: RecordKind, aux: u16, fill: impl FnOnce(&mut Words<'_>)) -> [u64; MAX_WORDS] {
        let mut buffer = [0; MAX_WORDS];
        let mut words = Words::new(&mut buffer);
        fill(&mut words);
        words.finish(Header {
            kind,
            slots: 0,
            aux,
            depth: 0,
            flags: 0,
            device: None,
        });
        buffer
    }

    #[test]
    fn lookups_of_one_name_are_put_together() {
        let mut coverage = Coverage::default();
        for lookup in [Lookup::Wrapped, Lookup::Absent] {
            let words = record(RecordKind::Lookup, lookup as u16, |words| {
                words.push_string(b"aclrtMalloc");
            });
            assert!(coverage.take(&words));
        }
        let expected = Fetched {
            wrapped: true,
            absent: true,
            unknown: false,
            untyped: false,
        };
        assert_eq!(coverage.fetched["aclrtMalloc"], expected);
    }

    #[test]
    fn a_path_is_put_together_from_its_parts() {
        let mut coverage = Coverage::default();
        let words = record(RecordKind::Library, 0, |words| {
            words.push(2);
            words.push_string(b"/a/long/");
            words.push_string(b"libopapi.so");
        });
        assert!(coverage.take(&words));
        let paths: Vec<_> = coverage.libraries.iter().collect();
        assert_eq!(paths, [&PathBuf::from("/a/long/libopapi.so")]);
    }

    #[test]
    fn other_records_are_left_alone() {
        let words = record(RecordKind::Counter, 0, |words| words.push(1));
        assert!(!Coverage::default().take(&words));
        assert!(!Coverage::default().take(&[]));
    }
}
