//! No thread of a process that forks is inside of a call of the loader's that this library has made:
//! the child would never be rid of the lock.
//!
//! Nobody waits for long. A thread that does not come out in time, or a fork that takes long because
//! of the program's own handlers, is left alone: then the child's own calls go around the lock
//! ([`super::inside`]).

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

use ascend_trace_ring::sys;

/// Threads that are inside. One that finds no room is not waited for.
static INSIDE: [AtomicU32; 64] = [const { AtomicU32::new(0) }; 64];

/// The thread that forks: process and thread. Of several at one moment, the last.
static FORKING: AtomicU64 = AtomicU64::new(0);

static IS_WATCHED: AtomicBool = AtomicBool::new(false);

const PAUSE_NS: i64 = 100_000;
/// 20 ms: walks take microseconds, and so do forks between two handlers of the C library.
const ROUNDS: u32 = 200;

/// Being inside, until this goes.
pub(crate) struct Inside(Option<&'static AtomicU32>);

impl Inside {
    pub(crate) fn enter() -> Self {
        let thread = sys::thread();
        for _ in 0..ROUNDS {
            let inside = Self::take(thread);
            if !is_other_forking(thread) {
                return inside;
            }
            drop(inside);
            sys::pause(PAUSE_NS);
        }
        Self::take(thread)
    }

    fn take(thread: u32) -> Self {
        let is_taken =
            |place: &&AtomicU32| place.compare_exchange(0, thread, SeqCst, Relaxed).is_ok();
        Self(INSIDE.iter().find(is_taken))
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        if let Some(place) = self.0 {
            place.store(0, Release);
        }
    }
}

fn is_other_forking(thread: u32) -> bool {
    let forking = FORKING.load(SeqCst);
    forking != 0
        && forking as u32 != thread
        // A child that was made past the C library has its parent's memory as it was.
        && (forking >> 32) as u32 == sys::process()
}

fn own() -> u64 {
    u64::from(sys::process()) << 32 | u64::from(sys::thread())
}

/// Has the C library tell of forks.
pub(crate) fn watch() {
    if !IS_WATCHED.swap(true, Relaxed) {
        // SAFETY: the handlers only use atomics and make system calls.
        unsafe { libc::pthread_atfork(Some(prepare), Some(in_parent), Some(in_child)) };
    }
}

extern "C" fn prepare() {
    FORKING.store(own(), SeqCst);
    let thread = sys::thread();
    let is_other =
        |place: &AtomicU32| !matches!(place.load(SeqCst), 0) && place.load(Acquire) != thread;
    for _ in 0..ROUNDS {
        if !INSIDE.iter().any(is_other) {
            return;
        }
        sys::pause(PAUSE_NS);
    }
}

extern "C" fn in_parent() {
    let _ = FORKING.compare_exchange(own(), 0, Release, Relaxed);
}

extern "C" fn in_child() {
    FORKING.store(0, Release);
    INSIDE.iter().for_each(|place| place.store(0, Release));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fork_waits_for_threads_that_are_inside_and_they_for_it() {
        let inside = Inside::enter();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // Goes on when the other thread has come out.
                prepare();
                in_parent();
            });
            while FORKING.load(SeqCst) == 0 {
                std::hint::spin_loop();
            }
            drop(inside);
        });
        assert_eq!(FORKING.load(SeqCst), 0);
        drop(Inside::enter());
        let own = sys::thread();
        assert!(INSIDE.iter().all(|place| place.load(SeqCst) != own));
    }
}
