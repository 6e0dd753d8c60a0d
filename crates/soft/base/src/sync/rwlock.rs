//! A lock for one writer or several readers.

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};

use super::futex;

/// Bits of the state. The others are the number of readers.
const WRITER: u32 = 1 << 31;
/// A writer waits: no reader comes before it.
const WANTED: u32 = 1 << 30;

#[derive(Default)]
pub struct RwLock<T> {
    state: AtomicU32,
    sleepers: AtomicU32,
    data: UnsafeCell<T>,
}

// SAFETY: the lock orders all access to the data.
unsafe impl<T: Send> Send for RwLock<T> {}
// SAFETY: as above; readers share the data.
unsafe impl<T: Send + Sync> Sync for RwLock<T> {}

pub struct Reader<'a, T> {
    lock: &'a RwLock<T>,
    /// A guard stays in its thread.
    stays: PhantomData<*const ()>,
}

pub struct Writer<'a, T> {
    lock: &'a RwLock<T>,
    stays: PhantomData<*const ()>,
}

impl<T> RwLock<T> {
    pub const fn new(data: T) -> Self {
        Self {
            state: AtomicU32::new(0),
            sleepers: AtomicU32::new(0),
            data: UnsafeCell::new(data),
        }
    }

    pub fn read(&self) -> Reader<'_, T> {
        loop {
            let state = self.state.load(Ordering::Relaxed);
            if state & (WRITER | WANTED) != 0 {
                self.sleep(state);
            } else if self.change(state, state + 1) {
                let (lock, stays) = (self, PhantomData);
                return Reader { lock, stays };
            }
        }
    }

    pub fn write(&self) -> Writer<'_, T> {
        loop {
            let state = self.state.load(Ordering::Relaxed);
            if state & !WANTED == 0 {
                // Other writers that wait set the bit again.
                if self.change(state, WRITER) {
                    let (lock, stays) = (self, PhantomData);
                    return Writer { lock, stays };
                }
            } else if state & WANTED != 0 || self.change(state, state | WANTED) {
                self.sleep(state | WANTED);
            }
        }
    }

    fn change(&self, from: u32, to: u32) -> bool {
        let changed =
            self.state
                .compare_exchange_weak(from, to, Ordering::Acquire, Ordering::Relaxed);
        changed.is_ok()
    }

    #[cold]
    fn sleep(&self, state: u32) {
        // Before the kernel looks at the state: who changes it afterwards sees this sleeper.
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        futex::sleep(&self.state, state, futex::LONGEST_SLEEP);
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
    }

    fn wake(&self) {
        if self.sleepers.load(Ordering::SeqCst) != 0 {
            futex::wake(&self.state, i32::MAX);
        }
    }
}

impl<T> Drop for Reader<'_, T> {
    fn drop(&mut self) {
        let before = self.lock.state.fetch_sub(1, Ordering::SeqCst);
        if before & !WANTED == 1 {
            self.lock.wake();
        }
    }
}

impl<T> Drop for Writer<'_, T> {
    fn drop(&mut self) {
        self.lock.state.store(0, Ordering::SeqCst);
        self.lock.wake();
    }
}

impl<T> Deref for Reader<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: no writer exists while this guard lives.
        unsafe { &*self.lock.data.get() }
    }
}

impl<T> Deref for Writer<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the data have no other user while this guard lives.
        unsafe { &*self.lock.data.get() }
    }
}

impl<T> DerefMut for Writer<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above; the guard is borrowed alone.
        unsafe { &mut *self.lock.data.get() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_see_no_half_written_data_and_writers_get_their_turn() {
        let pair = RwLock::new((0_u64, 0_u64));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..5_000 {
                        let mut pair = pair.write();
                        pair.0 += 1;
                        pair.1 += 1;
                    }
                });
                // Readers end only after all writing.
                scope.spawn(|| {
                    loop {
                        let pair = pair.read();
                        assert_eq!(pair.0, pair.1);
                        if pair.0 == 10_000 {
                            break;
                        }
                    }
                });
            }
        });
    }

    #[test]
    fn sleepers_get_a_lock_that_was_freed_without_a_wake_up() {
        let lock = RwLock::new(());
        std::mem::forget(lock.write());
        std::thread::scope(|scope| {
            let sleepers = [
                scope.spawn(|| drop(lock.read())),
                scope.spawn(|| drop(lock.write())),
            ];
            while lock.sleepers.load(Ordering::Relaxed) != 2 {
                std::thread::yield_now();
            }
            lock.state.store(0, Ordering::SeqCst);
            for sleeper in sleepers {
                sleeper.join().unwrap();
            }
        });
    }
}
