//! What measuring keeps per stream: the pairs that are waiting to be read, in order of execution.

use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32};
use std::collections::VecDeque;

use crate::objects::{ContextEntry, StreamEntry};
use crate::spin::SpinLock;

/// Pairs that may wait on one stream: more than its queue is deep.
pub(crate) const MOST_PENDING: usize = 8192;

/// The events around one task.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) start: u64,
    /// The same as `start` for an event record, which takes no time.
    pub(crate) end: u64,
    /// The task's number on its stream; `None` when the submission failed and only the events are
    /// to be had back.
    pub(crate) sequence: Option<u32>,
    /// Ticks at which the submission began.
    pub(crate) entry: u64,
}

/// A stream's side of measuring. Lanes are never freed: the harvester may be looking at one. A
/// lane whose stream has ended is used again by a later stream.
pub(crate) struct Lane {
    /// Held from the start event to the end event, so that no other thread's task comes between.
    pub(crate) submission: SpinLock<()>,
    pub(crate) pending: SpinLock<VecDeque<Pair>>,
    /// Submissions that went past the lock, unmeasured: how many began and how many are over.
    strangers_in: AtomicU32,
    strangers_out: AtomicU32,
    /// Somebody is reading pairs of this lane.
    pub(crate) harvesting: AtomicBool,
    pub(crate) stream: AtomicU32,
    context: AtomicPtr<ContextEntry>,
    next: AtomicPtr<Lane>,
    used: AtomicBool,
}

static FIRST: AtomicPtr<Lane> = AtomicPtr::new(core::ptr::null_mut());

/// A lane as a reference; lanes live for ever.
fn deref(lane: *mut Lane) -> Option<&'static Lane> {
    // SAFETY: pointers in the list and in stream entries come from `Box::leak`.
    unsafe { lane.as_ref() }
}

/// Every lane there is, used or not.
pub(crate) fn all() -> impl Iterator<Item = &'static Lane> {
    let mut next = deref(FIRST.load(Acquire));
    core::iter::from_fn(move || {
        let lane = next?;
        next = deref(lane.next.load(Acquire));
        Some(lane)
    })
}

/// The lane of a stream; made, or taken over from a stream that has ended, at its first use.
pub(crate) fn of(stream: &StreamEntry, context: &'static ContextEntry) -> Option<&'static Lane> {
    if let Some(lane) = deref(stream.lane.load(Acquire)) {
        return Some(lane);
    }
    let lane = reuse().unwrap_or_else(make);
    lane.stream.store(stream.serial.load(Relaxed), Relaxed);
    lane.context
        .store(core::ptr::from_ref(context).cast_mut(), Release);
    let raw = core::ptr::from_ref(lane).cast_mut();
    match stream
        .lane
        .compare_exchange(core::ptr::null_mut(), raw, AcqRel, Acquire)
    {
        Ok(_) => Some(lane),
        Err(other) => {
            lane.release();
            deref(other)
        }
    }
}

fn reuse() -> Option<&'static Lane> {
    all().find(|lane| {
        !lane.used.load(Relaxed)
            && lane
                .used
                .compare_exchange(false, true, Acquire, Relaxed)
                .is_ok()
    })
}

fn make() -> &'static Lane {
    let lane: &'static Lane = Box::leak(Box::new(Lane {
        submission: SpinLock::new(()),
        strangers_in: AtomicU32::new(0),
        strangers_out: AtomicU32::new(0),
        pending: SpinLock::new(VecDeque::with_capacity(64)),
        harvesting: AtomicBool::new(false),
        stream: AtomicU32::new(0),
        context: AtomicPtr::new(core::ptr::null_mut()),
        next: AtomicPtr::new(core::ptr::null_mut()),
        used: AtomicBool::new(true),
    }));
    let raw = core::ptr::from_ref(lane).cast_mut();
    let mut first = FIRST.load(Acquire);
    loop {
        lane.next.store(first, Relaxed);
        match FIRST.compare_exchange(first, raw, AcqRel, Acquire) {
            Ok(_) => return lane,
            Err(current) => first = current,
        }
    }
}

/// An unmeasured submission under way. A task that another thread measures at the same time may
/// have this one between its events, so it must not be believed.
pub(crate) struct Stranger(&'static Lane);

impl Stranger {
    /// `None` when nothing on the stream is measured.
    pub(crate) fn enter(stream: &StreamEntry) -> Option<Self> {
        let lane = deref(stream.lane.load(Acquire))?;
        lane.strangers_in.fetch_add(1, AcqRel);
        Some(Self(lane))
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.0.strangers_out.fetch_add(1, AcqRel);
    }
}

impl Lane {
    /// Strangers so far; `None` while one of them is under way.
    pub(crate) fn strangers(&self) -> Option<u32> {
        let out = self.strangers_out.load(Acquire);
        let count = self.strangers_in.load(Acquire);
        (count == out).then_some(count)
    }

    pub(crate) fn context(&self) -> Option<&'static ContextEntry> {
        // SAFETY: contexts lie in static memory.
        unsafe { self.context.load(Acquire).as_ref() }
    }

    pub(crate) fn is_used(&self) -> bool {
        self.used.load(Acquire)
    }

    /// Whether pairs are waiting; also when that cannot be seen just now.
    pub(crate) fn has_pending(&self) -> bool {
        self.pending
            .try_lock()
            .is_none_or(|pending| !pending.is_empty())
    }

    /// Lets another stream have the lane; its pairs have been read or given up.
    pub(crate) fn release(&self) {
        self.used.store(false, Release);
    }

    /// Forgets everything after a fork.
    pub(crate) fn forget(&self) {
        self.submission.break_after_fork();
        self.pending.break_after_fork();
        self.harvesting.store(false, Relaxed);
        self.pending.lock_patiently().clear();
        let count = self.strangers_in.load(Relaxed);
        self.strangers_out.store(count, Relaxed);
        self.release();
    }
}
