//! A lock for one thread at a time.

use std::cell::UnsafeCell;
use std::hint::spin_loop;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};

use super::futex;

const FREE: u32 = 0;
const HELD: u32 = 1;
/// Held, and other threads may sleep until it is free.
const WANTED: u32 = 2;
/// Looks at a held lock before the thread sleeps.
const SPINS: u32 = 100;

#[derive(Default)]
pub struct Mutex<T> {
    state: AtomicU32,
    data: UnsafeCell<T>,
}

// SAFETY: the lock orders all access to the data.
unsafe impl<T: Send> Send for Mutex<T> {}
// SAFETY: as above; one thread at a time has the data.
unsafe impl<T: Send> Sync for Mutex<T> {}

/// The thread that made this holds the lock.
pub struct MutexGuard<'a, T> {
    mutex: &'a Mutex<T>,
    /// A guard stays in its thread.
    stays: PhantomData<*const ()>,
}

// SAFETY: what threads share of a guard is the data.
unsafe impl<T: Sync> Sync for MutexGuard<'_, T> {}

/// Locks, and waits for that.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.acquire();
    MutexGuard {
        mutex,
        stays: PhantomData,
    }
}

impl<T> Mutex<T> {
    pub const fn new(data: T) -> Self {
        Self {
            state: AtomicU32::new(FREE),
            data: UnsafeCell::new(data),
        }
    }

    fn acquire(&self) {
        let free = self
            .state
            .compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed);
        if free.is_err() {
            self.acquire_held();
        }
    }

    #[cold]
    fn acquire_held(&self) {
        for _ in 0..SPINS {
            if self.state.load(Ordering::Relaxed) != HELD {
                break;
            }
            spin_loop();
        }
        while self.state.swap(WANTED, Ordering::Acquire) != FREE {
            futex::sleep(&self.state, WANTED, futex::LONGEST_SLEEP);
        }
    }

    fn release(&self) {
        if self.state.swap(FREE, Ordering::Release) == WANTED {
            futex::wake(&self.state, 1);
        }
    }
}

impl<'a, T> MutexGuard<'a, T> {
    /// Unlocks while this runs.
    pub fn without(self, body: impl FnOnce()) -> Self {
        let mutex: &'a Mutex<T> = self.mutex;
        drop(self);
        body();
        lock(mutex)
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        self.mutex.release();
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this thread holds the lock while the guard lives.
        unsafe { &*self.mutex.data.get() }
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above; the guard is borrowed alone.
        unsafe { &mut *self.mutex.data.get() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_at_a_time_has_the_data() {
        let counter = Mutex::new(0_u64);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        *lock(&counter) += 1;
                    }
                });
            }
        });
        assert_eq!(*lock(&counter), 40_000);
    }

    #[test]
    fn a_sleeper_gets_a_lock_that_was_freed_without_a_wake_up() {
        let mutex = Mutex::new(());
        let guard = lock(&mutex);
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| drop(lock(&mutex)));
            while mutex.state.load(Ordering::Relaxed) != WANTED {
                std::thread::yield_now();
            }
            // As the guard does where futex is forbidden.
            std::mem::forget(guard);
            mutex.state.store(FREE, Ordering::Release);
            sleeper.join().unwrap();
        });
    }
}
