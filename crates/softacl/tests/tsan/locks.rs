//! The locks of std::sync, made of POSIX locks. ThreadSanitizer knows those; std's own are a part of
//! the precompiled library that it has not instrumented. Only the race check builds this.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

pub use std::sync::{Arc, Once, OnceLock, PoisonError, Weak, atomic};

type Locked<G> = Result<G, PoisonError<G>>;

pub struct RwLock<T> {
    raw: UnsafeCell<libc::pthread_rwlock_t>,
    data: UnsafeCell<T>,
}

// SAFETY: the lock orders all access to the data.
unsafe impl<T: Send> Send for RwLock<T> {}
// SAFETY: as above; readers share the data.
unsafe impl<T: Send + Sync> Sync for RwLock<T> {}

pub struct Reader<'a, T>(&'a RwLock<T>);
pub struct Writer<'a, T>(&'a RwLock<T>);

impl<T> RwLock<T> {
    pub const fn new(data: T) -> Self {
        let raw = UnsafeCell::new(libc::PTHREAD_RWLOCK_INITIALIZER);
        Self {
            raw,
            data: UnsafeCell::new(data),
        }
    }

    pub fn read(&self) -> Locked<Reader<'_, T>> {
        // SAFETY: the lock was initialised and lives as long as the guard.
        unsafe { libc::pthread_rwlock_rdlock(self.raw.get()) };
        Ok(Reader(self))
    }

    pub fn write(&self) -> Locked<Writer<'_, T>> {
        // SAFETY: as above.
        unsafe { libc::pthread_rwlock_wrlock(self.raw.get()) };
        Ok(Writer(self))
    }

    fn unlock(&self) {
        // SAFETY: called once for each guard.
        unsafe { libc::pthread_rwlock_unlock(self.raw.get()) };
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Drop for Reader<'_, T> {
    fn drop(&mut self) {
        self.0.unlock();
    }
}

impl<T> Drop for Writer<'_, T> {
    fn drop(&mut self) {
        self.0.unlock();
    }
}

impl<T> Deref for Reader<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: no writer exists while this guard lives.
        unsafe { &*self.0.data.get() }
    }
}

impl<T> Deref for Writer<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the data have no other user while this guard lives.
        unsafe { &*self.0.data.get() }
    }
}

impl<T> DerefMut for Writer<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.0.data.get() }
    }
}

pub struct Mutex<T> {
    raw: UnsafeCell<libc::pthread_mutex_t>,
    data: UnsafeCell<T>,
}

// SAFETY: the lock orders all access to the data.
unsafe impl<T: Send> Send for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Mutex<T> {}

pub struct MutexGuard<'a, T>(&'a Mutex<T>);

impl<T> Mutex<T> {
    pub const fn new(data: T) -> Self {
        let raw = UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER);
        Self {
            raw,
            data: UnsafeCell::new(data),
        }
    }

    pub fn lock(&self) -> Locked<MutexGuard<'_, T>> {
        // SAFETY: the lock was initialised and lives as long as the guard.
        unsafe { libc::pthread_mutex_lock(self.raw.get()) };
        Ok(MutexGuard(self))
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        // SAFETY: this guard holds the lock.
        unsafe { libc::pthread_mutex_unlock(self.0.raw.get()) };
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the data have no other user while this guard lives.
        unsafe { &*self.0.data.get() }
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.0.data.get() }
    }
}

pub struct Condvar(UnsafeCell<libc::pthread_cond_t>);

// SAFETY: a condition variable is made to be used by several threads.
unsafe impl Send for Condvar {}
// SAFETY: as above.
unsafe impl Sync for Condvar {}

impl Condvar {
    pub const fn new() -> Self {
        Self(UnsafeCell::new(libc::PTHREAD_COND_INITIALIZER))
    }

    pub fn notify_one(&self) {
        // SAFETY: the variable was initialised.
        unsafe { libc::pthread_cond_signal(self.0.get()) };
    }

    pub fn notify_all(&self) {
        // SAFETY: as above.
        unsafe { libc::pthread_cond_broadcast(self.0.get()) };
    }

    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> Locked<MutexGuard<'a, T>> {
        // SAFETY: as above; the guard holds the lock, and holds it again afterwards.
        unsafe { libc::pthread_cond_wait(self.0.get(), guard.0.raw.get()) };
        Ok(guard)
    }

    /// The second part says whether the time ran out.
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        limit: Duration,
    ) -> Locked<(MutexGuard<'a, T>, bool)> {
        // SAFETY: the clock fills the plain data in; the rest is as above.
        let timed_out = unsafe {
            let mut end = std::mem::zeroed::<libc::timespec>();
            libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut end);
            let nanos = end.tv_nsec as u64 + u64::from(limit.subsec_nanos());
            end.tv_sec += limit.as_secs() as i64 + (nanos / 1_000_000_000) as i64;
            end.tv_nsec = (nanos % 1_000_000_000) as i64;
            libc::pthread_cond_timedwait(self.0.get(), guard.0.raw.get(), &raw const end) != 0
        };
        Ok((guard, timed_out))
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}
