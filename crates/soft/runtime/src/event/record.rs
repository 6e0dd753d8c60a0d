//! Records: the targets of waits, and the times of events.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::device::Lease;
use crate::stream::line::StreamLine;
use crate::sync::{Mutex, lock};
use crate::virtual_time;

/// Handle and flags of an event, which may be gone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventName {
    pub(crate) handle: usize,
    pub(crate) flags: u32,
}

/// One recording of an event. A wait is bound to the record that was the latest when it was issued.
pub(crate) struct Record {
    /// Of the event, for the truth log.
    pub(crate) event: EventName,
    /// The line of its stream and the number of the record task in it; unset while only expected.
    pub(super) place: OnceLock<(Arc<StreamLine>, u64)>,
    pub(super) id: OnceLock<Arc<Lease>>,
    /// Host time at which it was reached; zero before.
    end_ns: AtomicU64,
    was_dropped: AtomicBool,
    /// Handles of the streams that wait for it.
    waiters: Mutex<Vec<usize>>,
}

impl Record {
    pub(super) fn new(event: EventName) -> Arc<Self> {
        Arc::new(Self {
            event,
            place: OnceLock::new(),
            id: OnceLock::new(),
            end_ns: AtomicU64::new(0),
            was_dropped: AtomicBool::new(false),
            waiters: Mutex::default(),
        })
    }

    /// Was it reached, as a query asks it and the calling thread can know?
    pub(super) fn has_ended(&self) -> bool {
        let last = if virtual_time::is_on() {
            virtual_time::now()
        } else {
            u64::MAX
        };
        let ended = self.end_ns().is_some_and(|end| end <= last);
        if !ended {
            self.asked_in_vain();
        }
        ended
    }

    /// A query found that it was not reached.
    pub(super) fn asked_in_vain(&self) {
        if let Some((line, seq)) = self.place.get() {
            line.asked_in_vain(*seq);
        }
    }

    /// Where the task is that reaches it.
    pub(crate) fn settle_place(&self, line: &Arc<StreamLine>, seq: u64) {
        let _ = self.place.set((Arc::clone(line), seq));
    }

    pub(crate) fn end_ns(&self) -> Option<u64> {
        Some(self.end_ns.load(Ordering::Acquire)).filter(|&end| end != 0)
    }

    /// Remembers a stream that waits for this record. Called by the engine only.
    pub(crate) fn notify(&self, stream: usize) {
        // Under the lock, so that a completion by another thread cannot be missed.
        let mut waiters = lock(&self.waiters);
        if !waiters.contains(&stream) && self.end_ns().is_none() {
            waiters.push(stream);
        }
    }

    /// Marks the record as reached and returns who waited: the engine has to look at these.
    pub(crate) fn complete(&self, end_ns: u64) -> Vec<usize> {
        self.end_ns.store(end_ns, Ordering::Release);
        std::mem::take(&mut lock(&self.waiters))
    }

    /// The task is dropped: the record counts as reached, and has no time.
    pub(crate) fn drop_time(&self) {
        self.was_dropped.store(true, Ordering::Release);
    }

    pub(super) fn was_dropped(&self) -> bool {
        self.was_dropped.load(Ordering::Acquire)
    }

    /// The line of the stream that it is on, once its place is known.
    pub(super) fn line(&self) -> Option<&Arc<StreamLine>> {
        self.place.get().map(|(line, _)| line)
    }

    /// The task that reaches it: the handle of its stream and its number there, once they are known.
    pub(crate) fn task(&self) -> Option<(usize, u64)> {
        self.place.get().map(|(line, seq)| (line.handle, *seq))
    }

    /// Does the runtime know that it was reached?
    pub(super) fn is_recycled(&self) -> bool {
        self.place
            .get()
            .is_some_and(|(line, seq)| line.is_recycled(*seq))
    }
}
