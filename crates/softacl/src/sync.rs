//! Locking without poison: a panic is caught at the C boundary and must not take the runtime down.
//!
//! Lock order, outermost first: init state, contexts of a device, context streams, graph state, event state,
//! stream queue. The engine's own locks (lane, inbox, record waiters, notify state) are leaves, and
//! so are a stream's route and a context's list of graphs; but while it plays a graph, the engine
//! looks at events. No lock is held while a user's callback runs or while a thread waits for a
//! stream.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
