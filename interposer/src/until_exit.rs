//! Calls of the tracer's into the runtime, which end before the runtime does.
//!
//! When a process exits, the program's threads may continue, and one of them may be about to read a
//! time while the runtime's destructors run. So every call announces itself, and the exit waits for the
//! running ones; from then on only the thread that ends the process makes any, around calls that the
//! program makes in its exit handlers and destructors. Only its thread writes the announcement, without
//! a locked instruction: calls are many, and the exit, which sleeps shortly before it looks, is one.

use core::sync::atomic::Ordering::{Acquire, Release, SeqCst};
use core::sync::atomic::{AtomicPtr, compiler_fence};

use crate::meter::{self, Meter};
use crate::syscall_policy;
use crate::thread::{self, Asking, ThreadState};

/// The meter of the thread that ends the process; null until it does.
static EXITING: AtomicPtr<Meter> = AtomicPtr::new(core::ptr::null_mut());

/// How often the exit looks whether calls are still under way, every tenth of a millisecond. A call that waits
/// for a device that hangs must not hold the process.
const ROUNDS: u32 = 1000;

/// A call that is under way. Dropping it also ends a call that an exception has left.
struct UnderWay {
    _asking: Asking,
    meter: &'static Meter,
    /// The runtime has called the program back, and that has led here.
    was: bool,
}

impl UnderWay {
    #[inline]
    fn begin() -> Self {
        let meter = thread::with(ThreadState::meter);
        let was = meter.in_runtime.load(Acquire);
        meter.in_runtime.store(true, Release);
        compiler_fence(SeqCst);
        Self {
            _asking: Asking::begin(),
            meter,
            was,
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.meter.in_runtime.store(self.was, Release);
    }
}

/// Whether calls of the tracer are allowed in this thread: another thread may be ending the process.
#[inline]
pub(crate) fn is_allowed() -> bool {
    is_allowed_to(thread::with(ThreadState::meter))
}

fn is_allowed_to(meter: &Meter) -> bool {
    let exiting = EXITING.load(Acquire);
    exiting.is_null() || core::ptr::eq(exiting, meter)
}

/// Makes a call of the tracer's into the runtime; `None` when the process is ending and it was not made.
#[inline]
pub(crate) fn call<R>(action: impl FnOnce() -> R) -> Option<R> {
    let under_way = UnderWay::begin();
    is_allowed_to(under_way.meter).then(action)
}

/// No other thread begins a call from now on, and those under way have ended when this returns, if they end at
/// all.
pub(crate) fn close() {
    let own = thread::with(ThreadState::meter);
    if !EXITING
        .swap(core::ptr::from_ref(own).cast_mut(), SeqCst)
        .is_null()
    {
        return;
    }
    for _ in 0..ROUNDS {
        // Also long enough for what other processors have written to be seen here.
        syscall_policy::sleep(100_000);
        let is_others = |meter: &Meter| !core::ptr::eq(meter, own);
        if !meter::all().any(|meter| is_others(meter) && meter.in_runtime.load(Acquire)) {
            return;
        }
    }
}

/// A forked child has its own end.
pub(crate) fn forget() {
    EXITING.store(core::ptr::null_mut(), SeqCst);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_under_way_until_the_outermost_ends() {
        let place = &thread::with(ThreadState::meter).in_runtime;
        let inner = call(|| {
            assert_eq!(call(|| place.load(Acquire)), Some(true));
            place.load(Acquire)
        });
        assert_eq!(inner, Some(true));
        assert!(!place.load(Acquire));
    }
}
