//! Records: the moments that waits and timestamps are bound to.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use super::Event;
use crate::code::{Outcome, RT_EVENT_SYNC_TIMEOUT, fault};
use crate::device::Lease;
use crate::stream::{Stream, Waited};
use crate::sync::lock;

/// One recording of an event. A wait is bound to the record that was the latest when it was issued.
pub(crate) struct Record {
    /// Identity and flags of the event, for the truth log.
    pub(crate) event: (usize, u32),
    /// The stream and the number of the record task in it; unset while only expected.
    pub(super) place: OnceLock<(Arc<Stream>, u64)>,
    pub(super) id: OnceLock<Arc<Lease>>,
    /// Host time at which it was reached; zero before.
    end_ns: AtomicU64,
    waiters: Mutex<Vec<Arc<Stream>>>,
}

impl Record {
    pub(super) fn new(event: &Event) -> Arc<Self> {
        Arc::new(Self {
            event: (event.handle, event.flags),
            place: OnceLock::new(),
            id: OnceLock::new(),
            end_ns: AtomicU64::new(0),
            waiters: Mutex::default(),
        })
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

    /// The host sees completion: from now on the timestamp is readable.
    pub(super) fn reap(&self) {
        if let Some((stream, seq)) = self.place.get() {
            stream.reap(*seq);
        }
    }

    pub(super) fn is_reaped(&self) -> bool {
        self.place
            .get()
            .is_some_and(|(stream, seq)| stream.is_reaped(*seq))
    }

    pub(super) fn wait(&self, limit: Option<Duration>) -> Outcome {
        let Some((stream, seq)) = self.place.get() else {
            return Ok(());
        };
        match stream.wait_for(*seq, limit) {
            Waited::Done => {
                self.reap();
                Ok(())
            }
            Waited::TimedOut => fault(RT_EVENT_SYNC_TIMEOUT, "the event is not complete yet"),
            Waited::Aborted(code) => fault(code, "the event's stream was aborted"),
        }
    }
}
