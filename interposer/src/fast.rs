//! The fast path of a call: one that [`crate::simple`] could record, outermost in its thread, to which nothing rare applies.
//!
//! Two comparisons decide at its entry: one for the thread, one for the process. All other calls take the path of
//! [`crate::simple`]. `cargo test --test it instructions` counts the instructions of a call.

use core::hint::black_box;
use core::ptr::NonNull;
use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::api::RetKind;
use ascend_trace_format::record::call::{FIXED_WORDS, put_bare};
use ascend_trace_format::record::{CallHead, SLOT_WORDS};
use ascend_trace_ring::ticks::counter;

use crate::outputs::read_known_outputs;
use crate::simple::{self, function_of};
use crate::thread::ThreadState;
use crate::thread::fast::Mark;
use crate::{fast_tls, function_facts, session};

/// A running call on the fast path. If the real function does not return normally, dropping this reports it.
pub(crate) struct FastCall {
    state: NonNull<ThreadState>,
}

/// Word 0 of a call of this function, without a device. An announced call has one slot.
const fn head_of(id: usize, slots: usize) -> u64 {
    let head = CallHead {
        slots: slots as u8,
        function: id as u16,
        depth: 0,
        flags: 0,
        device: None,
    };
    head.encode()
}

/// Slots of the record of a call with this number of arguments.
const fn slots_of(args: usize) -> usize {
    (args + FIXED_WORDS).div_ceil(SLOT_WORDS)
}

impl FastCall {
    /// The wrapper of the function with this id has been entered. `None` if the call must take another path.
    #[inline(always)]
    pub(crate) fn enter<const ID: usize>(mark: &Mark, args: &[u64]) -> Option<Self> {
        let state = NonNull::new(fast_tls::get().cast::<ThreadState>().cast_mut())?;
        // SAFETY: the calling thread's state lives as long as the thread.
        let thread = unsafe { state.as_ref() };
        if !(thread.is_at_rest() && session::is_plain(thread.plain())) {
            return None;
        }
        thread.begin_fast(mark, const { head_of(ID, 1) }, counter(), args);
        Some(Self { state })
    }

    /// The real function has returned `result`. Everything that the table has about it is a constant here.
    #[inline(always)]
    pub(crate) fn leave<const ID: usize, const ARGS: usize>(
        self,
        mut args: [u64; ARGS],
        result: u64,
    ) {
        let end = counter();
        let state = self.state;
        core::mem::forget(self);
        let (function, traits) =
            const { (function_of(ID), function_facts::traits_of(function_of(ID))) };
        if traits.has_outputs && (!matches!(function.ret, RetKind::Error) || result == 0) {
            read_known_outputs(function, &mut args);
        }
        // SAFETY: the calling thread's state; a call returns on the thread that made it.
        let thread = unsafe { state.as_ref() };
        let Some(call) = thread.returned(const { head_of(ID, 1) }) else {
            // A copy, so that the fast path can hold the arguments in registers.
            let mut args = args;
            return simple::record_fast(state, ID, &mut args, result, end);
        };
        let begin = call.0[1].load(Relaxed);
        let duration = end.wrapping_sub(begin);
        if duration >= u64::from(u32::MAX) || result as i64 != i64::from(result as i32) {
            let mut args = args;
            // Not from the register, for the same reason.
            let end = black_box(begin).wrapping_add(duration);
            return simple::record_fast(state, ID, &mut args, result, end);
        }
        thread.work_fast();
        let slots = const { slots_of(ARGS) };
        let head = const { head_of(ID, slots_of(ARGS)) } | thread.device_bits();
        // SAFETY: the thread is at work, and was at rest.
        let is_put = unsafe { thread.fast_producer() }.put(slots, |room| {
            put_bare(room, head, (begin, duration as u32), result as u32, &args);
        });
        if !is_put {
            let mut args = args;
            let end = black_box(begin).wrapping_add(duration);
            return simple::record_fast_at_work(state, ID, &mut args, result, end);
        }
        thread.end_fast(call);
    }
}

impl Drop for FastCall {
    /// The real function did not return.
    #[inline(always)]
    fn drop(&mut self) {
        simple::leave_fast(self.state);
    }
}
