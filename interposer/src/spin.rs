//! A spin lock for traced threads. A thread waits for a few hundred nanoseconds. It waits longer only to give something back
//! that must not be lost.

use core::cell::UnsafeCell;
use core::hint::spin_loop;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Rounds of waiting for a holder that is about to be done: a few hundred nanoseconds.
const ROUNDS: u32 = 200;

/// How long a patient waiter leaves the processor to the holder.
const PAUSE_NS: i64 = 20_000;
/// Pauses of one that waits for a while: a few hundred milliseconds.
const PATIENCE: u32 = 5000;

use crate::syscall_policy;
use crate::thread;

/// A lock of a value that is valid at any time, so that it may be taken from an ended holder. The type
/// says so and no field: a free lock is all zeros, and tables with one take no room in the library.
pub(crate) type PlainLock<T> = SpinLock<T, true>;

pub(crate) struct SpinLock<T, const PLAIN: bool = false> {
    held: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the lock hands the value to one thread at a time.
unsafe impl<T: Send, const PLAIN: bool> Sync for SpinLock<T, PLAIN> {}

impl<T, const PLAIN: bool> SpinLock<T, PLAIN> {
    /// A plain lock has to be in static memory.
    pub(crate) const fn new(value: T) -> Self {
        Self {
            held: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// Takes the lock unless another thread holds it for longer than a short time.
    #[inline]
    pub(crate) fn try_lock(&self) -> Option<Guard<'_, T, PLAIN>> {
        for _ in 0..ROUNDS {
            if !self.held.load(Relaxed)
                && self
                    .held
                    .compare_exchange(false, true, Acquire, Relaxed)
                    .is_ok()
            {
                if PLAIN {
                    thread::with(|state| {
                        state.held.replace(core::ptr::null(), &raw const self.held)
                    });
                }
                return Some(Guard { lock: self });
            }
            spin_loop();
        }
        None
    }

    /// Waits for the lock, but not for a holder that a jump out of a signal handler has left and that
    /// makes no further call: only its next call frees the lock.
    pub(crate) fn lock_for_a_while(&self) -> Option<Guard<'_, T, PLAIN>> {
        (0..PATIENCE).find_map(|_| {
            let guard = self.try_lock();
            if guard.is_none() {
                syscall_policy::sleep(PAUSE_NS);
            }
            guard
        })
    }

    /// Waits for the lock, where its data must not be dropped: events that have to be returned, pairs
    /// that have been recorded. Holders only do a few memory operations, so this waits only for one
    /// that lost its processor.
    pub(crate) fn lock_patiently(&self) -> Guard<'_, T, PLAIN> {
        loop {
            if let Some(guard) = self.try_lock() {
                return guard;
            }
            // A sleep and not a yield: a thread of real-time priority that yields would keep an
            // ordinary holder from ever running.
            syscall_policy::sleep(PAUSE_NS);
        }
    }

    /// The word that says that it is held: a holder that was left by a jump, in a place with a valid
    /// value, does not count.
    pub(crate) fn taken(&self) -> &AtomicBool {
        &self.held
    }

    /// Forgets a holder that does not exist in this process: after a fork.
    pub(crate) fn break_after_fork(&self) {
        self.held.store(false, Release);
    }
}

pub(crate) struct Guard<'a, T, const PLAIN: bool = false> {
    lock: &'a SpinLock<T, PLAIN>,
}

impl<T, const PLAIN: bool> Deref for Guard<'_, T, PLAIN> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard is the only holder.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T, const PLAIN: bool> DerefMut for Guard<'_, T, PLAIN> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard is the only holder, and it is borrowed mutably.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T, const PLAIN: bool> Drop for Guard<'_, T, PLAIN> {
    fn drop(&mut self) {
        if PLAIN {
            thread::with(|state| {
                state
                    .held
                    .replace(&raw const self.lock.held, core::ptr::null());
            });
        }
        self.lock.held.store(false, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_was_left_is_not_waited_for_for_ever() {
        let lock: SpinLock<_> = SpinLock::new(1);
        core::mem::forget(lock.try_lock());
        assert!(lock.lock_for_a_while().is_none());
        lock.break_after_fork();
        assert_eq!(*lock.lock_for_a_while().unwrap(), 1);
    }

    #[test]
    fn a_held_lock_is_not_waited_for() {
        let lock: SpinLock<_> = SpinLock::new(1);
        let guard = lock.try_lock();
        assert!(guard.is_some());
        assert!(lock.try_lock().is_none());
        drop(guard);
        assert!(lock.try_lock().is_some());
    }

    #[test]
    fn one_thread_at_a_time_changes_the_value() {
        let lock: SpinLock<_> = SpinLock::new(0u64);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        *lock.lock_patiently() += 1;
                    }
                });
            }
        });
        assert_eq!(*lock.lock_patiently(), 40_000);
    }
}
