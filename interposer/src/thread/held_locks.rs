//! Things that the tracer holds in a thread, so that they can be released when a jump leaves its work
//! there.

use core::cell::Cell;
use core::sync::atomic::Ordering::{AcqRel, Release};
use core::sync::atomic::{AtomicBool, AtomicU32};

/// Locks that a thread may hold at one time.
const MOST_HELD: usize = 4;

/// Things that the tracer holds in one thread while it is at work there.
pub(crate) struct ThreadHoldings {
    /// Locks of plain values.
    locks: [Cell<*const AtomicBool>; MOST_HELD],
    /// What counts the thread among those that read by a reference: see [`crate::timing::reference`].
    reader: Cell<Option<&'static AtomicU32>>,
}

impl ThreadHoldings {
    pub(super) const fn new() -> Self {
        Self {
            locks: [const { Cell::new(core::ptr::null()) }; MOST_HELD],
            reader: Cell::new(None),
        }
    }

    /// The thread is counted as a reader, or no longer.
    pub(crate) fn set_reader(&self, readers: Option<&'static AtomicU32>) {
        self.reader.set(readers);
    }

    pub(crate) fn replace(&self, from: *const AtomicBool, to: *const AtomicBool) {
        if let Some(place) = self.locks.iter().find(|place| place.get() == from) {
            place.set(to);
        }
    }

    /// A jump has left the tracer's work in the thread: its locks are free again.
    pub(super) fn release_left(&self) {
        if let Some(readers) = self.reader.take() {
            readers.fetch_sub(1, AcqRel);
        }
        for place in &self.locks {
            let held = place.replace(core::ptr::null());
            // SAFETY: locks that note their holders are in static memory.
            if let Some(held) = unsafe { held.as_ref() } {
                held.store(false, Release);
            }
        }
    }
}

/// Things that a thread's running submission holds. If its call never returns, another thread has to
/// release them.
pub(crate) struct Submitting {
    /// The lane with the turn of this thread, and the word that says that the turn is taken.
    turn: Cell<Option<(usize, &'static AtomicBool)>>,
    /// What counts the unmeasured submissions that are over, for one that is not.
    untimed_submission: Cell<Option<&'static AtomicU32>>,
}

impl Submitting {
    pub(super) const fn new() -> Self {
        Self {
            turn: Cell::new(None),
            untimed_submission: Cell::new(None),
        }
    }

    /// The thread has the turn of a lane, or no turn any more.
    pub(crate) fn set_turn(&self, turn: Option<(usize, &'static AtomicBool)>) {
        self.turn.set(turn);
    }

    /// Whether the thread has the turn of the lane at this address.
    pub(crate) fn has_turn(&self, lane: usize) -> bool {
        self.turn.get().is_some_and(|(turn, _)| turn == lane)
    }

    /// An unmeasured submission has begun, or is over.
    pub(crate) fn set_untimed_submission(&self, over: Option<&'static AtomicU32>) {
        self.untimed_submission.set(over);
    }

    /// The call around the submission has been left.
    pub(super) fn release(&self) {
        if let Some((_, taken)) = self.turn.take() {
            taken.store(false, Release);
        }
        if let Some(over) = self.untimed_submission.take() {
            over.fetch_add(1, AcqRel);
        }
    }

    /// Forgets the parent process's data.
    pub(super) fn forget(&self) {
        self.turn.set(None);
        self.untimed_submission.set(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::Ordering::Relaxed;

    #[test]
    fn a_thread_with_abandoned_work_is_no_reader_any_more() {
        static READERS: AtomicU32 = AtomicU32::new(2);
        let held = ThreadHoldings::new();
        held.set_reader(Some(&READERS));
        held.release_left();
        assert_eq!(READERS.load(Relaxed), 1);
        held.release_left();
        assert_eq!(READERS.load(Relaxed), 1, "once");
    }
}
