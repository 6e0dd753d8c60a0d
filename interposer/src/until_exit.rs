//! Calls of the tracer's into the runtime, which end before the runtime does.
//!
//! When a process exits, threads of the program's may go on, and one of them may be about to read a time
//! while the runtime's destructors run. So every call says that it is under way, and the exit waits for
//! those that are; from then on there are none. What says so is written by its own thread only, without a
//! locked instruction: calls are many, and the exit, which sleeps a moment before it looks, is one.

use core::sync::atomic::Ordering::{Acquire, Release, SeqCst};
use core::sync::atomic::{AtomicBool, compiler_fence};

use crate::{cost, quiet, thread};

static OVER: AtomicBool = AtomicBool::new(false);

/// How often the exit looks whether calls are still under way, every tenth of a millisecond. A call that waits
/// for a device that hangs must not hold the process.
const ROUNDS: u32 = 1000;

/// A call that is under way. Dropping it also ends a call that an exception has left.
struct UnderWay {
    place: &'static AtomicBool,
    /// The runtime has called the program back, and that has led here.
    was: bool,
}

impl UnderWay {
    #[inline]
    fn begin() -> Self {
        let place = &thread::with(thread::State::meter).in_runtime;
        let was = place.load(Acquire);
        place.store(true, Release);
        compiler_fence(SeqCst);
        Self { place, was }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.place.store(self.was, Release);
    }
}

/// Makes a call of the tracer's into the runtime; `None` when the process is ending and it was not made.
#[inline]
pub(crate) fn call<R>(action: impl FnOnce() -> R) -> Option<R> {
    let _under_way = UnderWay::begin();
    if OVER.load(Acquire) {
        return None;
    }
    Some(action())
}

/// No call begins from now on, and those under way have ended when this returns, if they end at all.
pub(crate) fn close() {
    if OVER.swap(true, SeqCst) {
        return;
    }
    let own = thread::with(thread::State::meter);
    for _ in 0..ROUNDS {
        // Also long enough for what other processors have written to be seen here.
        quiet::sleep(100_000);
        let is_under_way = |meter: &cost::Meter| meter.in_runtime.load(Acquire);
        if !cost::all().any(|meter| !core::ptr::eq(meter, own) && is_under_way(meter)) {
            return;
        }
    }
}

/// A forked child has its own end.
pub(crate) fn forget() {
    OVER.store(false, SeqCst);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_under_way_until_the_outermost_ends() {
        let place = &thread::with(thread::State::meter).in_runtime;
        let inner = call(|| {
            assert_eq!(call(|| place.load(Acquire)), Some(true));
            place.load(Acquire)
        });
        assert_eq!(inner, Some(true));
        assert!(!place.load(Acquire));
    }
}
