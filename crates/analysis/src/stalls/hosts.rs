//! Stalls of host threads: the time inside blocking calls.

use ascend_trace_format::api::{Role, Untimed};
use ascend_trace_model::{Call, CallId, ThreadId, Trace};

use super::{Cause, Lane, Stall};
use crate::dependencies::{Node, waited};

/// The stalls of all threads, and how many calls have been looked at.
#[derive(Clone, Debug, Default)]
pub(super) struct HostStalls {
    threads: Vec<Vec<Stall>>,
    calls: usize,
}

impl HostStalls {
    pub(super) fn advance(&mut self, trace: &Trace) {
        self.threads.resize_with(trace.threads().len(), Vec::new);
        let calls = trace.calls();
        for (index, call) in calls.iter().enumerate().skip(self.calls) {
            if let Some(cause) = blocking(trace, call) {
                self.push(CallId(index as u32), call, cause);
            }
        }
        self.calls = calls.len();
    }

    /// Calls arrive as they return, so the blocking calls made inside this one came before it.
    /// The outermost one stands for all.
    fn push(&mut self, id: CallId, call: &Call, cause: Cause) {
        let Some(lane) = self.threads.get_mut(call.thread.index()) else {
            return;
        };
        while lane.last().is_some_and(|inner| inner.begin >= call.begin) {
            lane.pop();
        }
        if lane.last().is_some_and(|outer| outer.end > call.begin) || call.begin >= call.end {
            return;
        }
        lane.push(Stall {
            lane: Lane::Thread(call.thread),
            begin: call.begin,
            end: call.end,
            cause,
            node: Node::Call(id),
        });
    }

    pub(super) fn thread(&self, thread: ThreadId) -> &[Stall] {
        self.threads.get(thread.index()).map_or(&[], Vec::as_slice)
    }

    pub(super) fn lanes(&self) -> impl Iterator<Item = &[Stall]> {
        self.threads.iter().map(Vec::as_slice)
    }
}

/// What kept the host inside a call, if it is a call that blocks.
fn blocking(trace: &Trace, call: &Call) -> Option<Cause> {
    match trace.function(call.function).role {
        Role::SyncStream | Role::SyncEvent | Role::SyncDevice if waited(trace, call) => {
            Some(Cause::HostSync)
        }
        Role::BlockingCopy => Some(Cause::HostCopy),
        // An asynchronous copy of pageable memory is done by the host, after a stream sync.
        _ => call
            .task
            .is_some_and(|task| trace.task(task).untimed == Untimed::HostCopy)
            .then_some(Cause::HostCopy),
    }
}
