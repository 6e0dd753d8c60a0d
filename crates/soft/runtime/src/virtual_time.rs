//! Virtual time: the option `virtual_ns`.
//!
//! Every thread has a separate clock. A call adds its cost to the clock of its thread, and a call that
//! waits sets the clock to the time of its target. Tasks do not wait for a clock: the engine computes
//! the times of a task from those of its submission and of its dependencies (`engine`), so it can play
//! it at once. All times then depend on the calls of each thread in their order, and are the same in
//! each run.
//!
//! So a task may be complete for the engine before the calling thread has reached its end. A call's
//! report of completion follows the thread's clock, after the engine has played all that it can.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::per_process::PerProcess;
use crate::truth::{CallEntry, Truth};

/// What all clocks show at first: not zero, which means "never" for an event.
const START_NS: u64 = 1_000_000_000;

static IS_ON: AtomicBool = AtomicBool::new(false);
/// Cost of a call, and of one that submits a task.
static CALL_NS: AtomicU64 = AtomicU64::new(0);
static SUBMIT_NS: AtomicU64 = AtomicU64::new(0);

static UNSEEN: PerProcess<UnseenWork> = PerProcess::new(UnseenWork::new);

/// How far the call is that a thread makes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CallStage {
    /// No call is running.
    Outside,
    /// It has done nothing that takes time or depends on the time.
    Begun,
    /// The first half of its cost is spent.
    Working,
    /// The same, of a call that submits a task.
    Submitting,
}

thread_local! {
    static NOW: Cell<u64> = const { Cell::new(START_NS) };
    static STAGE: Cell<CallStage> = const { Cell::new(CallStage::Outside) };
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

/// Makes virtual time begin, for the life of the process.
pub(crate) fn turn_on(call_ns: u64, submit_ns: u64) {
    CALL_NS.store(call_ns, Ordering::Relaxed);
    SUBMIT_NS.store(submit_ns, Ordering::Relaxed);
    IS_ON.store(true, Ordering::Release);
}

pub(crate) fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

/// The calling thread's clock. A thread that ends has none any more.
pub(crate) fn now() -> u64 {
    work(CallStage::Working);
    NOW.try_with(Cell::get).unwrap_or(START_NS)
}

/// Sets the clock, unless it is later already.
pub(crate) fn reach(at_ns: u64) {
    set(now().max(at_ns));
}

/// Sets the clock of a thread that does one thing after another for others, who do not wait for each other.
pub(crate) fn set(at_ns: u64) {
    let _ = NOW.try_with(|now| now.set(at_ns));
}

fn advance(by_ns: u64) {
    let _ = NOW.try_with(|now| now.set(now.get().saturating_add(by_ns)));
}

/// The call under way is about to submit a task.
pub(crate) fn submits() {
    if is_on() {
        work(CallStage::Submitting);
    }
}

fn stage() -> CallStage {
    STAGE.try_with(Cell::get).unwrap_or(CallStage::Outside)
}

fn set_stage(stage: CallStage) {
    let _ = STAGE.try_with(|own| own.set(stage));
}

/// The call under way comes to its work, unless it has before.
fn work(next: CallStage) {
    if stage() == CallStage::Begun {
        set_stage(next);
        advance(cost(next) / 2);
    }
}

fn cost(stage: CallStage) -> u64 {
    let cost = match stage {
        CallStage::Submitting => &SUBMIT_NS,
        _ => &CALL_NS,
    };
    cost.load(Ordering::Relaxed)
}

/// A call, from its begin to its end. One half of its cost comes before its work, the other half after
/// it.
pub(crate) struct TimedCall {
    function: &'static str,
    begin_ns: u64,
    truth: Option<&'static Truth>,
    /// Of the call with the callback that makes this one.
    outer: CallStage,
}

/// A call begins. Whether there is virtual time is known once the process has its options.
pub(crate) fn enter(function: &'static str, truth: Option<&'static Truth>) -> Option<TimedCall> {
    if !is_on() {
        return None;
    }
    let begin_ns = now();
    let outer = stage();
    set_stage(CallStage::Begun);
    Some(TimedCall {
        function,
        begin_ns,
        truth,
        outer,
    })
}

impl Drop for TimedCall {
    fn drop(&mut self) {
        work(CallStage::Working);
        let cost = cost(stage());
        advance(cost - cost / 2);
        set_stage(self.outer);
        let Some(truth) = self.truth else {
            return;
        };
        let number = CALLS.try_with(|calls| calls.replace(calls.get() + 1));
        truth.add_call(&CallEntry {
            function: self.function,
            // SAFETY: asks the kernel for a number. Old C libraries have no function for it.
            thread: unsafe { libc::syscall(libc::SYS_gettid) } as libc::pid_t,
            number: number.unwrap_or(0),
            begin_ns: self.begin_ns,
            end_ns: now(),
        });
    }
}

/// When tasks of a stream ended: those that its queue can hold, and as many before them.
#[derive(Default)]
pub(crate) struct TaskEnds {
    /// How many were forgotten.
    forgotten: u64,
    ends: std::collections::VecDeque<u64>,
}

impl TaskEnds {
    /// The next task of the stream has ended. Ends never go backwards.
    pub(crate) fn push(&mut self, end_ns: u64, keep: usize) {
        self.ends.push_back(end_ns);
        while self.ends.len() > keep {
            self.ends.pop_front();
            self.forgotten += 1;
        }
    }

    /// When the task ended; 0 when that is long ago.
    pub(crate) fn of(&self, seq: u64) -> u64 {
        let place = seq.checked_sub(self.forgotten + 1);
        let end = place.and_then(|it| self.ends.get(it as usize));
        end.copied().unwrap_or(0)
    }

    /// How many tasks had ended then.
    pub(crate) fn until(&self, at_ns: u64) -> u64 {
        self.forgotten + self.ends.partition_point(|end| *end <= at_ns) as u64
    }
}

/// The engine's work in this process.
pub(crate) fn unseen() -> &'static UnseenWork {
    UNSEEN.get()
}

/// Returns when all is played that can be. No lock may be held that the engine takes.
pub(crate) fn settle() {
    if is_on() {
        UNSEEN.get().wait();
    }
}

/// Work of the engine that it has not looked at. Threads that query completion wait until none is left.
pub(crate) struct UnseenWork {
    submitted: AtomicU64,
    seen: AtomicU64,
}

impl UnseenWork {
    const fn new() -> Self {
        Self {
            submitted: AtomicU64::new(0),
            seen: AtomicU64::new(0),
        }
    }

    /// Before the engine is called.
    pub(crate) fn give(&self) {
        self.submitted.fetch_add(1, Ordering::SeqCst);
    }

    /// The work before the engine's last look; it says so once it has played all of that.
    pub(crate) fn submitted(&self) -> u64 {
        self.submitted.load(Ordering::SeqCst)
    }

    pub(crate) fn played(&self, submitted: u64) {
        self.seen.store(submitted, Ordering::SeqCst);
    }

    /// Returns when the engine has played all that it can.
    fn wait(&self) {
        let submitted = self.submitted();
        while self.seen.load(Ordering::SeqCst) < submitted {
            std::thread::yield_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{TaskEnds, advance, now, reach, set};

    #[test]
    fn a_clock_goes_on_and_never_back() {
        let begin = now();
        advance(5);
        reach(begin);
        assert_eq!(now(), begin + 5);
        reach(begin + 9);
        assert_eq!(now(), begin + 9);
        set(begin);
        assert_eq!(now(), begin);
    }

    #[test]
    fn ends_are_known_as_far_back_as_asked_for() {
        let mut ends = TaskEnds::default();
        for end in [10, 20, 20, 30] {
            ends.push(end, 3);
        }
        assert_eq!([1, 2, 4, 5].map(|seq| ends.of(seq)), [0, 20, 30, 0]);
        assert_eq!([5, 20, 29, 30].map(|at| ends.until(at)), [1, 3, 3, 4]);
    }
}
