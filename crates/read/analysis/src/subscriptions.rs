//! Which thread runs the callbacks of which stream.

use std::collections::HashMap;

use ascend_trace_format::api::{ArgPart, Role};
use ascend_trace_recording::{Call, ProcessId, StreamId, Thread, ThreadId, Trace};

use crate::dependencies::took_effect;

/// The program's subscriptions until now.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions {
    /// How the program names the thread, as [`handle`](ascend_trace_recording::Thread::handle) is.
    subscribers: HashMap<StreamId, u64>,
}

impl Subscriptions {
    /// A call, in the order of their begins.
    pub(crate) fn note(&mut self, trace: &Trace, call: &Call) {
        let function = trace.function(call.function);
        let (Some(stream), true) = (call.stream, took_effect(trace, call)) else {
            return;
        };
        match function.role {
            Role::SubscribeReports => {
                let at = function.part(ArgPart::Subscriber);
                if let Some(handle) = at.and_then(|at| trace.args(call).get(at)) {
                    self.subscribers.insert(stream, *handle);
                }
            }
            Role::UnsubscribeReports => {
                self.subscribers.remove(&stream);
            }
            _ => {}
        }
    }

    /// The name of the thread that runs the callbacks of a stream.
    pub(crate) fn handle(&self, stream: StreamId) -> Option<u64> {
        self.subscribers.get(&stream).copied()
    }
}

/// The thread of a process with a name. A name is used again after its thread: the last one is meant.
pub(crate) fn named(trace: &Trace, process: ProcessId, handle: u64) -> Option<ThreadId> {
    let is_named = |it: &Thread| it.process == process && it.handle == handle;
    let at = trace.threads().iter().rposition(is_named)?;
    Some(ThreadId(at as u32))
}
