//! A call asked for memory, and there was not enough. The finding has the memory that the process had in use in this place
//! then, and the places in the program that held most of it. `stats --memory` has the same numbers, with the growth in the
//! step.
//!
//! Free memory that is no longer needed, or use smaller batches. The free ranges between the addresses in use may be large enough
//! together, and each of them too small. Then the memory is fragmented: use one large allocation, or a pool.
//!
//! With `--pools`, the finding also has the memory that allocators of the process, such as PyTorch's, had reserved and not given out.
//!
//! Other processes and the runtime use memory of the device, too, and the recording does not show it. Frameworks such as
//! PyTorch free memory of their cache after such an error, and try again.

use std::collections::HashMap;

use ascend_trace_recording::units::bytes;
use ascend_trace_recording::{CallId, FunctionId, ProcessId, ThreadId, Trace};

use super::super::error_advice::advice;
use super::super::happens_before::{NotedCall, OrderFact};
use super::super::{Check, Finding};
use crate::Window;
use crate::memory::{
    HeldMemory, MemoryChange, MemoryChangeKind, MemoryChanges, MemoryPlace, MemoryUsageFold,
    RefusedAllocation,
};

/// Different findings; others are left out.
const MOST: usize = 4096;
/// Holders of memory that a finding names.
const NAMED: usize = 3;

/// Calls of one function at one place of a thread, and the place of the memory.
type Key = (ProcessId, ThreadId, FunctionId, Option<String>, MemoryPlace);

/// A finding, and its text without the memory in use.
#[derive(Clone, Debug)]
struct Exhausted {
    key: Key,
    finding: Finding,
    plain: String,
    is_wanted: bool,
}

#[derive(Debug, Default)]
pub(super) struct OutOfMemory {
    changes: MemoryChanges,
    usage: MemoryUsageFold,
    /// The last failed call of each thread: the call around it has the same reason, and returns later.
    last: HashMap<ThreadId, Exhausted>,
    found: HashMap<Key, (Finding, String)>,
    unknown: Vec<Option<ProcessId>>,
}

impl Check for OutOfMemory {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        for change in self.changes.of_wanted(window, wanted) {
            self.usage.take_changes(window.trace, &[change]);
            if let Some(place) = change.exhausted() {
                self.note(window.trace, &change, place);
            }
        }
    }

    fn judge(&mut self, _: &Trace, facts: &[OrderFact]) {
        for fact in facts {
            if let OrderFact::Unknown(process) = fact {
                self.unknown.push(*process);
            }
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        let mut last: Vec<Exhausted> = std::mem::take(&mut self.last).into_values().collect();
        last.sort_by_key(|it| it.finding.begin_ns);
        last.into_iter().for_each(|it| self.keep(it));
        let unknown = std::mem::take(&mut self.unknown);
        let found = std::mem::take(&mut self.found).into_iter();
        let found = found.map(|((process, ..), (finding, plain))| {
            match unknown.contains(&None) || unknown.contains(&Some(process)) {
                // Calls are missing, and so is the memory in use.
                true => Finding {
                    what: plain,
                    ..finding
                },
                false => finding,
            }
        });
        found.collect()
    }
}

impl OutOfMemory {
    fn note(&mut self, trace: &Trace, change: &MemoryChange, place: MemoryPlace) {
        let refusal = self.usage.refusal(trace, change);
        let plain = plain(trace, change, place);
        let what = refusal.map_or_else(|| plain.clone(), |it| with_holders(&plain, &it));
        let site = change.site.stack.and_then(|stack| trace.site_of(stack));
        let new = Exhausted {
            key: (
                change.site.process,
                change.thread,
                change.site.function,
                site.map(|it| it.text()),
                place,
            ),
            finding: Finding {
                what,
                advice: code(change).and_then(advice).unwrap_or_default().to_owned(),
                ..Finding::of_note(trace, &noted(change))
            },
            plain,
            is_wanted: change.is_wanted,
        };
        let begin = new.finding.begin_ns;
        let earlier = self.last.insert(change.thread, new);
        let is_apart = |it: &Exhausted| it.finding.begin_ns < begin;
        if let Some(earlier) = earlier.filter(is_apart) {
            self.keep(earlier);
        }
    }

    fn keep(&mut self, new: Exhausted) {
        let has_room = self.found.len() < MOST;
        match self.found.get_mut(&new.key) {
            _ if !new.is_wanted => {}
            Some((known, _)) => known.join(&new.finding),
            None if has_room => drop(self.found.insert(new.key, (new.finding, new.plain))),
            None => {}
        }
    }
}

/// The call of a change.
pub(super) fn noted(change: &MemoryChange) -> NotedCall {
    NotedCall {
        number: change.number,
        thread: change.thread,
        function: change.site.function,
        stream: None,
        begin: change.call.begin,
        end: change.call.end,
        depth: change.call.depth,
        stack: change.site.stack,
        is_wanted: change.is_wanted,
    }
}

fn code(change: &MemoryChange) -> Option<i64> {
    match change.kind {
        MemoryChangeKind::Refused { code, .. } => Some(code),
        _ => None,
    }
}

/// The call and its error.
fn plain(trace: &Trace, change: &MemoryChange, place: MemoryPlace) -> String {
    let size = match change.kind {
        MemoryChangeKind::Refused { size, .. } => size,
        _ => None,
    };
    let size = size.map_or_else(String::new, |it| format!(" {} of", bytes(it)));
    let name = &trace.function(change.site.function).name;
    let code = code(change).unwrap_or_default();
    let error = trace.error_name(code);
    let error = error.map_or_else(|| code.to_string(), str::to_owned);
    format!("{name} found no{size} memory of {} ({error})", named(place))
}

fn named(place: MemoryPlace) -> String {
    match place {
        MemoryPlace::Host => "the host".to_owned(),
        other => other.to_string(),
    }
}

fn with_holders(plain: &str, refused: &RefusedAllocation) -> String {
    let in_use = bytes(refused.in_use_bytes);
    let held = refused.holders.iter().take(NAMED).map(holder);
    let held: Vec<String> = held.collect();
    let held = match held.is_empty() {
        true => String::new(),
        false => format!(", most of it {}", held.join(", ")),
    };
    let size = refused.size.unwrap_or(0);
    let is_fragmented = refused.largest_gap_bytes < size && size <= refused.gaps_bytes;
    let gaps = match is_fragmented {
        true => format!(
            "; free ranges between addresses have {}, the largest {}",
            bytes(refused.gaps_bytes),
            bytes(refused.largest_gap_bytes)
        ),
        false => String::new(),
    };
    let unused = refused.unused_bytes.filter(|it| *it > 0);
    let unused = unused.map_or_else(String::new, |it| {
        format!("; its allocators had reserved {} of this and not given it out", bytes(it))
    });
    format!("{plain}: the process had {in_use} in use there{held}{gaps}{unused}")
}

fn holder(held: &HeldMemory) -> String {
    let at = held.site.as_ref();
    let at = at.map_or_else(String::new, |it| format!(" at {it}"));
    let least = if held.unsized_count > 0 { "≥ " } else { "" };
    format!("{least}{} by {}{at}", bytes(held.bytes), held.function)
}
