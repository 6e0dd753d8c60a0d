//! The way of tasks from the submitting threads to the engine.
//!
//! The engine is called only when it does not know of the stream yet: `armed` says that it does.
//! The engine clears it under the queue's lock, and only when the queue is empty, so a task that is
//! pushed later finds it cleared.

use std::collections::VecDeque;

use super::primitives::{AtomicBool, Mutex, MutexGuard, Ordering, lock};

pub(crate) struct Inlet<T> {
    queue: Mutex<Queue<T>>,
    armed: AtomicBool,
}

pub(crate) struct Queue<T> {
    pub(crate) items: VecDeque<T>,
    /// How many were ever pushed.
    pub(crate) pushed: u64,
    pub(crate) closed: bool,
}

impl<T> Inlet<T> {
    pub(crate) fn new() -> Self {
        let queue = Queue {
            items: VecDeque::new(),
            pushed: 0,
            closed: false,
        };
        Self {
            queue: Mutex::new(queue),
            armed: AtomicBool::new(false),
        }
    }

    /// The queue, to push to. `must_call` has to be asked after the lock was given up.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Queue<T>> {
        lock(&self.queue)
    }

    /// Does the engine have to be called? True once, until the engine found the queue empty.
    pub(crate) fn must_call(&self) -> bool {
        !self.armed.swap(true, Ordering::AcqRel)
    }

    /// Moves the pushed items; false without any.
    pub(crate) fn take(&self, items: &mut VecDeque<T>) -> bool {
        let mut queue = lock(&self.queue);
        if queue.items.is_empty() {
            self.armed.store(false, Ordering::Release);
            return false;
        }
        if items.is_empty() {
            std::mem::swap(items, &mut queue.items);
        } else {
            items.append(&mut queue.items);
        }
        true
    }
}
