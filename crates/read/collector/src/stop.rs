//! How the collecting thread learns that the program has ended.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramEnd {
    pub pid: u32,
    /// The status that the tool passes on.
    pub status: i32,
    /// Why the status is not known; empty where it is.
    pub reason: &'static str,
}

/// Set once, by the thread that waited for the program.
#[derive(Default)]
pub struct Stop {
    end: Mutex<Option<ProgramEnd>>,
    changed: Condvar,
}

impl Stop {
    pub fn request(&self, end: ProgramEnd) {
        *self.end.lock().unwrap_or_else(PoisonError::into_inner) = Some(end);
        self.changed.notify_all();
    }

    pub fn requested(&self) -> Option<ProgramEnd> {
        *self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the program has ended.
    pub(crate) fn wait_for_end(&self) {
        let end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        // A thread that panicked with the lock had nothing half done.
        drop(self.changed.wait_while(end, |end| end.is_none()));
    }

    /// Rests for a while, or until the program ends.
    pub fn wait(&self, rest: Duration) {
        let end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        // Whether it was the time or the end, the caller looks again.
        let _ = self
            .changed
            .wait_timeout_while(end, rest, |end| end.is_none());
    }
}
