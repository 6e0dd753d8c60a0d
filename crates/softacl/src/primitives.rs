//! The synchronisation that `inlet` and `progress` are built from. The tests compile those two
//! files a second time with loom's types in this place, which try every interleaving.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering, fence};
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

pub(crate) use crate::sync::lock;
