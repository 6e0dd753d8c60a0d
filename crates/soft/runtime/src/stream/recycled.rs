//! The runtime's knowledge of completed tasks.
//!
//! A task's completion is one thing, the runtime's knowledge of it another: the time of an event is
//! available only when its record was recycled. Nothing is recycled by itself. The cause of a look, and
//! its depth, differ by chip (`RecyclingMode`; `seen` has the rules).

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::line::StreamLine;
use crate::clock::{self, spin_until};
use crate::sync::{Mutex, MutexGuard, lock};
use crate::truth::{FinishedTask, Transition};
use crate::{process, virtual_time};
use softacl_options::RecyclingMode;

/// Largest number of records with a time that wait to be recycled, in addition to incomplete ones.
const MOST_TIMED: usize = 1 << 16;

#[derive(Default)]
pub(crate) struct Recycled {
    /// Tasks up to this one are recycled.
    up_to: AtomicU64,
    /// The records with a time that are not, in their order. A leaf among the locks.
    timed: Mutex<VecDeque<u64>>,
    /// A synchronisation holds this during its wait, on chips where other calls would wait for it.
    synchronising: Mutex<()>,
    /// Queries of events that are inside the runtime with nothing but a pointer to the stream.
    queries: AtomicU32,
}

/// A query that looks at a stream without keeping it alive.
pub(crate) struct StreamLook<'a>(&'a StreamLine);

impl Drop for StreamLook<'_> {
    fn drop(&mut self) {
        self.0.recycled.queries.fetch_sub(1, Ordering::AcqRel);
    }
}

pub(super) fn recycling() -> RecyclingMode {
    process::options().chip.recycling()
}

impl StreamLine {
    pub(crate) fn is_recycled(&self, seq: u64) -> bool {
        self.recycled.up_to.load(Ordering::Acquire) >= seq
    }

    /// A record with a time was queued. A program that never looks must not grow.
    pub(crate) fn note_timed(&self, seq: u64) {
        let mut timed = lock(&self.recycled.timed);
        timed.push_back(seq);
        let is_long = timed.len() > MOST_TIMED;
        drop(timed);
        if is_long {
            self.recycle();
        }
    }

    /// Learns which tasks are complete. Returns the number of records with a time among them.
    pub(crate) fn recycle(&self) -> u64 {
        self.recycle_to(self.completed())
    }

    pub(crate) fn recycle_to(&self, seq: u64) -> u64 {
        if self.is_recycled(seq) {
            return 0;
        }
        let mut timed = lock(&self.recycled.timed);
        let count = timed.partition_point(|&record| record <= seq);
        timed.drain(..count);
        self.recycled.up_to.fetch_max(seq, Ordering::AcqRel);
        count as u64
    }

    /// Does the submission of this task make the runtime look?
    pub(crate) fn is_due(&self, seq: u64) -> bool {
        let every = process::options().recycle_every;
        // The engine would look, and it has no clock in virtual time.
        every != 0
            && seq.is_multiple_of(every)
            && !self.is_recycled(seq - 1)
            && !virtual_time::is_on()
    }

    /// Recycles in the calling thread, which copies the time of each record.
    pub(super) fn read_back(&self) {
        let begin = clock::now();
        let count = self.recycle();
        self.spend(begin, process::options().readback_ns * count, count);
    }

    /// The lock of a synchronisation, where a query would wait for it.
    pub(crate) fn hold_synchronising(&self) -> Option<MutexGuard<'_, ()>> {
        let is_shared = matches!(recycling(), RecyclingMode::Caller);
        is_shared.then(|| lock(&self.recycled.synchronising))
    }

    /// Waits for a place of the timeline, as the chips without STARS do: in the calling thread, which
    /// spins and recycles.
    pub(crate) fn wait_for_timeline(&self) {
        let Some(slots) = process::options().chip.timeline_slots() else {
            return;
        };
        while lock(&self.recycled.timed).len() >= slots {
            let first = lock(&self.recycled.timed).front().copied();
            if let Some(first) = first.filter(|_| virtual_time::is_on()) {
                self.wait_for(first, None);
            }
            self.read_back();
            std::thread::yield_now();
        }
    }

    /// Enters the runtime with nothing but a pointer to the stream.
    pub(crate) fn look(&self) -> StreamLook<'_> {
        self.recycled.queries.fetch_add(1, Ordering::AcqRel);
        let look = StreamLook(self);
        let lasts = process::options().query_ns;
        if lasts != 0 {
            spin_until(clock::now() + lasts);
        }
        look
    }

    /// Is a query inside that a destruction of the stream would pull the memory away from?
    pub(crate) fn is_looked_at(&self) -> bool {
        self.recycled.queries.load(Ordering::Acquire) != 0
    }

    /// Keeps the calling thread busy, and notes that in the truth log.
    pub(super) fn spend(&self, begin: u64, cost_ns: u64, entries: u64) {
        if cost_ns == 0 {
            return;
        }
        let end = begin + cost_ns;
        spin_until(end);
        if let Some(truth) = process::truth() {
            truth.add(&FinishedTask {
                device: self.device.id,
                stream_id: self.id,
                seq: entries,
                kind: "completion",
                begin_ns: begin,
                end_ns: end,
                event: None,
                name: None,
                transition: Transition::None,
            });
        }
    }
}
