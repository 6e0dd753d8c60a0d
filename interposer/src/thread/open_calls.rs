//! The running calls of a thread: listed in memory that survives the program, so that the call in which
//! it hangs or dies is in the trace, and removed when they are left without returning.

use core::cell::Cell;
use core::sync::atomic::Ordering::{Relaxed, Release};
use core::sync::atomic::compiler_fence;

use ascend_trace_format::record::CallHead;
use ascend_trace_format::session::OPEN_LEVELS;
use ascend_trace_ring::OpenCall;

use super::entry_place::FRAME_ALIGN;
use super::gate::{self, AtWork};
use super::{LEVELS, ThreadState};
use crate::clock::ticks;
use crate::stream_progress::StreamProgress;
use crate::{stacks, syscall_policy};

/// Kind of a call, in the low bits of its place on the stack.
const SUBMITS: usize = 1;
const CALLS_BACK: usize = 2;
pub(super) const PLACE: usize = !(FRAME_ALIGN - 1);

/// The begin of a running call that leaves no record, whether it returns or not.
pub(crate) const NO_RECORD: u64 = 0;

/// Whether a call at this place on the stack has been left, when another one is entered with the stack at `here`. The place
/// is in the frame of the call's wrapper; a call inside it is entered at the end of this frame, or below.
#[inline]
fn is_back(place: usize, here: usize) -> bool {
    here & PLACE > place & PLACE
}

/// A place in the frame of a wrapper that was entered with the stack at `here`.
#[inline]
fn in_frame(here: usize) -> usize {
    here.saturating_sub(FRAME_ALIGN) & PLACE
}

/// The calls around one that is under way.
#[derive(Clone, Copy)]
pub(crate) struct EnclosingCalls {
    pub(crate) depth: u8,
    submitting: u8,
    callbacks: u8,
    here: usize,
}

impl EnclosingCalls {
    /// For a call that came while the tracer was at work in the thread.
    pub(crate) fn unknown(state: &ThreadState) -> Self {
        Self {
            depth: state.depth(),
            submitting: 0,
            callbacks: 0,
            here: 0,
        }
    }
}

impl ThreadState {
    /// Number of running calls.
    #[inline]
    pub(crate) fn depth(&self) -> u8 {
        let outermost = self.gate.get() & gate::INSIDE;
        self.deeper.get().saturating_add(outermost as u8)
    }

    #[inline]
    fn set_depth(&self, depth: u8) {
        self.deeper.set(depth.saturating_sub(1));
        self.mark_inside(depth != 0);
    }

    /// A call begins that neither submits nor calls back, with the stack at `here`. Returns what to
    /// go back to.
    #[inline]
    pub(crate) fn deepen(&self, here: usize) -> u8 {
        let depth = self.depth_at(here);
        self.set_depth(depth.saturating_add(1));
        // In this order: a signal handler that comes now must not take the place of this call.
        compiler_fence(core::sync::atomic::Ordering::SeqCst);
        self.note_level(depth, in_frame(here));
        depth
    }

    /// Such a call ends.
    #[inline]
    pub(crate) fn restore_depth(&self, depth: u8) {
        self.set_depth(depth);
    }

    /// The number of calls around one that begins with the stack at `here`. A call that was left by
    /// `longjmp` never ended: the stack is again at that call's place, or above.
    #[inline]
    fn depth_at(&self, here: usize) -> u8 {
        let depth = self.depth();
        match self.level(depth) {
            Some(place) if is_back(place, here) => self.forget_left(here),
            _ if usize::from(depth) > LEVELS => self.forget_left(here),
            _ => depth,
        }
    }

    /// The function of the innermost call around one that begins with the stack at `here`, if it is
    /// listed.
    pub(crate) fn innermost(&self, here: usize) -> Option<usize> {
        // A thread that works for the tracer calls the runtime itself, and is not checked. Calls that
        // were put aside meanwhile, or that are measured, change nothing.
        if self.is_busy() {
            return None;
        }
        let slot = self.slot(self.depth_at(here).checked_sub(1)?)?;
        let head = CallHead::decode(slot.0[0].load(Relaxed))?;
        Some(head.function.into())
    }

    /// Whether the call at this depth has been left, as the stack at `here` shows.
    fn is_left(&self, depth: u8, here: usize) -> bool {
        // Where deeper calls stood is not remembered; but they went with one that is.
        let remembered = depth.min(LEVELS as u8);
        self.level(remembered)
            .is_some_and(|level| is_back(level, here))
    }

    #[cold]
    #[inline(never)]
    fn forget_left(&self, here: usize) -> u8 {
        let depth = self.depth();
        if !self.is_left(depth, here) || syscall_policy::is_on_other_stack(self.place_of(depth)) {
            return depth;
        }
        while let Some(inner) = self.depth().checked_sub(1) {
            if !self.is_left(inner + 1, here) {
                break;
            }
            self.leave_behind(inner);
        }
        self.depth()
    }

    /// The thread ends: no call of it returns any more.
    pub(super) fn leave_all_behind(&self) {
        while let Some(inner) = self.depth().checked_sub(1) {
            self.leave_behind(inner);
        }
    }

    fn place_of(&self, depth: u8) -> usize {
        self.level(depth.min(LEVELS as u8)).unwrap_or(0) & PLACE
    }

    /// The call at this depth will not return: it is recorded as one that was left, or counted.
    #[cold]
    #[inline(never)]
    pub(crate) fn leave_behind(&self, depth: u8) {
        let level = self.level(depth.wrapping_add(1)).unwrap_or(0);
        let one_less = |count: &Cell<u8>, is_it: bool| {
            count.set(count.get().saturating_sub(u8::from(is_it)));
        };
        one_less(&self.submitting, level & SUBMITS != 0);
        one_less(&self.callbacks, level & CALLS_BACK != 0);
        if level & SUBMITS != 0 {
            self.submission.release();
        }
        if let Some(seen) = self.waits.get(usize::from(depth)).and_then(Cell::take) {
            seen.is_left();
        }
        self.record_left(depth);
        self.set_depth(depth);
    }

    fn record_left(&self, depth: u8) {
        let Some(slot) = self.slot(depth) else {
            self.count_lost();
            return;
        };
        let words = slot.0.each_ref().map(|word| word.load(Relaxed));
        if words[0] == 0 || words[1] == NO_RECORD {
            slot.0[0].store(0, Release);
            return;
        }
        let end = ticks();
        let recorded = !self.is_busy() && {
            let at_work = AtWork::new(end);
            self.work(&at_work);
            super::publish::left(self, &words, end);
            true
        };
        slot.0[0].store(0, Release);
        if recorded {
            self.rest();
        } else {
            self.count_lost();
        }
    }

    /// The next call waits for the target that is noted there. Returns its depth.
    pub(crate) fn note_wait(&self, seen: &'static StreamProgress) -> u8 {
        let depth = self.depth();
        if let Some(wait) = self.waits.get(usize::from(depth)) {
            wait.set(Some(seen));
        }
        depth
    }

    /// Whether the call at this depth still waits for that. It does not any more.
    pub(crate) fn take_wait(&self, depth: u8, seen: &'static StreamProgress) -> bool {
        match self.waits.get(usize::from(depth)) {
            Some(wait) => wait.take().is_some_and(|own| core::ptr::eq(own, seen)),
            // So deep it is not noted.
            None => true,
        }
    }

    /// The innermost of these calls, if it is remembered.
    #[inline]
    fn level(&self, depth: u8) -> Option<usize> {
        let place = usize::from(depth).checked_sub(1)?;
        self.levels.get(place).map(Cell::get)
    }

    #[inline]
    fn note_level(&self, depth: u8, level: usize) {
        if let Some(place) = self.levels.get(usize::from(depth)) {
            place.set(level);
        }
    }

    /// The place of a call at this depth in the list of running calls.
    #[inline(always)]
    fn slot(&self, depth: u8) -> Option<&OpenCall> {
        if usize::from(depth) >= OPEN_LEVELS {
            return None;
        }
        // SAFETY: set before the thread's first call, to its own memory or to that of its channel,
        // which stays mapped.
        unsafe { self.open.get().as_ref() }?.get(usize::from(depth))
    }

    /// Announces a running call, as [`Call::take_open`](ascend_trace_format::record::Call::take_open)
    /// reads it.
    #[inline(always)]
    pub(crate) fn open_call(&self, head: CallHead, begin: u64, stream: Option<u64>, args: &[u64]) {
        let Some(slot) = self.slot(head.depth) else {
            return;
        };
        let [first, at, _, words @ ..] = &slot.0;
        at.store(begin, Relaxed);
        for (place, word) in words.iter().zip(stream.iter().chain(args)) {
            place.store(*word, Relaxed);
        }
        first.store(head.encode(), Release);
    }

    /// Notes the stack of the call that is about to begin at this depth.
    pub(crate) fn note_stack(&self, depth: u8, stack: u64) {
        if let Some(slot) = self.slot(depth) {
            slot.0[2].store(stack, Relaxed);
        }
    }

    /// The stack of the call at this depth, if it is known. None where stacks are not recorded.
    #[inline]
    pub(crate) fn stack_of(&self, depth: u8) -> Option<u64> {
        if !stacks::is_on() {
            return None;
        }
        let stack = self.slot(depth)?.0[2].load(Relaxed);
        Some(stack).filter(|stack| *stack != 0)
    }

    /// Whether the call is still listed, and does not count as one that was left.
    #[inline(always)]
    pub(crate) fn is_open(&self, head: u64, depth: u8) -> bool {
        match self.slot(depth) {
            Some(slot) => slot.0[0].load(Relaxed) == head,
            None => true,
        }
    }

    /// The call has been recorded, or counted.
    #[inline(always)]
    pub(crate) fn close_call(&self, depth: u8) {
        if let Some(slot) = self.slot(depth) {
            slot.0[0].store(0, Release);
        }
    }

    /// Forgets the calls that another process has under way.
    pub(super) fn forget_open(&self) {
        for slot in &self.own_open {
            slot.0[0].store(0, Relaxed);
        }
        self.open.set(&raw const self.own_open);
    }

    pub(crate) fn in_task(&self) -> bool {
        self.submitting.get() > 0
    }

    pub(crate) fn in_callback(&self) -> bool {
        self.callbacks.get() > 0
    }

    /// The calls around one that begins with the stack at `here`.
    pub(crate) fn around(&self, here: usize) -> EnclosingCalls {
        EnclosingCalls {
            depth: self.depth_at(here),
            submitting: self.submitting.get(),
            callbacks: self.callbacks.get(),
            here,
        }
    }

    /// A call begins within others; `submits` and `calls_back` say of what kind it is.
    pub(crate) fn descend(&self, around: EnclosingCalls, submits: bool, calls_back: bool) {
        let kind = (usize::from(submits) * SUBMITS) | (usize::from(calls_back) * CALLS_BACK);
        let more = |count: u8, is_it: bool| count.saturating_add(u8::from(is_it));
        self.set_depth(around.depth.saturating_add(1));
        compiler_fence(core::sync::atomic::Ordering::SeqCst);
        self.note_level(around.depth, in_frame(around.here) | kind);
        self.submitting.set(more(around.submitting, submits));
        self.callbacks.set(more(around.callbacks, calls_back));
    }

    /// The call that began within these ends.
    pub(crate) fn ascend(&self, around: EnclosingCalls) {
        self.set_depth(around.depth);
        self.submitting.set(around.submitting);
        self.callbacks.set(around.callbacks);
    }
}

#[cfg(test)]
mod tests {
    use ascend_trace_format::record::{Call, flags};

    use super::*;
    use crate::thread::with;

    #[test]
    fn a_call_that_was_left_by_a_jump_is_forgotten_when_the_stack_is_back() {
        with(|state| {
            assert_eq!(state.deepen(0x9000), 0);
            let around = state.around(0x8000);
            state.descend(around, true, true);
            assert_eq!((around.depth, state.in_task()), (1, true));
            assert_eq!(state.deepen(0x7000), 2);
            // Two calls never return.
            assert_eq!(state.deepen(0x8800), 1);
            assert!(!state.in_task() && !state.in_callback());
            assert_eq!(state.deepen(0x8000), 2);
            state.restore_depth(0);
            assert_eq!(state.deepen(0x9000), 0);
            state.restore_depth(0);
        });
    }

    #[test]
    fn a_wait_that_was_left_by_a_jump_is_over() {
        use crate::timing::running_waits::Waiting;
        static SEEN: StreamProgress = StreamProgress::new();
        with(|state| {
            let around = state.around(0x9000);
            let waiting = Waiting::begin(&SEEN);
            state.descend(around, false, false);
            assert!(SEEN.is_awaited());
            drop(waiting);
            state.ascend(around);
            assert!(!SEEN.is_awaited(), "it has returned");
            // Another one never does.
            let around = state.around(0x9000);
            core::mem::forget(Waiting::begin(&SEEN));
            state.descend(around, false, false);
            assert!(SEEN.is_awaited());
            assert_eq!(state.deepen(0x9000), 0);
            assert!(!SEEN.is_awaited());
            state.restore_depth(0);
        });
    }

    #[test]
    fn deeper_calls_than_are_remembered_are_counted() {
        with(|state| {
            for depth in 0..40u8 {
                assert_eq!(state.deepen(0x9000 - usize::from(depth) * 160), depth);
            }
            // All of them are left.
            assert_eq!(state.deepen(0x9800), 0);
            state.restore_depth(0);
        });
    }

    #[test]
    fn a_call_is_reported_from_its_begin_to_its_end() {
        with(|state| {
            state.forget_open();
            let head = CallHead {
                slots: 1,
                function: 5,
                depth: 3,
                flags: flags::STREAM,
                device: None,
            };
            state.open_call(head, 100, Some(7), &[1, 2, 3, 4, 5, 6]);
            assert!(state.is_open(head.encode(), 3));
            let words = state.own_open[3]
                .0
                .each_ref()
                .map(|word| word.load(Relaxed));
            let call = Call::take_open(&words).unwrap();
            assert_eq!((call.begin, call.stream), (100, Some(7)));
            assert_eq!(call.args, [1, 2, 3, 4]);
            state.close_call(3);
            assert!(!state.is_open(head.encode(), 3));
            let deep = CallHead { depth: 200, ..head };
            state.open_call(deep, 100, None, &[]);
            assert!(state.is_open(deep.encode(), 200), "those are not told of");
        });
    }
}
