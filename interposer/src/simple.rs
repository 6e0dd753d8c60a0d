//! Calls that mean nothing for streams, events or contexts: the shortest way to a record.

use core::ptr::NonNull;
use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::api::{Function, RetKind};
use ascend_trace_format::record::call::{FIXED_WORDS, put_bare};
use ascend_trace_format::record::{Call, CallHead, RecordKind, SLOT_WORDS, STUB};

use crate::clock::ticks;
use crate::emit::{self, CallRecord};
use crate::errno::Errno;
use crate::filters::LeftOut;
use crate::function_facts;
use crate::functions::FUNCTIONS;
use crate::outputs::read_outputs;
use crate::thread::open_calls::NO_RECORD;
use crate::thread::{Admission, AtWork, ThreadState};
use crate::{cost, session, stacks, stubs, thread, window_borders};

/// A running simple call. If the real function does not return normally (an exception, a thread that
/// exits inside it), dropping this reports it.
pub(crate) struct Simple {
    state: NonNull<ThreadState>,
    /// Calls around this one.
    depth: u8,
    /// It came while the tracer was at work in its thread.
    is_inside: bool,
    /// Whether it leaves no record: decided at its begin.
    left_out: LeftOut,
    begin: u64,
}

/// Whether a call that begins now leaves no record.
#[inline(always)]
fn left_out(state: &ThreadState, id: usize) -> LeftOut {
    let traits = function_facts::of(id).unwrap_or(stubs::shapes::UNTYPED.1);
    window_borders::leaves_out(state, id, None, traits)
}

/// The announced head of a running simple call.
const fn head_of(id: usize, depth: u8) -> CallHead {
    CallHead {
        slots: 1,
        function: id as u16,
        depth,
        flags: 0,
        device: None,
    }
}

impl Simple {
    /// The wrapper of the function with this id has been entered, with the stack at `here`. `None` if
    /// the call must not be recorded.
    #[inline(always)]
    pub(crate) fn enter(id: usize, here: usize, args: &[u64]) -> Option<Self> {
        let state = NonNull::new(thread::current().cast_mut())?;
        // SAFETY: the calling thread's state lives as long as the thread.
        let thread = unsafe { state.as_ref() };
        if !(thread.is_clear() && session::is_settled_for(thread.plain())) {
            return Self::enter_slowly(id, here, args, state);
        }
        Some(Self::begin(id, here, args, state))
    }

    /// [`Self::enter`], as code that wrappers share.
    #[inline(never)]
    pub(crate) fn enter_shared(id: usize, here: usize, args: &[u64]) -> Option<Self> {
        Self::enter(id, here, args)
    }

    /// The call that this thread has begun on the fast path.
    fn of_fast(state: NonNull<ThreadState>) -> Self {
        // SAFETY: as in `enter`.
        let (.., begin) = unsafe { state.as_ref() }.fast_mark();
        Self {
            state,
            depth: 0,
            is_inside: false,
            left_out: LeftOut::No,
            begin,
        }
    }

    #[inline(always)]
    fn begin(id: usize, here: usize, args: &[u64], state: NonNull<ThreadState>) -> Self {
        // SAFETY: as in `enter`.
        let thread = unsafe { state.as_ref() };
        let left_out = left_out(thread, id);
        let depth = thread.deepen(here);
        if stacks::is_on() && !left_out.is_so() {
            stacks::note(thread, depth);
        }
        let begin = match left_out.is_so() {
            true => NO_RECORD,
            false => ticks(),
        };
        thread.open_call(head_of(id, depth), begin, None, args);
        Self {
            state,
            depth,
            is_inside: false,
            left_out,
            begin,
        }
    }

    #[cold]
    #[inline(never)]
    fn enter_slowly(
        id: usize,
        here: usize,
        args: &[u64],
        state: NonNull<ThreadState>,
    ) -> Option<Self> {
        // SAFETY: as in `enter`.
        let thread = unsafe { state.as_ref() };
        let _shield = thread.shield();
        let _errno = Errno::save();
        match thread.admit(here) {
            Admission::Straight => Some(Self::begin(id, here, args, state)),
            Admission::Inside => {
                if function_facts::of(id).is_some_and(|traits| traits.is_runtime) {
                    thread.begin_suppressed(here);
                }
                Some(Self {
                    state,
                    depth: thread.depth(),
                    is_inside: true,
                    left_out: left_out(thread, id),
                    begin: ticks(),
                })
            }
            Admission::Past => None,
        }
    }

    /// Whether the returned call can be recorded without an obstacle.
    #[inline(always)]
    fn is_clear(&self, id: usize) -> bool {
        // SAFETY: as in `enter`; a call returns on the thread that made it.
        let state = unsafe { self.state.as_ref() };
        let head = head_of(id, self.depth).encode();
        !self.is_inside & state.is_clear_to_leave() & state.is_open(head, self.depth)
    }

    /// An obstacle may exist: whether the returned call is still recorded. If not, it has been put
    /// aside or counted.
    #[cold]
    #[inline(never)]
    fn clear(&self, id: usize, args: &[u64], result: u64, end: u64) -> bool {
        let _errno = Errno::save();
        // SAFETY: as in `is_clear`.
        let state = unsafe { self.state.as_ref() };
        if self.is_inside {
            state.end_inside();
            emit::put_aside(state, id, args, result, (self.begin, end));
            return false;
        }
        let head = head_of(id, self.depth).encode();
        if !state.is_open(head, self.depth) {
            // It was taken for one that had been left, and recorded as that.
            return false;
        }
        if !state.is_clear_to_leave() && !state.mend(thread::stack()) {
            state.count_lost();
            return false;
        }
        true
    }

    /// The recording is paused, or the filters leave the call out.
    #[cold]
    fn skip(self) {
        // SAFETY: as in `is_clear`.
        let state = unsafe { self.state.as_ref() };
        if self.is_inside {
            state.end_inside();
        }
        if self.left_out == LeftOut::Filtered {
            state.count_filtered();
        }
        self.done();
    }

    /// The call has been recorded, or will not be.
    #[inline(always)]
    fn done(self) {
        // SAFETY: as in `is_clear`.
        let state = unsafe { self.state.as_ref() };
        if !self.is_inside {
            state.close_call(self.depth);
            state.restore_depth(self.depth);
        }
        core::mem::forget(self);
    }

    /// The real function with this id has returned `result`.
    #[inline(always)]
    pub(crate) fn leave<const ID: usize, const ARGS: usize>(
        self,
        mut args: [u64; ARGS],
        result: u64,
    ) {
        self.leave_as(ID, &mut args, result);
    }

    /// [`Self::leave`], as code that wrappers of functions with as many arguments share.
    #[inline(never)]
    fn leave_as<const ARGS: usize>(self, id: usize, args: &mut [u64; ARGS], result: u64) {
        if self.left_out.is_so() {
            self.skip();
            return window_borders::call_ends();
        }
        let end = ticks();
        if let Some(function) = FUNCTIONS.get(id)
            && function_facts::of(id).is_some_and(|traits| traits.has_outputs)
            && (!matches!(function.ret, RetKind::Error) || result == 0)
        {
            read_outputs(function, args);
        }
        self.record(id, args, result, end);
        window_borders::call_ends();
    }

    #[inline(always)]
    fn record(self, id: usize, args: &mut [u64], result: u64, end: u64) {
        if self.left_out.is_so() {
            return self.skip();
        }
        if !self.is_clear(id) {
            // SAFETY: as in `is_clear`.
            if let Some(_shield) = unsafe { self.state.as_ref() }.shield() {
                return self.record_behind_shield(id, args, result, end);
            }
            if !self.clear(id, args, result, end) {
                return self.done();
            }
        }
        // SAFETY: as in `is_clear`.
        let state = unsafe { self.state.as_ref() };
        let at_work = AtWork::new(end);
        state.work(&at_work);
        self.record_at_work(id, args, result, end);
    }

    /// [`Self::record`], where the tracer is at work already.
    #[inline(always)]
    fn record_at_work(self, id: usize, args: &mut [u64], result: u64, end: u64) {
        // SAFETY: as in `is_clear`.
        let state = unsafe { self.state.as_ref() };
        let duration = end.wrapping_sub(self.begin);
        let fits = duration < u64::from(u32::MAX)
            && result as i64 == i64::from(result as i32)
            && !stacks::is_on();
        let slots = (args.len() + FIXED_WORDS).div_ceil(SLOT_WORDS);
        let mut is_first = false;
        match state.producer().filter(|_| fits) {
            Some(producer) => match producer.reserve(slots) {
                Some(room) => {
                    let times = (self.begin, duration as u32);
                    put_bare(room, self.word_0(id, slots), times, result as u32, args);
                    is_first = producer.publish(slots);
                }
                None => producer.count_dropped(RecordKind::Call),
            },
            None => is_first = self.record_in_full(id, args, result, end),
        }
        let depth = self.depth;
        let begin = self.begin;
        self.done();
        if is_first | state.is_sampling() {
            cost::recorded(state, depth, is_first, (begin, end));
        }
        state.rest();
    }

    #[cold]
    #[inline(never)]
    fn record_behind_shield(self, id: usize, args: &mut [u64], result: u64, end: u64) {
        self.record(id, args, result, end);
    }

    /// The function behind a stub has returned `result`.
    #[inline(always)]
    pub(crate) fn leave_stub(self, index: usize, args: &[u64], result: u64) {
        let end = ticks();
        self.record_untyped(index, args, result, end);
    }

    #[cold]
    #[inline(never)]
    fn record_untyped_behind_shield(self, index: usize, args: &[u64], result: u64, end: u64) {
        self.record_untyped(index, args, result, end);
    }

    #[inline(always)]
    fn record_untyped(self, index: usize, args: &[u64], result: u64, end: u64) {
        let id = usize::from(STUB) + index;
        if self.left_out.is_so() {
            return self.skip();
        }
        if !self.is_clear(id) {
            // SAFETY: as in `is_clear`.
            if let Some(_shield) = unsafe { self.state.as_ref() }.shield() {
                return self.record_untyped_behind_shield(index, args, result, end);
            }
            if !self.clear(id, args, result, end) {
                return self.done();
            }
        }
        // SAFETY: as in `is_clear`.
        let state = unsafe { self.state.as_ref() };
        let at_work = AtWork::new(end);
        state.work(&at_work);
        let is_short = args.is_empty() && !state.lacks_stub(index) && !stacks::is_on();
        let short = match is_short {
            true => self.record_short(index, result, end),
            false => None,
        };
        let is_first = match short {
            Some(is_first) => is_first,
            None => self.record_stub(index, args, result, end),
        };
        let (depth, begin) = (self.depth, self.begin);
        self.done();
        if is_first | state.is_sampling() {
            cost::recorded(state, depth, is_first, (begin, end));
        }
        state.rest();
    }

    #[cold]
    fn record_stub(&self, index: usize, args: &[u64], result: u64, end: u64) -> bool {
        let _errno = Errno::save();
        let id = usize::from(STUB) + index;
        let (function, traits) = stubs::shapes::UNTYPED;
        let record = CallRecord {
            function,
            traits,
            call: self.call_with_stack(id, args, result, end),
        };
        // SAFETY: as in `enter`.
        emit::record_call(unsafe { self.state.as_ref() }, &record)
    }

    /// Records a call of a stub without arguments in one slot, and returns whether it is the first of a
    /// segment; `None` when it does not fit there.
    #[inline]
    fn record_short(&self, index: usize, result: u64, end: u64) -> Option<bool> {
        let duration = end.wrapping_sub(self.begin);
        let fits = duration < u64::from(u32::MAX) && result as i64 == i64::from(result as i32);
        // SAFETY: as in `enter`.
        let state = unsafe { self.state.as_ref() };
        let producer = state.producer().filter(|_| fits)?;
        let Some(room) = producer.reserve(1) else {
            producer.count_dropped(RecordKind::Call);
            return Some(false);
        };
        let head = self.word_0(usize::from(STUB) + index, 1);
        // The number of its arguments.
        let args = [0];
        let times = (self.begin, duration as u32);
        put_bare(room, head, times, result as u32, &args);
        Some(producer.publish(1))
    }

    /// Records a call that has a wide result or duration, that has a stack, or that is the first of its
    /// thread. Returns whether it is the first of a segment.
    #[cold]
    fn record_in_full(&self, id: usize, args: &mut [u64], result: u64, end: u64) -> bool {
        let (Some(function), Some(traits)) = (FUNCTIONS.get(id), function_facts::of(id)) else {
            return false;
        };
        // SAFETY: as in `leave`.
        let state = unsafe { self.state.as_ref() };
        let _errno = Errno::save();
        let record = CallRecord {
            function,
            traits,
            call: self.call_with_stack(id, args, result, end),
        };
        emit::record_call(state, &record)
    }

    fn call_with_stack<'a>(&self, id: usize, args: &'a [u64], result: u64, end: u64) -> Call<'a> {
        Call {
            // SAFETY: as in `enter`.
            stack: unsafe { self.state.as_ref() }.stack_of(self.depth),
            ..self.call(id, args, result, end)
        }
    }

    /// Word 0 of the call's record.
    #[inline(always)]
    fn word_0(&self, id: usize, slots: usize) -> u64 {
        let head = CallHead {
            slots: slots as u8,
            ..head_of(id, self.depth)
        };
        // SAFETY: as in `enter`.
        head.encode() | unsafe { self.state.as_ref() }.device_bits()
    }

    fn call<'a>(&self, id: usize, args: &'a [u64], result: u64, end: u64) -> Call<'a> {
        Call {
            depth: self.depth,
            // SAFETY: as in `enter`.
            device: device_of(unsafe { self.state.as_ref() }),
            result,
            ..Call::plain(id as u16, (self.begin, end), args)
        }
    }
}

/// A call that began on the fast path has returned, and cannot be recorded there.
#[cold]
#[inline(never)]
pub(crate) fn record_fast(
    state: NonNull<ThreadState>,
    id: usize,
    args: &mut [u64],
    result: u64,
    end: u64,
) {
    Simple::of_fast(state).record(id, args, result, end);
}

/// The same where the tracer is at work already.
#[cold]
#[inline(never)]
pub(crate) fn record_fast_at_work(
    state: NonNull<ThreadState>,
    id: usize,
    args: &mut [u64],
    result: u64,
    end: u64,
) {
    Simple::of_fast(state).record_at_work(id, args, result, end);
}

/// It did not return.
#[cold]
#[inline(never)]
pub(crate) fn leave_fast(state: NonNull<ThreadState>) {
    drop(Simple::of_fast(state));
}

fn device_of(state: &ThreadState) -> Option<u8> {
    state
        .context()
        .map(|context| context.device.load(Relaxed) as u8)
}

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated at compile time, within bounds"
)]
pub(crate) const fn function_of(id: usize) -> &'static Function {
    &FUNCTIONS[id]
}

impl Drop for Simple {
    /// The real function did not return.
    #[cold]
    fn drop(&mut self) {
        // SAFETY: as in `enter`; unwinding does not change the thread either.
        let state = unsafe { self.state.as_ref() };
        match self.is_inside {
            true => {
                state.end_inside();
                state.count_lost();
            }
            false => state.leave_behind(self.depth),
        }
    }
}
