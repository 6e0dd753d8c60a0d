//! A thread's state on the fast path of a call.
//!
//! The path is for an outermost call of a thread to which nothing rare applies. [`ThreadState::is_at_rest`] is one
//! comparison for all of it. The gate says that the call is under way, so its depth needs no other word. The call leaves
//! a mark on the stack at its begin. The tracer's work at its end uses this mark, so only the gate changes for it.

use core::cell::Cell;
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering::{Relaxed, Release, SeqCst};
use core::sync::atomic::compiler_fence;

use ascend_trace_ring::{OpenCall, Producer};

use super::gate::{BUSY, FAST, INSIDE};
use super::open_calls::PLACE;
use super::{Channel, ThreadState};

/// Begin of the call, on the stack of its wrapper while it lasts. Another value there shows that the call was left.
#[repr(align(16))]
pub(crate) struct Mark(Cell<MaybeUninit<u64>>);

/// The gate changes in one instruction: no signal handler can come in between, and lose its change.
const IS_ONE_STEP: bool = cfg!(target_arch = "x86_64");

impl Mark {
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Self(Cell::new(MaybeUninit::uninit()))
    }

    /// Keeps the wrapper's frame until now.
    #[inline(always)]
    pub(crate) fn keep(&self) {
        // SAFETY: does nothing.
        unsafe {
            core::arch::asm!("/* {} */", in(reg) self, options(nostack, preserves_flags));
        }
    }

    /// A place in the wrapper's frame.
    #[inline(always)]
    pub(crate) fn place(&self) -> usize {
        core::ptr::from_ref(self) as usize
    }
}

impl ThreadState {
    /// Whether a call that begins may take the fast path: it is the outermost one, and has no obstacle.
    #[inline(always)]
    pub(crate) fn is_at_rest(&self) -> bool {
        self.gate.get() == 0
    }

    /// A call begins on the fast path, with this word 0. Must only be called at rest.
    #[inline(always)]
    pub(crate) fn begin_fast(&self, mark: &Mark, head: u64, begin: u64, args: &[u64]) {
        mark.0.set(MaybeUninit::new(begin));
        self.raise::<INSIDE>();
        // In this order: a signal handler that comes now must not take the place of this call.
        compiler_fence(SeqCst);
        let [level, ..] = &self.levels;
        level.set(mark.place());
        let [first, at, _, words @ ..] = &self.outermost().0;
        at.store(begin, Relaxed);
        for (place, word) in words.iter().zip(args) {
            place.store(*word, Relaxed);
        }
        first.store(head, Release);
    }

    /// The list's entry of the call with this word 0, which returns now. `None` if it cannot be recorded on the fast
    /// path.
    #[inline(always)]
    pub(crate) fn returned(&self, head: u64) -> Option<&OpenCall> {
        let call = self.outermost();
        let [first, ..] = &call.0;
        (self.gate.get() == INSIDE && first.load(Relaxed) == head).then_some(call)
    }

    /// The tracer begins to work at the end of this call.
    #[inline(always)]
    pub(crate) fn work_fast(&self) {
        // A signal handler may have changed the gate since it was looked at.
        compiler_fence(SeqCst);
        self.raise::<{ BUSY | FAST }>();
        compiler_fence(SeqCst);
    }

    /// The call with this entry has been recorded: its end, and that of the tracer's work.
    #[inline(always)]
    pub(crate) fn end_fast(&self, call: &OpenCall) {
        let [first, ..] = &call.0;
        first.store(0, Release);
        compiler_fence(SeqCst);
        self.lower::<{ BUSY | FAST | INSIDE }>();
        compiler_fence(SeqCst);
        if self.gate.get() != 0 || !IS_ONE_STEP && !self.spill.is_empty() {
            self.look_behind();
        }
    }

    /// Something came up while the tracer was at work at the end of a call.
    #[cold]
    #[inline(never)]
    fn look_behind(&self) {
        if !self.spill.is_empty() {
            self.write_spilled();
        }
    }

    /// Sets bits of the gate. Where possible in one instruction, and always the whole word: a processor waits when a
    /// load is wider than the store before it.
    #[inline(always)]
    fn raise<const BITS: u32>(&self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: changes a word of this thread.
        unsafe {
            core::arch::asm!(
                "or dword ptr [{gate}], {bits}",
                gate = in(reg) self.gate.as_ptr(),
                bits = const BITS,
                options(nostack),
            );
        }
        #[cfg(not(target_arch = "x86_64"))]
        self.gate.set(self.gate.get() | BITS);
    }

    /// The same for bits that are cleared.
    #[inline(always)]
    fn lower<const BITS: u32>(&self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: changes a word of this thread.
        unsafe {
            core::arch::asm!(
                "and dword ptr [{gate}], {bits}",
                gate = in(reg) self.gate.as_ptr(),
                bits = const !BITS as i32,
                options(nostack),
            );
        }
        #[cfg(not(target_arch = "x86_64"))]
        self.gate.set(self.gate.get() & !BITS);
    }

    /// The device of the thread, as a part of a record's word 0.
    #[inline(always)]
    pub(crate) fn device_bits(&self) -> u64 {
        match self.serial_place.get().load(Relaxed) == self.context_serial.get() {
            true => self.device.get(),
            false => 0,
        }
    }

    /// The channel of a thread that has begun a call on the fast path.
    ///
    /// # Safety
    /// The thread must be at work, and it was at rest when the call began.
    #[inline(always)]
    #[expect(clippy::mut_from_ref, reason = "as `producer`")]
    pub(crate) unsafe fn fast_producer(&self) -> &mut Producer {
        // SAFETY: the tracer is at work, so there is no second user. A thread without a channel is never at rest, and
        // loses its channel only at its end, in a new child, or when it is mended: the gate then shows it.
        match unsafe { &mut *self.channel.get() } {
            Channel::Open(producer) => producer,
            // SAFETY: as above.
            _ => unsafe { core::hint::unreachable_unchecked() },
        }
    }

    /// The outermost call in the list of running ones.
    #[inline(always)]
    fn outermost(&self) -> &OpenCall {
        // SAFETY: set before the thread's first call, which is not on the fast path, to its own memory or to that of
        // its channel, which stays mapped. A list begins with the outermost call.
        unsafe { &*self.open.get().cast::<OpenCall>() }
    }

    /// Where the stack was at the begin of the call on the fast path, where its mark is, and the mark.
    pub(crate) fn fast_mark(&self) -> (usize, usize, u64) {
        let [level, ..] = &self.levels;
        let place = level.get() & PLACE;
        (place, place, self.outermost().0[1].load(Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread::gate;
    use crate::thread::with;

    const HEAD: u64 = 77;

    /// Runs `action` in a thread at rest.
    fn at_rest(action: impl FnOnce(&ThreadState)) {
        with(|state| {
            state.forget_open();
            state.gate.set(0);
            action(state);
            state.gate.set(gate::AT_FIRST);
        });
    }

    #[test]
    fn a_call_is_listed_from_its_begin_to_its_end() {
        at_rest(|state| {
            let mark = Mark::new();
            state.begin_fast(&mark, HEAD, 1000, &[1, 2]);
            assert!(!state.is_at_rest() && state.depth() == 1);
            let [listed, ..] = &state.own_open;
            let words = listed.0.each_ref().map(|word| word.load(Relaxed));
            assert_eq!((words[0], words[1], words[3], words[4]), (HEAD, 1000, 1, 2));
            assert!(state.returned(HEAD + 1).is_none(), "another call");
            let call = state.returned(HEAD).unwrap();
            state.work_fast();
            assert!(state.is_busy() && state.returned(HEAD).is_none());
            state.end_fast(call);
            assert!(state.is_at_rest() && state.depth() == 0);
            assert_eq!(listed.0[0].load(Relaxed), 0);
        });
    }

    #[test]
    fn calls_inside_it_are_deeper() {
        at_rest(|state| {
            let mark = Mark::new();
            state.begin_fast(&mark, HEAD, 1000, &[]);
            let below = mark.place() - 4096;
            assert_eq!(state.deepen(below), 1);
            assert_eq!(state.depth(), 2);
            state.restore_depth(1);
            assert!(state.returned(HEAD).is_some());
            // It was left, and the next call has the same place on the stack.
            assert_eq!(state.deepen(mark.place() + 16), 0);
            assert!(state.returned(HEAD).is_none());
            state.restore_depth(0);
        });
    }

    #[test]
    fn work_at_its_end_that_a_jump_has_left_is_noticed() {
        at_rest(|state| {
            let mark = Mark::new();
            let here = core::ptr::from_ref(&mark) as usize;
            state.begin_fast(&mark, HEAD, 1000, &[]);
            assert_eq!(state.fast_mark(), (here, here, 1000));
            state.work_fast();
            assert!(!state.mend(here - 4096), "it goes on after a handler");
            assert!(state.mend(here + 4096) && !state.is_busy());
            state.work_fast();
            mark.0.set(MaybeUninit::new(7));
            // An emulator may not read memory for a process.
            let is_readable = crate::syscall_policy::word_at(here).is_some();
            let is_noticed = state.mend(here - 4096);
            assert_eq!(is_noticed, is_readable, "the stack is used again");
        });
    }

    #[test]
    fn what_a_handler_changes_meanwhile_is_kept() {
        at_rest(|state| {
            let mark = Mark::new();
            state.begin_fast(&mark, HEAD, 1000, &[]);
            let call = state.returned(HEAD).unwrap();
            state.work_fast();
            state.set_fragile(true);
            state.end_fast(call);
            assert!(state.is_fragile() && !state.is_at_rest() && !state.is_busy());
        });
    }
}
