//! Records: the moments that waits and timestamps are bound to.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use super::Event;
use crate::code::{Outcome, RT_EVENT_SYNC_TIMEOUT, fault};
use crate::device::Lease;
use crate::stream::{Stream, Waited};
use crate::sync::lock;
use crate::virtual_time;

/// One recording of an event. A wait is bound to the record that was the latest when it was issued.
pub(crate) struct Record {
    /// Identity and flags of the event, for the truth log.
    pub(crate) event: (usize, u32),
    /// The stream and the number of the record task in it; unset while only expected.
    pub(super) place: OnceLock<(Arc<Stream>, u64)>,
    pub(super) id: OnceLock<Arc<Lease>>,
    /// Host time at which it was reached; zero before.
    end_ns: AtomicU64,
    was_dropped: AtomicBool,
    waiters: Mutex<Vec<Arc<Stream>>>,
}

impl Record {
    pub(super) fn new(event: &Event) -> Arc<Self> {
        Arc::new(Self {
            event: (event.handle, event.flags),
            place: OnceLock::new(),
            id: OnceLock::new(),
            end_ns: AtomicU64::new(0),
            was_dropped: AtomicBool::new(false),
            waiters: Mutex::default(),
        })
    }

    /// Was it reached, as the calling thread can know?
    pub(super) fn has_ended(&self) -> bool {
        let last = if virtual_time::is_on() {
            virtual_time::now()
        } else {
            u64::MAX
        };
        self.end_ns().is_some_and(|end| end <= last)
    }

    /// Where the task is that reaches it.
    pub(crate) fn settle_place(&self, stream: &Arc<Stream>, seq: u64) {
        let _ = self.place.set((Arc::clone(stream), seq));
    }

    pub(crate) fn end_ns(&self) -> Option<u64> {
        Some(self.end_ns.load(Ordering::Acquire)).filter(|&end| end != 0)
    }

    /// Remembers a stream that waits for this record. Called by the engine only.
    pub(crate) fn notify(&self, stream: &Arc<Stream>) {
        // Under the lock, so that a completion by another thread cannot be missed.
        let mut waiters = lock(&self.waiters);
        let is_known = waiters.iter().any(|other| Arc::ptr_eq(other, stream));
        if !is_known && self.end_ns().is_none() {
            waiters.push(Arc::clone(stream));
        }
    }

    /// Marks the record as reached and returns who waited: the engine has to look at these.
    pub(crate) fn complete(&self, end_ns: u64) -> Vec<Arc<Stream>> {
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

    /// The stream that it is on, once its place is known.
    pub(super) fn stream(&self) -> Option<&Arc<Stream>> {
        self.place.get().map(|(stream, _)| stream)
    }

    /// Does the runtime know that it was reached?
    pub(super) fn is_recycled(&self) -> bool {
        self.place
            .get()
            .is_some_and(|(stream, seq)| stream.is_recycled(*seq))
    }

    pub(super) fn wait(&self, limit: Option<Duration>) -> Outcome {
        let Some((stream, seq)) = self.place.get() else {
            return Ok(());
        };
        if self.is_recycled() && !virtual_time::is_on() {
            return Ok(());
        }
        let waited = {
            let _alone = stream.hold_synchronising();
            stream.wait_for(*seq, limit)
        };
        stream.seen_by_wait();
        match waited {
            Waited::Done => Ok(()),
            Waited::TimedOut => fault(RT_EVENT_SYNC_TIMEOUT, "the event is not complete yet"),
            Waited::Aborted(code) => fault(code, "the event's stream was aborted"),
        }
    }
}
