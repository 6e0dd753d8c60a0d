//! The helper thread of a context, which runs host functions.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

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
        if !queue.running {
            queue.running = true;
            let thread = Arc::clone(self);
            if spawn("softacl-host", move || thread.serve()).is_none() {
                crate::ffi::complain("cannot start a host function thread");
            }
        }
        drop(queue);
        self.changed.notify_one();
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
