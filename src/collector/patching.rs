//! What an engine patched, and what it did not and why.

use std::collections::BTreeMap;
use std::path::Path;

use ascend_trace_format::engine::Outcome;
use ascend_trace_format::record::{Header, Reader, RecordKind};

use super::coverage::text;

/// Parts of what the loader said.
const MOST_PARTS: usize = 16;

/// One function in all processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Patching {
    was_patched: bool,
    refused: Option<Outcome>,
}

/// What the records of all processes tell.
#[derive(Debug, Default)]
pub(crate) struct Engine {
    /// By function and the library's file name.
    functions: BTreeMap<(String, String), Patching>,
    /// Why the engine could not be loaded.
    failure: Option<String>,
}

impl Engine {
    /// Takes a record that tells of an engine; `false` for any other.
    pub(crate) fn take(&mut self, words: &[u64]) -> bool {
        let Some(header) = words.first().and_then(|word| Header::decode(*word)) else {
            return false;
        };
        if header.kind != RecordKind::Patch {
            return false;
        }
        let mut reader = Reader::new(words);
        let first = text(&mut reader);
        match (Outcome::from_code(header.aux.into()), first) {
            (Some(Outcome::NoEngine), first) => {
                // Behind the last one come empty ones without end.
                let others = (0..MOST_PARTS).map_while(|_| text(&mut reader));
                let parts = first
                    .into_iter()
                    .chain(others.take_while(|it| !it.is_empty()));
                self.failure = Some(parts.collect());
            }
            (Some(outcome), Some(function)) => {
                let file = text(&mut reader).unwrap_or_default();
                self.functions
                    .entry((function, file))
                    .or_default()
                    .add(outcome);
            }
            _ => {}
        }
        true
    }

    /// Whether calls of a function of a library are caught wherever they come from; and else, or in
    /// another process, why not.
    pub(crate) fn of(&self, library: &str, function: &str) -> (bool, String) {
        if let Some(failure) = &self.failure {
            let reason = Outcome::NoEngine.reason();
            return (false, format!("{reason}: {failure}"));
        }
        let file = Path::new(library).file_name().unwrap_or_default();
        let key = (function.to_owned(), file.to_string_lossy().into_owned());
        let known = self.functions.get(&key).copied().unwrap_or_default();
        let reason = known.refused.map_or("", Outcome::reason);
        (known.was_patched, reason.to_owned())
    }

    /// One line for the end of the recording; none where there was no engine.
    pub(crate) fn summary(&self) -> Option<String> {
        if let Some(failure) = &self.failure {
            return Some(format!(
                "{}, calls were caught by name only: {failure}",
                Outcome::NoEngine.reason()
            ));
        }
        let patched = self.functions.values().filter(|it| it.was_patched).count();
        // The body of a public function is not one more function.
        let is_body = |it: &&Patching| it.refused == Some(Outcome::Twin) && !it.was_patched;
        let all = self.functions.values().filter(|it| !is_body(it)).count();
        (all > 0).then(|| {
            format!("the engine patched {patched} of {all} functions (`info` has the rest)")
        })
    }
}

impl Patching {
    fn add(&mut self, outcome: Outcome) {
        self.was_patched |= outcome.is_patched();
        if !outcome.is_patched() {
            self.refused = Some(outcome);
        } else if self.refused == Some(Outcome::ThreadsRunning) {
            // A later try succeeded.
            self.refused = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ascend_trace_format::record::{MAX_WORDS, Words};

    fn take(engine: &mut Engine, outcome: Outcome, texts: &[&str]) {
        let mut buffer = [0; MAX_WORDS];
        let mut words = Words::new(&mut buffer);
        texts
            .iter()
            .for_each(|text| words.push_string(text.as_bytes()));
        words.finish(Header {
            kind: RecordKind::Patch,
            slots: 0,
            aux: outcome as u16,
            depth: 0,
            flags: 0,
            device: None,
        });
        assert!(engine.take(&buffer));
    }

    #[test]
    fn a_function_is_told_by_its_library() {
        let mut engine = Engine::default();
        take(
            &mut engine,
            Outcome::Patched,
            &["aclrtMalloc", "libascendcl.so"],
        );
        take(
            &mut engine,
            Outcome::LoopHead,
            &["aclrtMalloc", "libacl_rt.so"],
        );
        assert_eq!(
            engine.of("/x/libascendcl.so", "aclrtMalloc"),
            (true, String::new())
        );
        let (patched, reason) = engine.of("/x/libacl_rt.so", "aclrtMalloc");
        assert!(!patched && reason == Outcome::LoopHead.reason());
        assert_eq!(
            engine.of("/x/libacl_rt.so", "aclrtFree"),
            (false, String::new())
        );
        let line = engine.summary().unwrap();
        assert!(line.contains("1 of 2"), "{line}");
    }

    #[test]
    fn bodies_behind_public_names_are_not_missing() {
        let mut engine = Engine::default();
        let (public, body) = ("aclrtMalloc", "aclrtMallocImpl");
        take(&mut engine, Outcome::PatchedAtTarget, &[public, "a.so"]);
        take(&mut engine, Outcome::Twin, &[body, "a.so"]);
        take(&mut engine, Outcome::TooSmall, &["aclrtFree", "a.so"]);
        let line = engine.summary().unwrap();
        assert!(line.contains("patched 1 of 2 functions"), "{line}");
    }

    #[test]
    fn a_later_try_takes_back_that_threads_were_running() {
        let mut engine = Engine::default();
        for outcome in [Outcome::ThreadsRunning, Outcome::Patched] {
            take(&mut engine, outcome, &["aclInit", "libascendcl.so"]);
        }
        assert_eq!(
            engine.of("libascendcl.so", "aclInit"),
            (true, String::new())
        );
    }

    #[test]
    fn a_missing_engine_is_every_functions_reason() {
        let mut engine = Engine::default();
        assert_eq!(engine.summary(), None);
        take(
            &mut engine,
            Outcome::NoEngine,
            &["/x/engine.so: ", "no such file"],
        );
        let (patched, reason) = engine.of("libascendcl.so", "aclInit");
        assert!(
            !patched && reason.ends_with("/x/engine.so: no such file"),
            "{reason}"
        );
        assert!(engine.summary().unwrap().contains("no such file"));
    }
}
