//! No thread of a process that forks is inside of a call of the loader's that this library has made:
//! the child would never be rid of the lock.
//!
//! Nobody waits for long. A thread that does not come out in time, or a fork that takes long because
//! of the program's own handlers, is left alone: then the child's own calls go around the lock
//! ([`super::glibc_state`]).

use core::sync::atomic::Ordering::{Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize};

use ascend_trace_ring::sys;

use crate::fast_tls::thread_pointer;
use crate::session;
use crate::thread::{self, ThreadState};

/// Threads that are inside. One that finds no room is not waited for.
static INSIDE: [AtomicUsize; 64] = [const { AtomicUsize::new(0) }; 64];

/// The thread that forks, and its process. Of several at the same time, the last.
static FORKING: AtomicUsize = AtomicUsize::new(0);
static PROCESS: AtomicU32 = AtomicU32::new(0);

static IS_WATCHED: AtomicBool = AtomicBool::new(false);

const PAUSE_NS: i64 = 100_000;
/// 20 ms: walks take microseconds, and so do forks between two handlers of the C library.
const ROUNDS: u32 = 200;

/// Being inside, until this goes.
pub(crate) struct InsideGuard(Option<&'static AtomicUsize>);

impl InsideGuard {
    pub(crate) fn enter() -> Self {
        let thread = thread_pointer();
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

    fn take(thread: usize) -> Self {
        let is_taken =
            |place: &&AtomicUsize| place.compare_exchange(0, thread, SeqCst, Relaxed).is_ok();
        Self(INSIDE.iter().find(is_taken))
    }
}

impl Drop for InsideGuard {
    fn drop(&mut self) {
        if let Some(place) = self.0 {
            place.store(0, Release);
        }
    }
}

fn is_other_forking(thread: usize) -> bool {
    let forking = FORKING.load(SeqCst);
    // A child that was made past the C library has its parent's memory as it was.
    forking != 0 && forking != thread && PROCESS.load(SeqCst) == sys::process()
}

/// Makes the C library report forks.
pub(crate) fn watch() {
    if !IS_WATCHED.swap(true, Relaxed) {
        // SAFETY: the handlers only use atomics and make system calls.
        unsafe { libc::pthread_atfork(Some(prepare), Some(in_parent), Some(in_child)) };
    }
}

extern "C" fn prepare() {
    let thread = thread_pointer();
    PROCESS.store(sys::process(), SeqCst);
    FORKING.store(thread, SeqCst);
    let is_other = |place: &AtomicUsize| {
        let inside = place.load(SeqCst);
        inside != 0 && inside != thread
    };
    for _ in 0..ROUNDS {
        if !INSIDE.iter().any(is_other) {
            return;
        }
        sys::pause(PAUSE_NS);
    }
}

extern "C" fn in_parent() {
    let _ = FORKING.compare_exchange(thread_pointer(), 0, Release, Relaxed);
}

extern "C" fn in_child() {
    session::begin_child();
    // Another thread may be the first to make a call here.
    thread::with(ThreadState::forked);
    FORKING.store(0, Release);
    INSIDE.iter().for_each(|place| place.store(0, Release));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fork_waits_for_threads_that_are_inside_and_they_for_it() {
        let inside = InsideGuard::enter();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // Continues when the other thread has left.
                prepare();
                in_parent();
            });
            while FORKING.load(SeqCst) == 0 {
                std::hint::spin_loop();
            }
            drop(inside);
        });
        assert_eq!(FORKING.load(SeqCst), 0);
        drop(InsideGuard::enter());
        let own = thread_pointer();
        assert!(INSIDE.iter().all(|place| place.load(SeqCst) != own));
    }
}
