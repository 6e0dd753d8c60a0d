//! What measuring keeps per context: its events, and when its device's clock was last read.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

use crate::apart::CacheLinePadded;
use crate::spin::{Guard, SpinLock};
use crate::stream_progress::StreamProgress;
use crate::timing::api::Api;
use crate::timing::pool::Pool;

pub(crate) struct ContextTiming {
    /// The context can be measured: its handle is known and its end has not begun.
    open: AtomicBool,
    /// The device, or what ran in the context, has failed: the runtime is not asked about it any more.
    failed: AtomicBool,
    /// Its events may be references of the device's clock: see [`crate::timing::reference`]. Changes under the
    /// lock of these.
    may_refer: AtomicBool,
    /// Progress of all streams together that the program has seen.
    pub(crate) seen: StreamProgress,
    /// Held by the harvester while it works in the context, which must not end meanwhile.
    visited: SpinLock<()>,
    /// Threads take and give events all the time.
    pool: CacheLinePadded<Pool>,
    /// `CLOCK_MONOTONIC` when its device clock was last compared with the host's.
    pub(crate) anchored: AtomicU64,
    /// Failed comparisons in a row: each makes the next one rarer.
    pub(crate) failures: AtomicU32,
    /// Comparisons in a row that said little or failed: some of them are tried again at once.
    pub(crate) poor: AtomicU32,
    /// How long the shortest comparison took.
    pub(crate) best: AtomicU64,
}

impl ContextTiming {
    pub(crate) const fn new() -> Self {
        Self {
            open: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            may_refer: AtomicBool::new(false),
            seen: StreamProgress::new(),
            visited: SpinLock::new(()),
            pool: CacheLinePadded(Pool::new()),
            anchored: AtomicU64::new(0),
            failures: AtomicU32::new(0),
            poor: AtomicU32::new(0),
            best: AtomicU64::new(u64::MAX),
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.load(Acquire)
    }

    pub(crate) fn open(&self) {
        self.may_refer.store(true, Release);
        self.open.store(true, Release);
    }

    /// Whether a reference may be an event of the context: until the last times before its end have
    /// been read.
    pub(crate) fn may_refer(&self) -> bool {
        self.may_refer.load(Acquire)
    }

    /// From now on no reference is an event of the context, unless it is opened again.
    pub(crate) fn refer_no_more(&self) {
        self.may_refer.store(false, Release);
    }

    /// Ends measuring and waits for the harvester to leave the context.
    pub(crate) fn close(&self) {
        self.open.store(false, Release);
        drop(self.visited.lock_patiently());
    }

    /// The context has failed. Ends measuring.
    pub(crate) fn fail(&self) {
        self.failed.store(true, Release);
        self.close();
    }

    /// The same, from a thread that may be in the context itself.
    pub(crate) fn mark_failed(&self) {
        self.failed.store(true, Release);
        self.open.store(false, Release);
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Acquire)
    }

    /// The context has just been made.
    pub(crate) fn begin(&self) {
        self.failed.store(false, Relaxed);
        self.seen.begin();
    }

    /// The clock of its device has to be compared again.
    pub(crate) fn begin_again(&self) {
        self.anchored.store(0, Relaxed);
        self.failures.store(0, Relaxed);
        self.poor.store(0, Relaxed);
    }

    /// The events have ended, or must not be touched.
    pub(crate) fn forget_events(&self) {
        self.pool.forget();
    }

    /// Keeps the context from ending while the harvester works in it. `None` when it has begun
    /// to end.
    pub(crate) fn visit(&self) -> Option<Guard<'_, ()>> {
        let guard = self.visited.try_lock()?;
        self.is_open().then_some(guard)
    }

    /// An event that is pending nowhere. The context must be current.
    pub(crate) fn take_event(&self, api: &Api) -> Option<u64> {
        self.pool.take(api)
    }

    /// Takes as many events as `room` holds, or as the pool has; one is made if it is empty. Returns
    /// their number. The context must be current.
    pub(crate) fn take_events(&self, api: &Api, room: &mut [u64]) -> usize {
        self.pool.take_several(api, room)
    }

    /// Whether there are as many events as the tool makes: only the runtime can be at fault for fewer.
    pub(crate) fn has_all_events(&self) -> bool {
        self.pool.has_all()
    }

    /// Gives an event back after its time has been read. 0 is no event.
    pub(crate) fn give_event(&self, api: &Api, event: u64) {
        if event == 0 {
            return;
        }
        if let Some(surplus) = self.pool.give(event) {
            api.destroy_event(surplus);
            self.pool.lost(1);
        }
    }

    /// The same for several, none of which is 0.
    pub(crate) fn give_events(&self, api: &Api, events: &[u64]) {
        let taken = self.pool.give_several(events);
        for event in events.iter().skip(taken) {
            self.give_event(api, *event);
        }
    }

    /// An event that is not known to be done is left alone or destroyed.
    pub(crate) fn give_up_event(&self) {
        self.pool.lost(1);
    }

    /// Notes how many events lie idle; with `trim`, destroys some that were not needed for long.
    pub(crate) fn tend_events(&self, api: &Api, trim: bool) {
        self.pool.sample();
        if trim {
            self.pool.trim(api);
        }
    }

    /// Destroys all events that are not pending.
    pub(crate) fn destroy_events(&self, api: &Api) {
        self.pool.destroy(api);
    }

    /// Forgets everything after a fork: the events belong to the parent.
    pub(crate) fn forget(&self) {
        self.visited.break_after_fork();
        self.close();
        self.pool.forget();
        self.anchored.store(0, Relaxed);
        self.best.store(u64::MAX, Relaxed);
    }
}
