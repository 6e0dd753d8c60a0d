//! What measuring keeps per stream: the pairs that are waiting to be read, in order of execution.

use core::num::NonZeroU64;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU32, AtomicU64};

use ascend_trace_ring::ticks::monotonic;

use crate::objects::{ContextEntry, StreamEntry};
use crate::spin::{Guard, SpinLock};
use crate::thread::ThreadState;
use crate::timing::api::Api;
use crate::timing::auto_choice::Choice;
use crate::timing::budget::Account;
use crate::timing::chip;
use crate::timing::event_cache::Stash;
use crate::timing::excess::{LastReadTask, Stretches};
use crate::timing::operations;
use crate::timing::pair::Pair;
use crate::timing::proofs::Proofs;
use crate::timing::queue::SpscQueue;
use crate::timing::queue_slots::Slots;
use crate::timing::runs::Runs;
use crate::{memory, syscall_policy, thread};

mod list;

pub(crate) use list::{all, begin_again, is_quiet, known, of, used};

/// Pairs that may wait on one stream: more than its queue is deep.
pub(crate) const MOST_PENDING: usize = 8192;
/// From this number on, some are done: a thread that adds a pair reads a few.
pub(crate) const MANY_UNREAD: usize = 2048;

/// How long a thread waits for one submission of another to the same stream: that is a few calls
/// of the runtime, unless the other has lost its processor or the stream's queue is full.
const TURN_NS: u64 = 50_000;
/// How long it then waits for tasks that are submitted without a turn: well below that, so that no
/// thread stops waiting for this one meanwhile.
const STRANGERS_NS: u64 = 20_000;
/// How long it waits for all that are before it.
const ALL_TURNS_NS: u64 = 500_000;

/// Data for the thread with the turn to submit.
pub(crate) struct Turn {
    pub(crate) stash: Stash,
    pub(crate) slots: Slots,
    pub(crate) stretches: Stretches,
    /// Tasks since the last one with a second record behind it.
    pub(crate) since_behind: u32,
    /// The end event of a pair, if nothing was submitted after it.
    pub(crate) chain: Option<Link>,
    pub(crate) runs: Runs,
}

/// The end event of a pair that may be the begin of the next task.
#[derive(Clone, Copy)]
pub(crate) struct Link {
    /// Unmeasured submissions until then, and calls of unknown functions.
    pub(crate) others: (u32, u32),
    /// The tick after its submission.
    closed: NonZeroU64,
}

impl Link {
    pub(crate) fn new(others: (u32, u32), closed: u64) -> Option<Self> {
        let closed = NonZeroU64::new(closed)?;
        Some(Self { others, closed })
    }

    /// Whether its event was submitted no earlier than this.
    pub(crate) fn is_since(self, known: u64) -> bool {
        self.closed.get() >= known
    }
}

impl Turn {
    const fn new() -> Self {
        Self {
            stash: Stash::new(),
            slots: Slots::new(),
            stretches: Stretches::new(),
            since_behind: 0,
            chain: None,
            runs: Runs::new(),
        }
    }

    /// The lane has another stream, or belongs to another process.
    fn forget(&mut self) {
        self.stash.forget();
        self.slots.forget();
        self.stretches = Stretches::new();
        self.chain = None;
        self.runs.forget();
    }
}

/// A look at the waiting pairs, while they have no reader.
pub(crate) struct Look<'l> {
    lane: &'l Lane,
    taken: u64,
}

impl Look<'_> {
    /// Whether the pair at this place has been read.
    pub(crate) fn is_read(&self, place: u64) -> bool {
        place < self.taken
    }
}

impl Drop for Look<'_> {
    fn drop(&mut self) {
        self.lane.harvesting.store(false, Release);
    }
}

/// Timing state of a stream. Lanes are never freed: the harvester may be looking at one. A lane of an
/// ended stream is used again by a later stream. No cache line has parts of two lanes.
#[repr(align(64))]
pub(crate) struct Lane {
    /// Held from the start event to the end event, so that no other thread's task comes between;
    /// with the events for the next tasks.
    submission: SpinLock<Turn>,
    /// Submissions that have had their turn.
    turns: AtomicU32,
    /// How many there had been when events at hand were last looked after.
    tidied: AtomicU32,
    /// The turn that a thread waited for without success: no other thread waits for it.
    stalled: AtomicU32,
    /// Who holds `submission` puts in, who has set `harvesting` takes out.
    pub(crate) pending: SpscQueue<Pair>,
    /// Device time at the end of the pair that was read last, `UNREAD` when it is not known. For
    /// who has set `harvesting`.
    pub(crate) last_end: AtomicI64,
    /// The runtime's resolution of that time.
    pub(crate) last_open: AtomicU32,
    /// Submissions that went past the lock, unmeasured: how many began and how many are over.
    untimed_begun: AtomicU32,
    untimed_ended: AtomicU32,
    /// Somebody is reading pairs of this lane.
    pub(crate) harvesting: AtomicBool,
    pub(crate) stream: AtomicU32,
    entry: AtomicPtr<StreamEntry>,
    /// Ticks: a query of the tool has shown that earlier pairs are done, and their times can be read.
    found: AtomicU64,
    /// The proof when the runtime refused a time that should have existed, and the number of such
    /// refusals for the pair. For the thread that has set `harvesting`.
    pub(crate) refused: AtomicU64,
    pub(crate) refusals: AtomicU32,
    /// The number of pairs when its stream last got a wait for a record that was not submitted yet;
    /// `FREE` without one.
    held: AtomicU64,
    /// Synchronisations after which times were left to be read. For the thread that has set `harvesting`.
    pub(crate) proofs: AtomicPtr<Proofs>,
    /// The task that was read last. For who has set `harvesting`.
    pub(crate) before: LastReadTask,
    /// Its last tasks without events.
    pub(crate) skipped: operations::Lane,
    /// The manner of timing its tasks, where it is chosen automatically.
    pub(crate) choice: Choice,
    /// What their events may take.
    pub(crate) account: Account,
    context: AtomicPtr<ContextEntry>,
    /// The next one in the list of all.
    next: AtomicPtr<Lane>,
    used: AtomicBool,
    /// A run of tasks has begun: the next other submission ends it.
    pub(crate) has_run: AtomicBool,
}

/// No device time.
pub(crate) const UNREAD: i64 = i64::MIN;

/// The stream of a lane waits for nothing that the program has not submitted yet.
const FREE: u64 = u64::MAX;

/// Whether a thread has the turn of this stream.
pub(crate) fn has_turn(state: &ThreadState, stream: &StreamEntry) -> bool {
    state
        .submission
        .has_turn(stream.lane.load(Acquire) as usize)
}

/// An unmeasured submission under way. A task that another thread measures at the same time may
/// have this one between its events, so it must not be believed.
pub(crate) struct UntimedSubmission(&'static Lane);

impl UntimedSubmission {
    /// `None` when nothing on the stream is measured.
    pub(crate) fn enter(stream: &StreamEntry) -> Option<Self> {
        let lane = list::known(stream)?;
        lane.untimed_begun.fetch_add(1, AcqRel);
        thread::with(|state| {
            state
                .submission
                .set_untimed_submission(Some(&lane.untimed_ended))
        });
        Some(Self(lane))
    }
}

impl Drop for UntimedSubmission {
    fn drop(&mut self) {
        thread::with(|state| state.submission.set_untimed_submission(None));
        self.0.untimed_ended.fetch_add(1, AcqRel);
    }
}

/// Something unmeasured comes onto a stream as part of another stream's task.
pub(crate) fn pass(stream: &StreamEntry) {
    if let Some(lane) = list::known(stream) {
        lane.untimed_begun.fetch_add(1, AcqRel);
        lane.untimed_ended.fetch_add(1, AcqRel);
    }
}

/// Calls of functions below AscendCL that no table knows: each may have submitted anything to any stream.
static UNKNOWN: AtomicU32 = AtomicU32::new(0);

/// Number of such calls.
pub(crate) fn unknown_calls() -> u32 {
    UNKNOWN.load(Acquire)
}

/// Such a call is made, or has returned.
pub(crate) fn note_unknown() {
    UNKNOWN.fetch_add(1, AcqRel);
}

/// Nobody else reads times of the lane: the runtime is about to take its stream apart, and a question
/// about it would find it gone.
pub(crate) struct KeptOut(&'static Lane);

impl KeptOut {
    pub(crate) fn lane(&self) -> &'static Lane {
        self.0
    }
}

impl Drop for KeptOut {
    fn drop(&mut self) {
        self.0.harvesting.store(false, Release);
    }
}

impl Lane {
    /// A thread has the turn: what holds that if the call is left.
    pub(crate) fn noted(&'static self) -> (usize, &'static AtomicBool) {
        (core::ptr::from_ref(self) as usize, self.submission.taken())
    }

    /// Number of untimed submissions; `None` while one of them is running.
    pub(crate) fn untimed(&self) -> Option<u32> {
        let out = self.untimed_ended.load(Acquire);
        let count = self.untimed_begun.load(Acquire);
        (count == out).then_some(count)
    }

    /// Number of untimed submissions, for the thread with the turn. It waits for running ones, but not for long:
    /// others come only while the turn cannot be waited for.
    pub(crate) fn count_untimed(&self) -> Option<u32> {
        if let Some(count) = self.untimed() {
            return Some(count);
        }
        let begin = monotonic();
        while monotonic().wrapping_sub(begin) < STRANGERS_NS {
            syscall_policy::yield_now();
            if let Some(count) = self.untimed() {
                return Some(count);
            }
        }
        None
    }

    /// A look at the waiting pairs; `None` while they have a reader.
    pub(crate) fn look(&self) -> Option<Look<'_>> {
        if self.harvesting.swap(true, Acquire) {
            return None;
        }
        let (_, taken) = self.pending.counts();
        Some(Look { lane: self, taken })
    }

    /// Synchronisations after which times were left to be read. For the thread that has set `harvesting`.
    pub(crate) fn proofs(&self) -> Option<&Proofs> {
        // SAFETY: proofs that were stored are never freed.
        unsafe { self.proofs.load(Relaxed).as_ref() }
    }

    /// The same, made if need be; `None` without memory.
    pub(crate) fn proofs_or_new(&self) -> Option<&Proofs> {
        if self.proofs.load(Relaxed).is_null() {
            let made = memory::make(Proofs::new())?;
            self.proofs.store(made.as_ptr(), Relaxed);
        }
        self.proofs()
    }

    pub(crate) fn context(&self) -> Option<&'static ContextEntry> {
        // SAFETY: contexts are in static memory.
        unsafe { self.context.load(Acquire).as_ref() }
    }

    /// The stream that it is of. Must not be asked once that has ended.
    pub(crate) fn entry(&self) -> Option<&'static StreamEntry> {
        // SAFETY: stream entries are in static memory.
        unsafe { self.entry.load(Acquire).as_ref() }
    }

    /// Whatever was submitted to its stream before this, in ticks, was seen done by the program.
    pub(crate) fn known(&self) -> u64 {
        let of_context = self
            .context()
            .map_or(0, |context| context.timing.seen.known());
        let of_stream = self.entry().map_or(0, |stream| stream.seen.known());
        of_context.max(of_stream)
    }

    /// Ticks: times of earlier pairs can be read.
    pub(crate) fn readable(&self) -> u64 {
        self.known().max(self.found.load(Acquire))
    }

    /// A query of the tool has shown that all pairs are done that were submitted before `until`.
    pub(crate) fn finds(&self, until: u64) {
        if chip::tells_by_query() {
            self.found.fetch_max(until, AcqRel);
        }
    }

    /// Whether the program has records on the stream that it has not seen done itself.
    fn has_unseen(&self) -> bool {
        let known = self.known();
        self.entry()
            .is_some_and(|stream| stream.seen.has_unseen(known))
    }

    /// Whether a look at the stream changes no result for the program; see [`is_quiet`].
    pub(crate) fn may_be_looked_at(&self) -> bool {
        self.context().is_some_and(is_quiet)
    }

    /// Whether a query about the stream could wait for a synchronisation of the program.
    pub(crate) fn is_locked(&self) -> bool {
        chip::query_may_wait() && self.is_awaited()
    }

    /// Whether the program is waiting for the stream, or for all.
    fn is_awaited(&self) -> bool {
        let context = self.context();
        context.is_some_and(|context| context.timing.seen.is_awaited())
            || self.entry().is_some_and(|stream| stream.seen.is_awaited())
    }

    /// Keeps all threads from reading times of the lane, and waits for a present reader, this number of
    /// half milliseconds. `None` after that: a reader that a signal handler has jumped out of never
    /// returns.
    pub(crate) fn keep_out(&'static self, rounds: &mut u32) -> Option<KeptOut> {
        while self.harvesting.swap(true, Acquire) {
            *rounds = rounds.checked_sub(1)?;
            syscall_policy::pause();
        }
        Some(KeptOut(self))
    }

    /// Its stream gets a wait for a record that the program has not submitted yet. Later tasks fill the
    /// queue until the program submits it.
    pub(crate) fn hold(&self) {
        self.held.store(self.pending.counts().0, Relaxed);
    }

    /// Number of pairs since the stream waits for a record that the program has not submitted, if
    /// known; 0 without such a wait.
    pub(crate) fn pairs_held(&self) -> u64 {
        let held = self.held.load(Relaxed);
        if held == FREE {
            return 0;
        }
        let (put, taken) = self.pending.counts();
        if taken > held {
            self.held.store(FREE, Relaxed);
            return 0;
        }
        put.saturating_sub(held)
    }

    pub(crate) fn is_used(&self) -> bool {
        self.used.load(Acquire)
    }

    /// Whether pairs are waiting.
    pub(crate) fn has_pending(&self) -> bool {
        self.pending.len() > 0
    }

    /// The turn to submit. Another thread's submission is waited for, but not for long: `None`
    /// when it takes its time.
    pub(crate) fn turn(&self) -> Option<Guard<'_, Turn>> {
        let guard = self
            .submission
            .try_lock()
            .or_else(|| self.wait_for_turn())?;
        // Whoever has the turn counts, so this needs no locked instruction.
        let turns = self.turns.load(Relaxed).wrapping_add(1);
        self.turns.store(turns, Relaxed);
        Some(guard)
    }

    /// The turn, if it is free.
    pub(crate) fn free_turn(&self) -> Option<Guard<'_, Turn>> {
        let guard = self.submission.try_lock()?;
        let turns = self.turns.load(Relaxed).wrapping_add(1);
        self.turns.store(turns, Relaxed);
        Some(guard)
    }

    #[cold]
    fn wait_for_turn(&self) -> Option<Guard<'_, Turn>> {
        let begin = monotonic();
        let (mut turn, mut since) = (self.turns.load(Relaxed), begin);
        loop {
            if self.stalled.load(Relaxed) == turn {
                return None;
            }
            syscall_policy::yield_now();
            if let Some(guard) = self.submission.try_lock() {
                return Some(guard);
            }
            let now = monotonic();
            let next = self.turns.load(Relaxed);
            if next != turn {
                (turn, since) = (next, now);
            } else if now.wrapping_sub(since) >= TURN_NS {
                self.stalled.store(turn, Relaxed);
            }
            if now.wrapping_sub(begin) >= ALL_TURNS_NS {
                return None;
            }
        }
    }

    /// Gives the events that it has at hand back to their context. The stream, or the context, has
    /// ended or is about to: a thread that submits to it now may keep them.
    pub(crate) fn empty_stash(&self, context: &ContextEntry, api: &Api) {
        if let Some(mut turn) = self.turn() {
            turn.stash.empty(context, api);
            turn.forget();
            // SAFETY: only who has the turn puts in.
            unsafe { self.pending.free_spare() };
        }
    }

    /// Forgets the events at hand: their context has failed.
    pub(crate) fn forget_stash(&self) {
        if let Some(mut turn) = self.turn() {
            turn.forget();
        }
    }

    /// Gives events at hand back when nothing was submitted since the last time.
    pub(crate) fn tidy(&self, context: &ContextEntry, api: &Api) {
        let turns = self.turns.load(Relaxed);
        if self.tidied.swap(turns, Relaxed) == turns
            && let Some(mut turn) = self.submission.try_lock()
        {
            turn.stash.empty(context, api);
            // SAFETY: only who has the turn puts in.
            unsafe { self.pending.free_spare() };
        }
    }

    /// Lets another stream have the lane; its pairs have been read or given up.
    pub(crate) fn release(&self) {
        self.last_end.store(UNREAD, Relaxed);
        self.found.store(0, Relaxed);
        self.refused.store(0, Relaxed);
        self.refusals.store(0, Relaxed);
        self.choice.forget();
        self.account.forget();
        self.before.forget();
        if let Some(proofs) = self.proofs() {
            proofs.forget();
        }
        self.has_run.store(false, Relaxed);
        self.skipped.take();
        self.held.store(FREE, Relaxed);
        if self.used.swap(false, Release) {
            list::given_back();
        }
    }

    /// Forgets everything after a fork.
    pub(crate) fn forget(&self) {
        self.submission.break_after_fork();
        self.submission.lock_patiently().forget();
        self.pending.forget();
        self.harvesting.store(false, Relaxed);
        let count = self.untimed_begun.load(Relaxed);
        self.untimed_ended.store(count, Relaxed);
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_that_takes_its_time_is_given_up_and_the_next_one_waited_for_again() {
        let lane = list::make().unwrap();
        let turn = lane.turn();
        assert!(turn.is_some());
        assert!(lane.turn().is_none(), "it gives up while the turn lasts");
        assert_eq!(lane.stalled.load(Relaxed), lane.turns.load(Relaxed));
        assert!(lane.turn().is_none());
        drop(turn);
        let next = lane.turn();
        assert!(next.is_some());
        assert!(lane.free_turn().is_none());
        assert_ne!(lane.stalled.load(Relaxed), lane.turns.load(Relaxed));
    }

    /// A lane takes most of the memory of a stream that is hardly used, and a program may have thousands.
    #[test]
    fn a_lane_is_no_larger_than_eleven_cache_lines() {
        assert!(size_of::<Lane>() <= 704, "{}", size_of::<Lane>());
    }

    #[test]
    fn submissions_without_a_turn_are_distinguished_and_waited_for() {
        let lane = list::make().unwrap();
        assert_eq!(lane.count_untimed(), Some(0));
        lane.untimed_begun.fetch_add(1, AcqRel);
        let untimed_submission = UntimedSubmission(lane);
        assert_eq!(lane.count_untimed(), None);
        std::thread::scope(|scope| {
            scope.spawn(move || drop(untimed_submission));
        });
        assert_eq!(lane.count_untimed(), Some(1));
    }
}
