//! Tasks with a waiter: with `order=adversarial`, a task may not run before that.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::line::StreamLine;
use crate::engine::bell;
use crate::{clock, process};

/// Number of queries of a stream that may find something incomplete before they count as a wait: a
/// program that polls has to end.
const MOST_QUERIES: u32 = 16;

/// Wait targets in a stream.
#[derive(Default)]
pub(super) struct Demand {
    /// All tasks up to this one.
    up_to: AtomicU64,
    /// The time of the latest call that asked for some.
    at_ns: AtomicU64,
    queries: AtomicU32,
}

impl StreamLine {
    /// The calling thread is about to wait for the task.
    pub(crate) fn demand(&self, seq: u64) {
        if process::is_adversarial() && seq > self.demanded() {
            self.demand.at_ns.fetch_max(clock::now(), Ordering::AcqRel);
            self.expect(seq);
            bell::get().ring();
        }
    }

    /// It is about to wait for all that was submitted.
    pub(crate) fn demand_all(&self) {
        self.demand(self.submitted_so_far());
    }

    /// Somebody may wait for the task, at no time that is known.
    pub(crate) fn expect(&self, seq: u64) {
        self.demand.up_to.fetch_max(seq, Ordering::AcqRel);
    }

    /// The last task that is waited for.
    pub(crate) fn demanded(&self) -> u64 {
        self.demand.up_to.load(Ordering::Acquire)
    }

    /// When the calling thread knew last that it would wait.
    pub(crate) fn demanded_at(&self) -> u64 {
        self.demand.at_ns.load(Ordering::Acquire)
    }

    /// Is the task complete, as a query asks it?
    pub(crate) fn is_found_complete(&self, seq: u64) -> bool {
        let complete = self.has_completed(seq);
        if !complete {
            self.asked_in_vain(seq);
        }
        complete
    }

    /// A query found the task incomplete.
    pub(crate) fn asked_in_vain(&self, seq: u64) {
        if process::is_adversarial()
            && self.demand.queries.fetch_add(1, Ordering::AcqRel) % MOST_QUERIES == MOST_QUERIES - 1
        {
            self.demand(seq);
        }
    }
}
