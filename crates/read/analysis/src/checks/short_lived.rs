//! The process made streams or events again and again, after it had destroyed others. Each costs the host a call or
//! two, and the runtime a place on the device. A stream that is destroyed waits for its work first.
//!
//! Keep them and reuse them: you can record an event any number of times.

use std::collections::HashMap;

use ascend_trace_recording::units::count;
use ascend_trace_recording::{CallId, ProcessId};

use super::super::finding::began;
use super::super::object_lifetimes::ObjectKind;
use super::super::{Check, Finding, Remedy};
use crate::Window;

/// Fewer are not worth a word.
const LEAST: u64 = 64;

/// The calls of one kind in a process.
#[derive(Debug, Default)]
struct ProcessCalls {
    /// Destroyed, and not made again since.
    spare: u64,
    /// The calls that made one where another had been destroyed.
    again: Option<Finding>,
}

#[derive(Debug, Default)]
pub(super) struct ShortLived {
    seen: HashMap<(ProcessId, ObjectKind), ProcessCalls>,
}

impl Check for ShortLived {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        let trace = window.trace;
        let kind = |id: &CallId| ObjectKind::of(trace.function(trace.call(*id).function).role);
        let mut calls: Vec<CallId> = window.calls().filter(|id| kind(id).is_some()).collect();
        // Calls of different threads come in any order.
        calls.sort_by_key(|id| began(trace, *id));
        for id in calls.into_iter().filter(|id| wanted(*id)) {
            let call = trace.call(id);
            let Some((kind, makes)) = ObjectKind::of(trace.function(call.function).role) else {
                continue;
            };
            if call.result() != Some(0) {
                continue;
            }
            let process = trace.thread(call.thread).process;
            let seen = self.seen.entry((process, kind)).or_default();
            match makes {
                false => seen.spare += 1,
                true if seen.spare > 0 => {
                    seen.spare -= 1;
                    let this = Finding::of_call(trace, id);
                    match &mut seen.again {
                        Some(known) => known.join(&this),
                        None => seen.again = Some(this),
                    }
                }
                true => {}
            }
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        let seen = std::mem::take(&mut self.seen).into_iter();
        let found = seen.filter_map(|((_, kind), seen)| {
            let finding = seen.again.filter(|it| it.count >= LEAST)?;
            Some(Finding {
                what: format!(
                    "{} {} were made after others had been destroyed",
                    count(finding.count),
                    kind.name()
                ),
                advice: format!("keep {} and use them again", kind.name()),
                remedy: Some(Remedy::NotSimulated),
                ..finding
            })
        });
        found.collect()
    }
}
