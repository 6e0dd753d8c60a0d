//! Progress of a stream, and sleeping until it is sufficient.

use std::time::Duration;

use super::primitives::{
    AtomicI32, AtomicU32, AtomicU64, Condvar, Mutex, Ordering, fence, lock, sleep,
};

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
pub(crate) enum WaitResult {
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
        // Pairs with the fence in `sleep`: either the sleeper sees the completed tasks, or it is seen
        // here.
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::Relaxed) != 0 {
            drop(lock(&self.gate));
            self.moved.notify_all();
        }
    }

    /// How often waiting threads were interrupted; a wait compares it with its own begin.
    pub(crate) fn interrupts(&self) -> u32 {
        self.aborts.load(Ordering::Acquire)
    }

    /// Makes every waiting thread return with the code. Has to come before the target is completed by
    /// force.
    pub(crate) fn interrupt(&self, code: i32) {
        self.abort_code.store(code, Ordering::SeqCst);
        self.aborts.fetch_add(1, Ordering::SeqCst);
        drop(lock(&self.gate));
        self.moved.notify_all();
    }

    /// Whether the wait has ended that began after this number of interrupts.
    pub(crate) fn outcome(&self, seq: u64, interrupts: u32) -> Option<WaitResult> {
        // In this order: who sees a completion by force also sees the interrupt before it.
        let done = self.completed() >= seq;
        if self.interrupts() != interrupts {
            return Some(WaitResult::Aborted(self.abort_code.load(Ordering::SeqCst)));
        }
        done.then_some(WaitResult::Done)
    }

    /// Sleeps until the task is complete. `left` is how long it may last yet; `None` ends it.
    pub(crate) fn sleep(
        &self,
        seq: u64,
        interrupts: u32,
        left: impl Fn() -> Option<Duration>,
    ) -> WaitResult {
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let waited = self.sleep_at_gate(seq, interrupts, left);
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
        waited
    }

    fn sleep_at_gate(
        &self,
        seq: u64,
        interrupts: u32,
        left: impl Fn() -> Option<Duration>,
    ) -> WaitResult {
        let mut gate = lock(&self.gate);
        loop {
            if let Some(waited) = self.outcome(seq, interrupts) {
                return waited;
            }
            let Some(left) = left() else {
                return WaitResult::TimedOut;
            };
            gate = sleep(&self.moved, gate, left);
        }
    }
}
