//! What happens to an event while another thread waits for it.

use std::collections::HashMap;

use ascend_trace_format::api::Role;
use ascend_trace_recording::{CallId, EventId, ThreadId, Trace};

use super::Finding;
use super::grouping::Sorted;
use super::happens_before::NotedCall;
use crate::Window;

/// The waits of host threads for events, and what other threads did to these events in their time.
#[derive(Debug, Default)]
pub(super) struct Overlaps {
    /// Waits that may not have ended.
    waits: HashMap<EventId, Vec<NotedCall>>,
    found: Sorted<ThreadId>,
}

impl Overlaps {
    /// Takes in a window, and adds a finding for each call with a role that falls in another thread's wait.
    pub(super) fn take(
        &mut self,
        window: &Window<'_>,
        wanted: &dyn Fn(CallId) -> bool,
        role: Role,
        words: impl Fn(&Trace, &NotedCall, &NotedCall) -> (String, String),
    ) {
        let trace = window.trace;
        let mut others: Vec<(EventId, NotedCall)> = Vec::new();
        for id in window.calls() {
            let call = trace.call(id);
            let Some(event) = call.event.filter(|_| call.result() == Some(0)) else {
                continue;
            };
            let its = trace.function(call.function).role;
            if its == Role::SyncEvent {
                let waits = self.waits.entry(event.event).or_default();
                waits.push(NotedCall::of(trace, id, true));
            } else if its == role && wanted(id) {
                others.push((event.event, NotedCall::of(trace, id, true)));
            }
        }
        for (event, note) in others {
            let during = |wait: &&NotedCall| {
                wait.thread != note.thread && wait.begin < note.begin && note.end < wait.end
            };
            let waits = self.waits.get(&event);
            let Some(wait) = waits.and_then(|waits| waits.iter().find(during)) else {
                continue;
            };
            let (what, advice) = words(trace, &note, wait);
            let finding = Finding {
                what,
                advice,
                ..Finding::of_note(trace, &note)
            };
            let process = trace.thread(note.thread).process;
            self.found.add(process, note.thread, finding);
        }
        let until = window.part.until;
        self.waits.retain(|_, waits| {
            waits.retain(|wait| wait.end >= until);
            !waits.is_empty()
        });
    }

    pub(super) fn findings(&mut self) -> Vec<Finding> {
        self.found.take()
    }
}

/// A wait of another thread, in words.
pub(super) fn waiter(trace: &Trace, wait: &NotedCall) -> String {
    format!(
        "thread {} waited for it in {} (call {})",
        trace.thread(wait.thread).tid,
        trace.function(wait.function).name,
        wait.number,
    )
}
