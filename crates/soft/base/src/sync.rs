//! Locks, and sleeping until another thread has changed something.
//!
//! Lock order, outermost first: init state, contexts of a device, context streams, graph state, event state,
//! stream queue. The engine's own locks (lane, inbox, record waiters, notify state) are leaves, and
//! so are a stream's route and a context's list of graphs; but while it plays a graph, the engine
//! looks at events. No lock is held while a user's callback runs or while a thread waits for a
//! stream.
//!
//! The locks of the standard library are not used. A program can forbid futex, the system call that wakes a sleeping
//! thread, for one of its threads (seccomp). A sleeper would then sleep for ever where that thread unlocks. Here each
//! sleep ends after [`LONGEST_SLEEP`], and the sleeper looks again. A panic does not poison these locks: it is
//! intercepted at the C boundary and must not take the runtime down.

mod condvar;
mod futex;
mod mutex;
mod rwlock;

pub use condvar::Condvar;
pub use futex::LONGEST_SLEEP;
pub use mutex::{Mutex, MutexGuard, lock};
pub use rwlock::RwLock;
