//! All lanes: a list that only grows, and who has which.

use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU32, AtomicU64};

use super::{FREE, Lane, Turn, UNREAD};
use crate::memory;
use crate::objects::{ContextEntry, StreamEntry};
use crate::spin::SpinLock;
use crate::timing::auto_choice::Choice;
use crate::timing::budget::Account;
use crate::timing::excess::LastReadTask;
use crate::timing::operations;
use crate::timing::queue::SpscQueue;

static FIRST: AtomicPtr<Lane> = AtomicPtr::new(core::ptr::null_mut());
/// Lanes that are used.
static USED: AtomicU32 = AtomicU32::new(0);

/// How many streams are measured.
pub(crate) fn used() -> u32 {
    USED.load(Relaxed)
}

/// A lane as a reference; lanes live for ever.
pub(super) fn deref(lane: *mut Lane) -> Option<&'static Lane> {
    // SAFETY: lanes in the list and in stream entries are complete and never freed.
    unsafe { lane.as_ref() }
}

/// The lane of a stream, if it has one.
pub(crate) fn known(stream: &StreamEntry) -> Option<&'static Lane> {
    deref(stream.lane.load(Acquire).cast())
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

/// Another session begins. The tasks until then were not followed, and each stream is measured as a new one.
pub(crate) fn begin_again() {
    super::note_unknown();
    all()
        .filter(|lane| lane.is_used())
        .for_each(|lane| lane.choice.forget());
}

/// Whether a look at streams of a context's device changes no result for the program: it has no records
/// there that it has not seen done itself. The runtime that looks at one stream notes finished work on
/// all of its device.
pub(crate) fn is_quiet(context: &ContextEntry) -> bool {
    let device = context.device.load(Relaxed);
    !all().any(|lane| {
        lane.is_used()
            && lane.has_unseen()
            && lane
                .context()
                .is_some_and(|context| context.device.load(Relaxed) == device)
    })
}

/// The lane of a stream; made, or taken over from a stream that has ended, at its first use.
pub(crate) fn of(stream: &StreamEntry, context: &'static ContextEntry) -> Option<&'static Lane> {
    if let Some(lane) = known(stream) {
        return Some(lane);
    }
    let lane = reuse().or_else(make)?;
    USED.fetch_add(1, Relaxed);
    lane.stream.store(stream.serial.load(Relaxed), Relaxed);
    lane.entry
        .store(core::ptr::from_ref(stream).cast_mut(), Relaxed);
    lane.context
        .store(core::ptr::from_ref(context).cast_mut(), Release);
    let raw = core::ptr::from_ref(lane).cast_mut();
    match stream
        .lane
        .compare_exchange(core::ptr::null_mut(), raw.cast(), AcqRel, Acquire)
    {
        Ok(_) => Some(lane),
        Err(other) => {
            lane.release();
            deref(other.cast())
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

/// A new one; `None` where there is no memory.
pub(super) fn make() -> Option<&'static Lane> {
    let made = memory::make(Lane {
        submission: SpinLock::new(Turn::new()),
        untimed_begun: AtomicU32::new(0),
        untimed_ended: AtomicU32::new(0),
        turns: AtomicU32::new(0),
        tidied: AtomicU32::new(0),
        stalled: AtomicU32::new(u32::MAX),
        pending: SpscQueue::new(),
        last_end: AtomicI64::new(UNREAD),
        last_open: AtomicU32::new(0),
        harvesting: AtomicBool::new(false),
        stream: AtomicU32::new(0),
        entry: AtomicPtr::new(core::ptr::null_mut()),
        found: AtomicU64::new(0),
        refused: AtomicU64::new(0),
        refusals: AtomicU32::new(0),
        held: AtomicU64::new(FREE),
        proofs: AtomicPtr::new(core::ptr::null_mut()),
        before: LastReadTask::new(),
        skipped: operations::Lane::new(),
        choice: Choice::new(),
        account: Account::new(),
        context: AtomicPtr::new(core::ptr::null_mut()),
        next: AtomicPtr::new(core::ptr::null_mut()),
        used: AtomicBool::new(true),
        has_run: AtomicBool::new(false),
    })?;
    let raw = made.as_ptr();
    let lane = deref(raw)?;
    let mut first = FIRST.load(Acquire);
    loop {
        lane.next.store(first, Relaxed);
        match FIRST.compare_exchange(first, raw, AcqRel, Acquire) {
            Ok(_) => return Some(lane),
            Err(current) => first = current,
        }
    }
}

/// A lane is not used any more.
pub(super) fn given_back() {
    let _ = USED.fetch_update(Relaxed, Relaxed, |used| used.checked_sub(1));
}
