//! The helper thread of a context, which runs host functions.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::clock;
use crate::code::{Outcome, RT_INTERNAL, fault};
use crate::ffi::Callback;
use crate::sync::{Condvar, LONGEST_SLEEP, Mutex, lock};
use crate::threads::spawn;
use crate::virtual_time;

/// Started at first use, ended with its context.
#[derive(Default)]
pub(crate) struct HostThread {
    queue: Mutex<CallbackQueue>,
    changed: Condvar,
}

/// A host function at the head of its stream.
pub(crate) struct DueCallback {
    pub(crate) callback: Callback,
    pub(crate) begin_ns: u64,
    /// Reports to the stream when it was called and when it returned.
    pub(crate) done: Box<dyn FnOnce((u64, u64)) + Send>,
}

#[derive(Default)]
struct CallbackQueue {
    calls: VecDeque<DueCallback>,
    running: bool,
    closed: bool,
}

impl HostThread {
    pub(crate) fn call(self: &Arc<Self>, due: DueCallback) {
        let mut queue = lock(&self.queue);
        queue.calls.push_back(due);
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
        while let Some(due) = self.next() {
            // Virtual time does not know in which order functions of several streams would come.
            virtual_time::set(due.begin_ns);
            let called = clock::now();
            due.callback.run();
            (due.done)((called, clock::now()));
        }
    }

    fn next(&self) -> Option<DueCallback> {
        let mut queue = lock(&self.queue);
        loop {
            if let Some(call) = queue.calls.pop_front() {
                return Some(call);
            }
            if queue.closed {
                return None;
            }
            queue = self.changed.sleep(queue, LONGEST_SLEEP);
        }
    }
}
