//! Sleeping until another thread says that something has changed.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::futex::{self, LONGEST_SLEEP};
use super::mutex::MutexGuard;

#[derive(Default)]
pub struct Condvar {
    changes: AtomicU32,
}

impl Condvar {
    pub const fn new() -> Self {
        Self {
            changes: AtomicU32::new(0),
        }
    }

    pub fn notify_one(&self) {
        self.notify(1);
    }

    pub fn notify_all(&self) {
        self.notify(i32::MAX);
    }

    fn notify(&self, number: i32) {
        self.changes.fetch_add(1, Ordering::Relaxed);
        futex::wake(&self.changes, number);
    }

    /// Sleeps, at most for this time. It may return earlier for no reason: the caller looks again.
    pub fn sleep<'a, T>(&self, guard: MutexGuard<'a, T>, limit: Duration) -> MutexGuard<'a, T> {
        // Under the lock: a change that the caller has not seen comes after this.
        let changes = self.changes.load(Ordering::Relaxed);
        guard.without(|| futex::sleep(&self.changes, changes, limit))
    }

    /// Sleeps while the condition is true, at most for this time. The second part says whether the time is over and the
    /// condition still true.
    pub fn sleep_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        limit: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> (MutexGuard<'a, T>, bool) {
        let begin = Instant::now();
        while condition(&mut guard) {
            let left = limit.saturating_sub(begin.elapsed());
            if left.is_zero() {
                return (guard, true);
            }
            guard = self.sleep(guard, left.min(LONGEST_SLEEP));
        }
        (guard, false)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Mutex, lock};
    use super::*;

    const LONG: Duration = Duration::from_secs(1000);

    #[test]
    fn a_change_ends_the_sleep() {
        let (mutex, changed) = (Mutex::new(0), Condvar::new());
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let (mut number, timed_out) =
                        changed.sleep_while(lock(&mutex), LONG, |number| *number == 0);
                    assert!(!timed_out);
                    *number += 1;
                });
            }
            *lock(&mutex) = 1;
            changed.notify_all();
        });
        assert_eq!(*lock(&mutex), 4);
    }

    #[test]
    fn a_change_without_a_notice_is_seen_as_well() {
        let (mutex, changed) = (Mutex::new(false), Condvar::new());
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| {
                changed
                    .sleep_while(lock(&mutex), LONG, |is_done| !*is_done)
                    .1
            });
            *lock(&mutex) = true;
            assert!(!sleeper.join().unwrap());
        });
    }

    #[test]
    fn the_limit_ends_the_sleep() {
        let (mutex, changed) = (Mutex::new(()), Condvar::new());
        let limit = Duration::from_millis(5);
        assert!(changed.sleep_while(lock(&mutex), limit, |()| true).1);
    }
}
