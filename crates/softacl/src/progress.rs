//! How far a stream has come, and sleeping until it has come far enough.

use std::time::Duration;

use super::primitives::{AtomicI32, AtomicU32, AtomicU64, Condvar, Mutex, Ordering, fence, lock};

pub(crate) struct Progress {
    completed: AtomicU64,
    sleepers: AtomicU32,
    aborts: AtomicU32,
    abort_code: AtomicI32,
    gate: Mutex<()>,
    moved: Condvar,
}

/// How a wait for a stream ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    Done,
    TimedOut,
    Aborted(i32),
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self {
            completed: AtomicU64::new(0),
            sleepers: AtomicU32::new(0),
            aborts: AtomicU32::new(0),
            abort_code: AtomicI32::new(0),
            gate: Mutex::new(()),
            moved: Condvar::new(),
        }
    }

    pub(crate) fn completed(&self) -> u64 {
        self.completed.load(Ordering::Acquire)
    }

    /// Publishes that all tasks up to this one are complete. `wake` has to follow.
    pub(crate) fn complete(&self, seq: u64) {
        self.completed.store(seq, Ordering::Release);
    }

    /// Wakes who sleeps; once for any number of completed tasks.
    pub(crate) fn wake(&self) {
        // Pairs with the fence in `sleep`: either the sleeper sees what was completed, or it is
        // seen here.
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::Relaxed) != 0 {
            drop(lock(&self.gate));
            self.moved.notify_all();
        }
    }

    /// Makes every sleeper return with the code.
    pub(crate) fn interrupt(&self, code: i32) {
        self.abort_code.store(code, Ordering::SeqCst);
        self.aborts.fetch_add(1, Ordering::SeqCst);
        drop(lock(&self.gate));
        self.moved.notify_all();
    }

    /// Sleeps until the task is complete. `left` is how long it may last yet; `None` ends it.
    pub(crate) fn sleep(&self, seq: u64, left: impl Fn() -> Option<Duration>) -> Waited {
        let aborts = self.aborts.load(Ordering::SeqCst);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let waited = self.sleep_at_gate(seq, aborts, left);
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
        waited
    }

    fn sleep_at_gate(&self, seq: u64, aborts: u32, left: impl Fn() -> Option<Duration>) -> Waited {
        let mut gate = lock(&self.gate);
        loop {
            if self.aborts.load(Ordering::SeqCst) != aborts {
                return Waited::Aborted(self.abort_code.load(Ordering::SeqCst));
            }
            if self.completed() >= seq {
                return Waited::Done;
            }
            let Some(left) = left() else {
                return Waited::TimedOut;
            };
            gate = match self.moved.wait_timeout(gate, left) {
                Ok((gate, _)) => gate,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
    }
}
