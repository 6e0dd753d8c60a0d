//! A call returned an error. A program that ignores the error computes with missing data. A recording does not
//! show whether the program looked at the code, so this is a warning.
//!
//! The finding has the reason where the code says little: the default stream cannot be captured. The usual codes have
//! separate advice.
//!
//! Some codes are results, and no findings. A wait reached the time limit of the call (507012, 507046, 507047). Or a query came
//! before the end of the work (507004, 507006). Or a thread waited for callbacks before the program subscribed it, or after that
//! (107012).
//!
//! The check `failed-capture` reports calls that a capture refused, and `used-after-end` reports calls that failed because
//! they used objects that had ended. `out-of-memory` reports allocations for which there was no memory.

use std::collections::{HashMap, HashSet};

use ascend_trace_format::api::{ArgPart, NOT_SUBSCRIBED, RetKind, Role, is_answer};
use ascend_trace_recording::{Call, CallId, ProcessId, ThreadId, Trace, is_capture_code};

use super::super::error_advice::advice;
use super::super::grouping::Groups;
use super::super::happens_before::OrderFact;
use super::super::{Check, Finding};
use crate::Window;
use crate::dependencies::took_effect;
use crate::memory::MemoryChange;

const ADVICE: &str = "check the return code of the call, and the calls before the first failure";

/// A thread, by the name that it has in its program.
type ThreadName = (ProcessId, u64);

/// The return code, and whether the call was meant to capture the default stream.
type Key = (i64, bool);

#[derive(Debug, Default)]
pub(super) struct FailedCall {
    groups: Groups<Key>,
    /// Calls that another check explains, unless calls are missing.
    explained: Groups<Key>,
    is_unsure: bool,
    /// Waits for callbacks of threads that were not subscribed.
    unsubscribed: Groups<Key>,
    /// Their threads.
    waiting: HashMap<ThreadId, ThreadName>,
    /// The threads that were subscribed at any time.
    subscribed: HashSet<ThreadName>,
    /// Those of the window, until it is known which of them have an explanation.
    failed: Vec<(CallId, i64)>,
    /// The names of codes that were seen.
    names: HashMap<i64, String>,
}

impl FailedCall {
    fn note_subscription(&mut self, trace: &Trace, call: &Call) {
        let function = trace.function(call.function);
        if function.role == Role::SubscribeReports && took_effect(trace, call) {
            let at = function.part(ArgPart::Subscriber);
            let handle = at.and_then(|at| trace.args(call).get(at)).copied();
            let process = trace.thread(call.thread).process;
            self.subscribed.extend(handle.map(|it| (process, it)));
        }
    }

    /// Whether a wait for callbacks was refused because its thread was not subscribed.
    fn is_unsubscribed(&mut self, trace: &Trace, id: CallId, code: i64) -> bool {
        let call = trace.call(id);
        let waits = trace.function(call.function).role == Role::ProcessReport;
        let found = waits && code == NOT_SUBSCRIBED;
        if found {
            let thread = trace.thread(call.thread);
            let name = (thread.process, thread.handle);
            self.waiting.insert(call.thread, name);
        }
        found
    }

    fn note_name(&mut self, trace: &Trace, code: i64) {
        if let Some(name) = trace.error_name(code) {
            self.names.entry(code).or_insert_with(|| name.to_owned());
        }
    }
}

impl Check for FailedCall {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        let trace = window.trace;
        for id in window.calls() {
            self.note_subscription(trace, trace.call(id));
        }
        for id in window.calls().filter(|id| wanted(*id)) {
            let call = trace.call(id);
            let has_code = trace.function(call.function).ret == RetKind::Error;
            let code = call.result().filter(|code| has_code && *code != 0);
            let is_failure = |code: &i64| {
                let change = MemoryChange::of(trace, id, true);
                let is_exhausted = change.is_some_and(|it| it.exhausted().is_some());
                !is_capture_code(*code) && !is_answer(*code) && !is_exhausted
            };
            if let Some(code) = code.filter(is_failure) {
                self.failed.push((id, code));
            }
        }
    }

    fn judge(&mut self, trace: &Trace, facts: &[OrderFact]) {
        self.is_unsure |= facts.iter().any(|it| matches!(it, OrderFact::Unknown(_)));
        let explained = facts.iter().filter_map(|it| match it {
            OrderFact::UsedAfterEnd(it) => Some(it.by.number),
            _ => None,
        });
        let explained: HashSet<u32> = explained.collect();
        for (id, code) in std::mem::take(&mut self.failed) {
            self.note_name(trace, code);
            let is_unsubscribed = self.is_unsubscribed(trace, id, code);
            let groups = match explained.contains(&trace.call_number(id)) {
                true => &mut self.explained,
                false if is_unsubscribed => &mut self.unsubscribed,
                false => &mut self.groups,
            };
            groups.add(trace, id, (code, captures_default(trace, id)), 0);
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        let names = std::mem::take(&mut self.names);
        let words = |found: &Finding, (code, captures_default): Key, _| {
            let name = names.get(&code).map_or("", String::as_str);
            let what = format!("{} returned {code} {name}", found.site.name);
            let what = what.trim_end();
            match captures_default {
                true => (
                    format!("{what}: the default stream cannot be captured"),
                    "capture another stream".to_owned(),
                ),
                false => (what.to_owned(), advice(code).unwrap_or(ADVICE).to_owned()),
            }
        };
        let explained = std::mem::take(&mut self.explained);
        let mut unsubscribed = std::mem::take(&mut self.unsubscribed);
        unsubscribed.drop_threads(|thread| {
            let name = self.waiting.get(&thread);
            name.is_some_and(|it| self.subscribed.contains(it))
        });
        let mut found = std::mem::take(&mut self.groups).into_findings(words);
        found.extend(unsubscribed.into_findings(words));
        if self.is_unsure {
            found.extend(explained.into_findings(words));
        }
        found
    }
}

/// Whether a call was to capture the default stream.
fn captures_default(trace: &Trace, id: CallId) -> bool {
    let call = trace.call(id);
    let function = trace.function(call.function);
    let handle = function.stream.map(usize::from);
    let handle = handle.and_then(|at| trace.args(call).get(at));
    let is_default = call.stream.is_some_and(|it| trace.stream(it).is_default);
    function.role == Role::CaptureBegin && (is_default || handle == Some(&0))
}
