//! The helper thread of a context, which runs host functions.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::code::{Outcome, RT_INTERNAL, fault};
use crate::engine::spawn;
use crate::engine::task::Token;
use crate::ffi::Callback;
use crate::stream::Stream;
use crate::sync::lock;

/// Started at first use, ended with its context.
#[derive(Default)]
pub(crate) struct HostThread {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    calls: VecDeque<(Callback, Arc<Stream>, Token)>,
    running: bool,
    closed: bool,
}

impl HostThread {
    pub(crate) fn call(self: &Arc<Self>, callback: Callback, stream: &Arc<Stream>, token: Token) {
        let mut queue = lock(&self.queue);
        queue.calls.push_back((callback, Arc::clone(stream), token));
        drop(queue);
        self.changed.notify_one();
    }

    /// Starts the thread unless it runs already. It comes before a host function is submitted, so that a
    /// program gets an error where there can be no thread.
    pub(crate) fn begin(self: &Arc<Self>) -> Outcome {
        let mut queue = lock(&self.queue);
        if !queue.running {
            let thread = Arc::clone(self);
            queue.running = spawn("softacl-host", move || thread.serve()).is_some();
        }
        if queue.running {
            return Ok(());
        }
        fault(
            RT_INTERNAL,
            "the thread for host functions cannot be started",
        )
    }

    pub(crate) fn close(&self) {
        lock(&self.queue).closed = true;
        self.changed.notify_all();
    }

    fn serve(&self) {
        while let Some((callback, stream, token)) = self.next() {
            callback.run();
            stream.host_work_done(token);
        }
    }

    fn next(&self) -> Option<(Callback, Arc<Stream>, Token)> {
        let mut queue = lock(&self.queue);
        loop {
            if let Some(call) = queue.calls.pop_front() {
                return Some(call);
            }
            if queue.closed {
                return None;
            }
            queue = self
                .changed
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}
