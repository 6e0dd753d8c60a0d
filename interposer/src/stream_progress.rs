//! Progress of a stream that the program itself has seen.
//!
//! The runtime returns the time of a record only after a query or a synchronisation has found it done,
//! and a look at a stream makes all of its times readable: those of the program's records as well. So
//! the tool does not look at a stream with records of the program that it has not seen done. Times that
//! the program's calls have proven to be done are read without looking.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use core::sync::atomic::AtomicU32;

/// The program's own view of one stream. Moments are in ticks.
pub(crate) struct StreamProgress {
    /// Before the last record of an event of the program's; 0 for none.
    recorded: AtomicU64,
    /// Whatever was submitted before this has been seen done.
    known: AtomicU64,
    /// Synchronisations of the stream that are under way.
    waiting: AtomicU32,
}

impl StreamProgress {
    pub(crate) const fn new() -> Self {
        Self {
            recorded: AtomicU64::new(0),
            known: AtomicU64::new(0),
            waiting: AtomicU32::new(0),
        }
    }

    /// The stream has just been made.
    pub(crate) fn begin(&self) {
        self.recorded.store(0, Relaxed);
        self.known.store(0, Relaxed);
        self.waiting.store(0, Relaxed);
    }

    /// The program's records until `now` are not known: there may be some that it has not seen done.
    pub(crate) fn begin_again(&self, now: u64) {
        self.known.store(0, Relaxed);
        self.recorded.store(now, Release);
    }

    /// An event of the program's is about to be recorded.
    pub(crate) fn records(&self, ticks: u64) {
        self.recorded.fetch_max(ticks, AcqRel);
    }

    /// The program has seen everything done that was submitted before `until`.
    pub(crate) fn knows(&self, until: u64) {
        self.known.fetch_max(until, Release);
    }

    /// The time before which everything is known to be done.
    pub(crate) fn known(&self) -> u64 {
        self.known.load(Acquire)
    }

    /// Whether the program may have unseen records, when it knows that everything submitted before
    /// `known` is done.
    pub(crate) fn has_unseen(&self, known: u64) -> bool {
        let recorded = self.recorded.load(Acquire);
        recorded != 0 && recorded >= known
    }

    /// A synchronisation of the stream begins.
    pub(crate) fn is_waited_for(&self) {
        self.waiting.fetch_add(1, AcqRel);
    }

    /// A synchronisation is over, or will never be.
    pub(crate) fn is_left(&self) {
        // A stream that was made again meanwhile has none.
        let _ = self
            .waiting
            .fetch_update(AcqRel, Acquire, |count| count.checked_sub(1));
    }

    /// Whether the program is waiting for the stream: some chips hold a lock meanwhile that a query takes.
    pub(crate) fn is_awaited(&self) -> bool {
        self.waiting.load(Acquire) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_unseen_until_the_program_has_looked() {
        let seen = StreamProgress::new();
        assert!(!seen.has_unseen(seen.known()), "nothing was recorded");
        seen.records(10);
        assert!(seen.has_unseen(seen.known()));
        seen.knows(10);
        assert!(
            seen.has_unseen(seen.known()),
            "only what came before it is known"
        );
        seen.knows(11);
        assert!(!seen.has_unseen(seen.known()));
        seen.records(20);
        assert!(seen.has_unseen(seen.known()));
        seen.knows(5);
        assert_eq!(seen.known(), 11, "what is known stays known");
        seen.begin();
        assert!(!seen.has_unseen(seen.known()));
    }
}
