//! The synchronisation that `inlet` and `progress` are built from. The tests compile those two
//! files a second time with loom's types in this place, which try every interleaving.

use std::time::Duration;

pub(crate) use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering, fence};

pub(crate) use crate::sync::{Condvar, Mutex, MutexGuard, lock};

/// Sleeps until a notice, at most for this time. It may return earlier for no reason.
pub(crate) fn sleep<'a, T>(
    changed: &Condvar,
    guard: MutexGuard<'a, T>,
    limit: Duration,
) -> MutexGuard<'a, T> {
    changed.sleep(guard, limit)
}
