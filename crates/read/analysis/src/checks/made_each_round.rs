//! A process allocated memory again and again after it had given back as much. Each allocation and each release is a
//! call into the driver, and a release may have to wait for the device.
//!
//! The check reports 64 allocations of one size, or 16 if they and the releases take a hundredth of the time.
//!
//! Allocate the memory once and keep it, or take it from a pool (`aclrtMemPoolMallocAsync`).

use std::collections::HashMap;

use ascend_trace_format::api::ArgPart;
use ascend_trace_recording::units::{bytes, count};
use ascend_trace_recording::{CallId, FunctionId, ProcessId, Trace};

use super::super::finding::began;
use super::super::{Check, Finding, Remedy};
use crate::Window;

/// Sizes and allocations that are followed at a time.
const MOST: usize = 1 << 16;

/// Memory of one size from one function.
type AllocationKind = (ProcessId, FunctionId, u64);

/// The allocations of one kind.
#[derive(Debug, Default)]
struct Allocations {
    /// Given back, and not allocated again since.
    spare: u64,
    /// The time of the calls that allocated again or gave back. Nanoseconds.
    spent_ns: i64,
    /// Calls that allocated memory which had been released.
    again: Option<Finding>,
}

#[derive(Debug, Default)]
pub(super) struct MadeEachRound {
    kinds: HashMap<AllocationKind, Allocations>,
    /// Allocations in use, by address.
    live: HashMap<(ProcessId, u64), AllocationKind>,
}

/// Effect of a call on memory.
enum Change {
    Makes(u64, u64),
    GivesBack(u64),
}

impl Check for MadeEachRound {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        let trace = window.trace;
        let calls = window.calls().filter(|id| wanted(*id));
        let changes = calls.filter_map(|id| Some((id, change(trace, id)?)));
        let mut changes: Vec<(CallId, Change)> = changes.collect();
        // Calls of different threads come in any order.
        changes.sort_by_key(|(id, _)| began(trace, *id));
        for (id, change) in changes {
            let call = trace.call(id);
            let process = trace.thread(call.thread).process;
            match change {
                Change::Makes(address, size) => {
                    let kind = (process, call.function, size);
                    if self.live.len() < MOST {
                        self.live.insert((process, address), kind);
                    }
                    self.made(trace, id, kind);
                }
                Change::GivesBack(address) => {
                    let Some(kind) = self.live.remove(&(process, address)) else {
                        continue;
                    };
                    if self.kinds.len() < MOST || self.kinds.contains_key(&kind) {
                        let known = self.kinds.entry(kind).or_default();
                        known.spare += 1;
                        known.spent_ns += call.end - call.begin;
                    }
                }
            }
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        let kinds = std::mem::take(&mut self.kinds).into_iter();
        let found = kinds.filter_map(|((_, _, size), kind)| {
            let finding = kind.again.filter(|it| it.is_often(kind.spent_ns))?;
            Some(Finding {
                what: format!(
                    "{} allocated {} {} times after as much had been given back",
                    finding.site.name,
                    bytes(size),
                    count(finding.count),
                ),
                advice: "allocate the memory once, and use it again".to_owned(),
                remedy: Some(Remedy::NotSimulated),
                ..finding
            })
        });
        found.collect()
    }
}

impl MadeEachRound {
    fn made(&mut self, trace: &Trace, id: CallId, kind: AllocationKind) {
        let Some(known) = self.kinds.get_mut(&kind).filter(|it| it.spare > 0) else {
            return;
        };
        known.spare -= 1;
        known.spent_ns += trace.call(id).end - trace.call(id).begin;
        let this = Finding::of_call(trace, id);
        match &mut known.again {
            Some(again) => again.join(&this),
            None => known.again = Some(this),
        }
    }
}

fn change(trace: &Trace, id: CallId) -> Option<Change> {
    let call = trace.call(id);
    let function = trace.function(call.function);
    if call.result() != Some(0) || call.depth > 0 {
        return None;
    }
    let word = |part: ArgPart| trace.args(call).get(function.part(part)?).copied();
    let made = word(ArgPart::Allocated).or_else(|| word(ArgPart::HostAllocated));
    if let Some(address) = made.filter(|it| *it != 0) {
        return Some(Change::Makes(address, word(ArgPart::Size)?));
    }
    let freed = word(ArgPart::Freed).or_else(|| word(ArgPart::HostFreed));
    freed.filter(|it| *it != 0).map(Change::GivesBack)
}
