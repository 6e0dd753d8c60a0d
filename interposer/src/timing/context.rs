//! What measuring keeps per context: its events, and a reference on its device's clock.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

use crate::spin::{Guard, SpinLock};
use crate::timing::api::Api;
use crate::timing::reference::Reference;

/// Events that a context may have for measuring. Timeline events take no hardware id on current
/// chips, but old ones have few; two per task in a full queue is enough.
const MOST_EVENTS: u32 = 8192;
/// Attempts that are skipped after the runtime refused an event.
const REFUSED_PAUSE: u32 = 1024;

pub(crate) struct ContextTiming {
    /// The context can be measured: its handle is known and its end has not begun.
    open: AtomicBool,
    /// Held by the harvester while it works in the context, which must not end meanwhile.
    visited: SpinLock<()>,
    pool: SpinLock<Pool>,
    pub(crate) reference: SpinLock<Reference>,
    /// `CLOCK_MONOTONIC` when its device clock was last compared with the host's.
    pub(crate) anchored: AtomicU64,
    /// Failed comparisons in a row: each makes the next one rarer.
    pub(crate) failures: AtomicU32,
    /// Comparisons in a row that said little or failed: some of them are tried again at once.
    pub(crate) poor: AtomicU32,
}

struct Pool {
    free: Vec<u64>,
    made: u32,
    pause: u32,
}

impl ContextTiming {
    pub(crate) const fn new() -> Self {
        Self {
            open: AtomicBool::new(false),
            visited: SpinLock::new(()),
            pool: SpinLock::new(Pool {
                free: Vec::new(),
                made: 0,
                pause: 0,
            }),
            reference: SpinLock::new(Reference::new()),
            anchored: AtomicU64::new(0),
            failures: AtomicU32::new(0),
            poor: AtomicU32::new(0),
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.load(Acquire)
    }

    pub(crate) fn open(&self) {
        self.open.store(true, Release);
    }

    /// Ends measuring and waits for the harvester to leave the context.
    pub(crate) fn close(&self) {
        self.open.store(false, Release);
        drop(self.visited.lock_patiently());
    }

    /// Keeps the context from ending while the harvester works in it. `None` when it has begun
    /// to end.
    pub(crate) fn visit(&self) -> Option<Guard<'_, ()>> {
        let guard = self.visited.try_lock()?;
        self.is_open().then_some(guard)
    }

    /// An event that is pending nowhere. The context must be current.
    pub(crate) fn take_event(&self, api: &Api) -> Option<u64> {
        if let Some(event) = self.take_from_pool()? {
            return Some(event);
        }
        // Made outside the lock: the runtime may take its time.
        let event = api.create_event();
        if event.is_none()
            && let Some(mut pool) = self.pool.try_lock()
        {
            pool.made = pool.made.saturating_sub(1);
            pool.pause = REFUSED_PAUSE;
        }
        event
    }

    /// A free event, or leave to make one; `None` when neither is to be had.
    #[expect(clippy::option_option, reason = "three answers")]
    fn take_from_pool(&self) -> Option<Option<u64>> {
        let mut pool = self.pool.try_lock()?;
        if let Some(event) = pool.free.pop() {
            return Some(Some(event));
        }
        if pool.made >= MOST_EVENTS {
            return None;
        }
        if pool.pause > 0 {
            pool.pause = pool.pause.saturating_sub(1);
            return None;
        }
        pool.made = pool.made.saturating_add(1);
        Some(None)
    }

    /// Gives an event back whose time has been read.
    pub(crate) fn give_event(&self, event: u64) {
        if event != 0 {
            self.pool.lock_patiently().free.push(event);
        }
    }

    /// Destroys all events that are not pending.
    pub(crate) fn destroy_events(&self, api: &Api) {
        let reference = self.reference.lock_patiently().take();
        self.give_event(reference);
        let mut pool = self.pool.lock_patiently();
        for event in pool.free.drain(..) {
            api.destroy_event(event);
        }
        pool.made = 0;
        pool.pause = 0;
    }

    /// Forgets everything after a fork: the events belong to the parent.
    pub(crate) fn forget(&self) {
        self.visited.break_after_fork();
        self.close();
        self.pool.break_after_fork();
        self.reference.break_after_fork();
        let mut pool = self.pool.lock_patiently();
        pool.free.clear();
        pool.made = 0;
        self.reference.lock_patiently().take();
        self.anchored.store(0, Relaxed);
    }
}
