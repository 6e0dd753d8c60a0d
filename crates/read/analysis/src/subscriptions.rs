//! Which thread runs the callbacks of which stream.

use std::collections::HashMap;

use ascend_trace_format::api::{ArgPart, Role};
use ascend_trace_recording::{Call, ProcessId, StreamId, Thread, ThreadId, Trace};

use crate::dependencies::took_effect;

/// The program's subscriptions until now.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions {
    subscribers: HashMap<StreamId, Subscription>,
}

/// The subscription of a thread to the callbacks of a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subscription {
    /// How the program names the thread, as [`handle`](ascend_trace_recording::Thread::handle) is.
    pub(crate) handle: u64,
    /// When it was subscribed.
    pub(crate) at: i64,
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
                    let (handle, at) = (*handle, call.begin);
                    self.subscribers.insert(stream, Subscription { handle, at });
                }
            }
            Role::UnsubscribeReports => {
                self.subscribers.remove(&stream);
            }
            _ => {}
        }
    }

    /// The thread that runs the callbacks of a stream.
    pub(crate) fn of(&self, stream: StreamId) -> Option<Subscription> {
        self.subscribers.get(&stream).copied()
    }

    /// The name of that thread.
    pub(crate) fn handle(&self, stream: StreamId) -> Option<u64> {
        self.of(stream).map(|it| it.handle)
    }
}

/// The first and the last time at which a thread is known to exist.
pub(crate) type LifeTimes = (i64, i64);

/// The thread of a process that is meant by a subscription. A name is used again after its thread. So the thread that was
/// there before and after the subscription is meant. Where none is known, it is the next one that made calls, then the one
/// before, then one without calls.
pub(crate) fn meant(
    trace: &Trace,
    process: ProcessId,
    subscription: Subscription,
    known: impl Fn(ThreadId) -> Option<LifeTimes>,
) -> Option<ThreadId> {
    let is_named = |it: &Thread| it.process == process && it.handle == subscription.handle;
    let named = trace.threads().iter().enumerate();
    let named = named
        .filter(|(_, it)| is_named(it))
        .map(|(at, _)| ThreadId(at as u32));
    let at = subscription.at;
    named.min_by_key(|thread| match known(*thread) {
        Some((first, last)) if first <= at && last >= at => (0, 0),
        Some((first, _)) if first > at => (1, first),
        Some((_, last)) => (2, last.saturating_neg()),
        None => (3, -i64::from(thread.0)),
    })
}
