//! Functions that an engine patched, and the reasons for the others.

use std::collections::BTreeMap;
use std::path::Path;

use ascend_trace_format::engine::PatchOutcome;
use ascend_trace_format::record::kinds;

use super::decode::string;

/// One function in all processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PatchedFunction {
    was_patched: bool,
    refused: Option<PatchOutcome>,
}

/// Facts from the records of all processes.
#[derive(Debug, Default)]
pub(crate) struct EngineReport {
    /// By function and the library's file name.
    functions: BTreeMap<(String, String), PatchedFunction>,
    /// Why the engine could not be loaded.
    failure: Option<String>,
}

impl EngineReport {
    /// Takes the result of patching a function.
    pub(crate) fn patch(&mut self, record: &kinds::Patch<'_>) {
        let key = (string(record.function), string(record.file));
        self.functions.entry(key).or_default().add(record.outcome);
    }

    /// There is no engine.
    pub(crate) fn fail(&mut self, record: &kinds::EngineFailure<'_>) {
        self.failure = Some(string(record.reason));
    }

    /// Whether all calls of a library's function are intercepted; else, or in another process, the
    /// reason.
    pub(crate) fn of(&self, library: &str, function: &str) -> (bool, String) {
        if let Some(failure) = &self.failure {
            let reason = PatchOutcome::NoEngine.reason();
            return (false, format!("{reason}: {failure}"));
        }
        let file = Path::new(library).file_name().unwrap_or_default();
        let key = (function.to_owned(), file.to_string_lossy().into_owned());
        let known = self.functions.get(&key).copied().unwrap_or_default();
        let reason = known.refused.map_or("", PatchOutcome::reason);
        (known.was_patched, reason.to_owned())
    }

    /// One line for the end of the recording; none where there was no engine.
    pub(crate) fn summary(&self) -> Option<String> {
        if let Some(failure) = &self.failure {
            return Some(format!(
                "{}; calls were intercepted by name only: {failure}",
                PatchOutcome::NoEngine.reason()
            ));
        }
        let patched = self.functions.values().filter(|it| it.was_patched).count();
        // The body of a public function is not one more function.
        let is_body =
            |it: &&PatchedFunction| it.refused == Some(PatchOutcome::Twin) && !it.was_patched;
        let all = self.functions.values().filter(|it| !is_body(it)).count();
        (all > 0).then(|| {
            format!("the engine patched {patched} of {all} functions (`info` has the rest)")
        })
    }
}

impl PatchedFunction {
    fn add(&mut self, outcome: PatchOutcome) {
        self.was_patched |= outcome.is_patched();
        if !outcome.is_patched() {
            self.refused = Some(outcome);
        } else if self.refused == Some(PatchOutcome::ThreadsRunning) {
            // A later try succeeded.
            self.refused = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ascend_trace_format::record::Text;

    fn take(engine: &mut EngineReport, outcome: PatchOutcome, [function, file]: [&str; 2]) {
        engine.patch(&kinds::Patch {
            outcome,
            function: Text::new(function.as_bytes()),
            file: Text::new(file.as_bytes()),
        });
    }

    #[test]
    fn functions_of_one_name_are_distinguished_by_their_library() {
        let mut engine = EngineReport::default();
        take(
            &mut engine,
            PatchOutcome::Patched,
            ["aclrtMalloc", "libascendcl.so"],
        );
        take(
            &mut engine,
            PatchOutcome::LoopHead,
            ["aclrtMalloc", "libacl_rt.so"],
        );
        assert_eq!(
            engine.of("/x/libascendcl.so", "aclrtMalloc"),
            (true, String::new())
        );
        let (patched, reason) = engine.of("/x/libacl_rt.so", "aclrtMalloc");
        assert!(!patched && reason == PatchOutcome::LoopHead.reason());
        assert_eq!(
            engine.of("/x/libacl_rt.so", "aclrtFree"),
            (false, String::new())
        );
        let line = engine.summary().unwrap();
        assert!(line.contains("1 of 2"), "{line}");
    }

    #[test]
    fn bodies_behind_public_names_are_not_missing() {
        let mut engine = EngineReport::default();
        let (public, body) = ("aclrtMalloc", "aclrtMallocImpl");
        take(&mut engine, PatchOutcome::PatchedAtTarget, [public, "a.so"]);
        take(&mut engine, PatchOutcome::Twin, [body, "a.so"]);
        take(&mut engine, PatchOutcome::TooSmall, ["aclrtFree", "a.so"]);
        let line = engine.summary().unwrap();
        assert!(line.contains("patched 1 of 2 functions"), "{line}");
    }

    #[test]
    fn a_later_try_takes_back_that_threads_were_running() {
        let mut engine = EngineReport::default();
        for outcome in [PatchOutcome::ThreadsRunning, PatchOutcome::Patched] {
            take(&mut engine, outcome, ["aclInit", "libascendcl.so"]);
        }
        assert_eq!(
            engine.of("libascendcl.so", "aclInit"),
            (true, String::new())
        );
    }

    #[test]
    fn a_missing_engine_is_every_functions_reason() {
        let mut engine = EngineReport::default();
        assert_eq!(engine.summary(), None);
        engine.fail(&kinds::EngineFailure {
            reason: Text::new(b"/x/engine.so: no such file"),
        });
        let (patched, reason) = engine.of("libascendcl.so", "aclInit");
        assert!(
            !patched && reason.ends_with("/x/engine.so: no such file"),
            "{reason}"
        );
        assert!(engine.summary().unwrap().contains("no such file"));
    }
}
