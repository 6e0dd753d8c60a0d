//! Decides whether a call may take the fast path, and handles the obstacles if not.
//!
//! The tracer's own work in a thread is not re-entrant. A signal handler that interrupts it and calls
//! AscendCL finds the gate closed: its calls are put aside ([`super::spill`]) and written when that work
//! is done. A handler may also jump out, and the work is never done: the next call finds that out by
//! the stack.

use core::hint::black_box;
use core::sync::atomic::Ordering::SeqCst;
use core::sync::atomic::compiler_fence;

use super::{Channel, ThreadState};
use crate::clock::ticks;
use crate::{session, syscall_policy};
use ascend_trace_format::record::RecordKind;

/// A call is under way. Lowest, since [`ThreadState::depth`] adds it.
pub(super) const INSIDE: u32 = 1;
/// The thread has no channel yet.
const NEW: u32 = 2;
/// Calls are measured; see [`crate::meter`].
const SAMPLING: u32 = 4;
/// The thread may be cancelled at any instruction: it must hold nothing of the tool.
const FRAGILE: u32 = 8;
/// Calls were put aside.
const SPILLED: u32 = 16;
/// The thread is the tool's own.
const OWN: u32 = 32;
/// The thread must not read the processor's counter, nor make system calls.
const BLIND: u32 = 64;
/// The tracer, at work in this thread, has called the runtime.
const ASKING: u32 = 128;
/// The tracer itself is at work in this thread.
pub(super) const BUSY: u32 = 256;
/// It is at the end of a call on the fast path: [`super::fast`] has its place on the stack.
pub(super) const FAST: u32 = 512;
/// The thread has no channel, or none any more.
const CHANNELLESS: u32 = 1024;

/// State of a new thread.
pub(super) const AT_FIRST: u32 = NEW | CHANNELLESS;

/// Neither is an obstacle, except on the fast path.
const HARMLESS: u32 = INSIDE | CHANNELLESS;

/// What becomes of a call that has been entered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It is recorded.
    Straight,
    /// It came while the tracer was at work: it is put aside.
    Inside,
    /// It must not be recorded, or has been counted as lost.
    Past,
}

/// Lives on the stack while the tracer is at work, which shows that it is.
pub(crate) struct AtWork(u64);

impl AtWork {
    /// `mark` is a number that no other work of the thread's has.
    #[inline(always)]
    pub(crate) fn new(mark: u64) -> Self {
        Self(mark)
    }
}

/// Lives during a call of the tracer to the runtime: the calls of the runtime below AscendCL are not
/// the program's then.
pub(crate) struct Asking {
    /// The runtime has called the program back, and that has led here.
    was: bool,
}

impl Asking {
    #[inline]
    pub(crate) fn begin() -> Self {
        super::with(|state| {
            let was = state.is_asking();
            state.set(ASKING, true);
            Self { was }
        })
    }
}

impl Drop for Asking {
    #[inline]
    fn drop(&mut self) {
        super::with(|state| state.set(ASKING, self.was));
    }
}

impl ThreadState {
    /// Whether the tracer has called the runtime in this thread.
    #[inline]
    pub(crate) fn is_asking(&self) -> bool {
        self.gate.get() & ASKING != 0
    }

    /// Whether a call has no obstacle.
    #[inline(always)]
    pub(crate) fn is_clear(&self) -> bool {
        self.gate.get() & !HARMLESS == 0
    }

    /// Whether recording a returning call has no obstacle.
    #[inline(always)]
    pub(crate) fn is_clear_to_leave(&self) -> bool {
        self.gate.get() & !(SAMPLING | HARMLESS) == 0
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.gate.get() & BUSY != 0
    }

    /// Whether calls are measured.
    #[inline]
    pub(crate) fn is_sampling(&self) -> bool {
        self.gate.get() & SAMPLING != 0
    }

    pub(super) fn mark_sampling(&self, is_so: bool) {
        self.set(SAMPLING, is_so);
    }

    pub(super) fn mark_new(&self) {
        self.set(NEW, true);
    }

    pub(super) fn mark_spilled(&self) {
        self.set(SPILLED, true);
    }

    /// The thread can be cancelled at any instruction from now on, or no longer.
    pub(crate) fn set_fragile(&self, is_so: bool) {
        self.set(FRAGILE, is_so);
    }

    pub(crate) fn is_fragile(&self) -> bool {
        self.gate.get() & FRAGILE != 0
    }

    /// The thread must not read the processor's counter from now on, nor make system calls; or it may.
    pub(crate) fn set_blind(&self, is_so: bool) {
        self.set(BLIND, is_so);
    }

    pub(crate) fn is_blind(&self) -> bool {
        self.gate.get() & BLIND != 0
    }

    /// The thread belongs to the tool: the runtime's calls in it are not the program's.
    pub(crate) fn set_own(&self) {
        self.set(OWN | BUSY, true);
        self.set(NEW, false);
    }

    pub(crate) fn is_own(&self) -> bool {
        self.gate.get() & OWN != 0
    }

    /// The thread has a channel from now on, or none.
    pub(super) fn mark_channelless(&self, is_so: bool) {
        self.set(CHANNELLESS, is_so);
    }

    pub(super) fn mark_inside(&self, is_so: bool) {
        self.set(INSIDE, is_so);
    }

    #[inline]
    fn set(&self, bits: u32, is_so: bool) {
        let gate = self.gate.get();
        self.gate
            .set(if is_so { gate | bits } else { gate & !bits });
    }

    /// The tracer begins to work in this thread. [`ThreadState::rest`] ends it.
    #[inline(always)]
    pub(crate) fn work(&self, at_work: &AtWork) {
        self.mark.set(at_work.0);
        self.busy_here.set(super::stack());
        self.busy_at
            .set(core::ptr::from_ref(black_box(at_work)) as usize);
        self.gate.set(self.gate.get() | BUSY);
        compiler_fence(SeqCst);
    }

    /// The tracer's work in this thread is done.
    #[inline(always)]
    pub(crate) fn rest(&self) {
        compiler_fence(SeqCst);
        let gate = self.gate.get() & !(BUSY | FAST);
        self.gate.set(gate);
        compiler_fence(SeqCst);
        // A handler that came just before is seen there; its mark may have been overwritten.
        if !self.spill.is_empty() {
            self.write_spilled();
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn write_spilled(&self) {
        if self.gate.get() & (FRAGILE | BLIND) != 0 {
            return;
        }
        self.set(SPILLED, false);
        let at_work = AtWork::new(ticks());
        self.work(&at_work);
        // SAFETY: the thread is at work, so the channel has no other user.
        let channel = unsafe { &mut *self.channel.get() };
        match channel {
            Channel::Open(producer) if !producer.is_torn() => self.spill.write(producer),
            _ => self.spill.drop_all(|| self.count_lost()),
        }
        self.set(BUSY, false);
        compiler_fence(SeqCst);
        // Records that a handler puts aside after the last look wait for the next call: the program is
        // not kept here while handlers run.
        if !self.spill.is_empty() {
            self.set(SPILLED, true);
        }
    }

    /// Runs `action` as the tracer's work, unless the tracer is at work or must not be.
    pub(crate) fn at_work<R>(&self, action: impl FnOnce(&Self) -> R) -> Option<R> {
        if self.gate.get() & (BUSY | FRAGILE | BLIND) != 0 && !self.mend(super::stack()) {
            return None;
        }
        if self.is_behind() {
            self.leave_session();
        }
        let at_work = AtWork::new(ticks());
        self.work(&at_work);
        let answer = action(self);
        self.rest();
        Some(answer)
    }

    /// Earlier obstacles do not count any more, once the thread may record.
    pub(crate) fn catch_up(&self) {
        if self.gate.get() & NEW != 0 {
            self.begin();
        }
        if self.gate.get() & SPILLED != 0 {
            self.write_spilled();
        }
    }

    /// The thread's first call: from now on it has a channel, if one is free.
    fn begin(&self) {
        self.set(NEW, false);
        let at_work = AtWork::new(ticks());
        self.work(&at_work);
        if self.open.get().is_null() {
            self.open.set(&raw const self.own_open);
        }
        self.claim();
        self.rest();
    }

    /// The tracer seems to be at work, and a call has been entered with the stack at `here`. If a jump
    /// out of a signal handler left the work, the thread is repaired. `false` when the work continues
    /// after the call, as far as that is visible, or the thread must not be touched.
    #[cold]
    pub(crate) fn mend(&self, here: usize) -> bool {
        if self.is_own() || self.gate.get() & (FRAGILE | BLIND) != 0 {
            return false;
        }
        if !self.is_busy() {
            return true;
        }
        if !self.was_left(here) {
            return false;
        }
        self.held.release_left();
        self.sample.set(None);
        // SAFETY: the previous user of the channel was left.
        let channel = unsafe { &mut *self.channel.get() };
        if matches!(channel, Channel::Open(producer) if producer.is_torn()) {
            self.close();
        }
        self.set(BUSY | FAST | ASKING, false);
        self.set(SPILLED, true);
        true
    }

    /// Whether the tracer's work that is under way can never go on.
    fn was_left(&self, here: usize) -> bool {
        let (busy_here, at, mark) = match self.gate.get() & FAST {
            0 => (self.busy_here.get(), self.busy_at.get(), self.mark.get()),
            _ => self.fast_mark(),
        };
        if here >= busy_here {
            // The stack is back there or above, unless this is another stack.
            return !syscall_policy::is_on_other_stack(at);
        }
        // Its data on the stack is overwritten once the program uses that again.
        syscall_policy::word_at(at).is_some_and(|word| word != mark)
    }

    /// Keeps the record of a call until the tracer's work in this thread is done, or counts it.
    pub(crate) fn put_aside(&self, record: &[u64; super::spill::WORDS]) {
        if self.spill.put(record) {
            self.set(SPILLED, true);
        } else {
            self.count_lost();
        }
    }

    /// Counts a call that the filters leave out. A signal handler may do so at any time.
    pub(crate) fn count_filtered(&self) {
        match self.ledger.get() {
            Some(ledger) => ledger.count_filtered(),
            None => session::count_homeless(),
        }
    }

    /// Counts a call that is not recorded. A signal handler may do so at any time.
    pub(crate) fn count_lost(&self) {
        match self.ledger.get() {
            Some(ledger) => ledger.count_dropped(RecordKind::Call),
            None => session::count_homeless(),
        }
    }
}
