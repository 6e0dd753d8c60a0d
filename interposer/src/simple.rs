//! Calls that mean nothing for streams, events or contexts: the shortest way to a record.

use core::ptr::NonNull;
use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::api::{Function, RetKind};
use ascend_trace_format::record::{Header, RecordKind, SLOT_WORDS, STUB, pair};

use crate::clock::ticks;
use crate::emit::{self, CallRecord};
use crate::errno::Errno;
use crate::hooks::FUNCTIONS;
use crate::traits::{self, Traits};
use crate::{call, cost, lifecycle, session, stubs, thread};

/// A simple call under way. Dropping it, when the real function does not return normally, leaves
/// the thread's state right.
pub(crate) struct Simple {
    state: NonNull<thread::State>,
    /// Calls around this one.
    depth: u8,
    begin: u64,
}

/// Words of a record before the arguments.
const FIXED_WORDS: usize = 3;

impl Simple {
    /// A wrapper has been entered, with the stack at `here`. `None` when the call is none of ours to
    /// record.
    #[inline(always)]
    pub(crate) fn enter(here: usize) -> Option<Self> {
        let state = NonNull::new(thread::current().cast_mut())?;
        // SAFETY: the calling thread's state lives as long as the thread.
        let thread = unsafe { state.as_ref() };
        if thread.is_busy() || !(session::is_settled() || settle(thread)) {
            return None;
        }
        if thread.is_sampling() {
            cost::begin_sample(thread);
        }
        Some(Self {
            state,
            depth: thread.deepen(here),
            begin: ticks(),
        })
    }

    /// The real function with this id has returned `result`. Everything that the table knows of it
    /// is a constant here, so what is left is two dozen instructions and the stores of the record.
    #[inline(always)]
    pub(crate) fn leave<const ID: usize, const ARGS: usize>(
        self,
        mut args: [u64; ARGS],
        result: u64,
    ) {
        let end = ticks();
        // SAFETY: as in `enter`; a call returns on the thread that made it.
        let state = unsafe { self.state.as_ref() };
        state.set_busy(true);
        let (function, traits) = const { (function_of(ID), traits::traits_of(function_of(ID))) };
        if traits.has_outputs && (!matches!(function.ret, RetKind::Error) || result == 0) {
            call::read_outputs(function, &mut args);
        }
        let duration = end.wrapping_sub(self.begin);
        let fits = duration < u64::from(u32::MAX) && result as i64 == i64::from(result as i32);
        let slots = const { (ARGS + FIXED_WORDS).div_ceil(SLOT_WORDS) };
        let mut is_first = false;
        match state.producer().filter(|_| fits) {
            Some(producer) => match producer.reserve(slots) {
                Some([first, begin, length, rest @ ..]) => {
                    let header = Header {
                        kind: RecordKind::Call,
                        slots: slots as u8,
                        aux: ID as u16,
                        depth: self.depth,
                        flags: 0,
                        device: device_of(state),
                    };
                    *first = header.encode();
                    *begin = self.begin;
                    *length = pair(duration as u32, result as u32);
                    for (place, word) in rest.iter_mut().zip(args) {
                        *place = word;
                    }
                    is_first = producer.publish(slots);
                }
                _ => producer.count_dropped(RecordKind::Call),
            },
            None => self.record_in_full(ID, &mut args, result, end),
        }
        if is_first | state.is_sampling() {
            cost::recorded(state, self.depth, is_first, (self.begin, end));
        }
        state.set_busy(false);
    }

    /// The function behind a stub has returned `result`.
    #[inline(always)]
    pub(crate) fn leave_stub(self, index: usize, args: &[u64], result: u64) {
        let end = ticks();
        // SAFETY: as in `enter`.
        let state = unsafe { self.state.as_ref() };
        state.set_busy(true);
        let is_short = args.is_empty() && !state.lacks_stub(index);
        let short = match is_short {
            true => self.record_short(index, result, end),
            false => None,
        };
        let is_first = match short {
            Some(is_first) => is_first,
            None => self.record_stub(index, args, result, end),
        };
        if is_first | state.is_sampling() {
            cost::recorded(state, self.depth, is_first, (self.begin, end));
        }
        state.set_busy(false);
    }

    #[cold]
    fn record_stub(&self, index: usize, args: &[u64], result: u64, end: u64) -> bool {
        let _errno = Errno::save();
        let id = usize::from(STUB) + index;
        let call = self.in_full(id, stubs::shapes::UNTYPED, args, result, end);
        // SAFETY: as in `enter`.
        emit::call(unsafe { self.state.as_ref() }, &call)
    }

    /// Records a call of a stub without arguments in one slot, and answers whether it is the first
    /// of a segment; `None` when it does not fit there.
    #[inline]
    fn record_short(&self, index: usize, result: u64, end: u64) -> Option<bool> {
        let duration = end.wrapping_sub(self.begin);
        let fits = duration < u64::from(u32::MAX) && result as i64 == i64::from(result as i32);
        // SAFETY: as in `enter`.
        let state = unsafe { self.state.as_ref() };
        let producer = state.producer().filter(|_| fits)?;
        let Some([first, begin, length, args, ..]) = producer.reserve(1) else {
            producer.count_dropped(RecordKind::Call);
            return Some(false);
        };
        let header = Header {
            kind: RecordKind::Call,
            slots: 1,
            aux: STUB.wrapping_add(index as u16),
            depth: self.depth,
            flags: 0,
            device: device_of(state),
        };
        *first = header.encode();
        *begin = self.begin;
        *length = pair(duration as u32, result as u32);
        *args = 0;
        Some(producer.publish(1))
    }

    /// Records a call whose result or duration is wide, or that is the first of its thread.
    #[cold]
    fn record_in_full(&self, id: usize, args: &mut [u64], result: u64, end: u64) {
        let (Some(function), Some(traits)) = (FUNCTIONS.get(id), traits::of(id)) else {
            return;
        };
        // SAFETY: as in `leave`.
        let state = unsafe { self.state.as_ref() };
        let _errno = Errno::save();
        emit::call(
            state,
            &self.in_full(id, (function, traits), args, result, end),
        );
    }

    fn in_full<'a>(
        &self,
        id: usize,
        (function, traits): (&'static Function, &'static Traits),
        args: &'a [u64],
        result: u64,
        end: u64,
    ) -> CallRecord<'a> {
        CallRecord {
            id,
            function,
            traits,
            begin: self.begin,
            end,
            result,
            depth: self.depth,
            // SAFETY: as in `enter`.
            device: device_of(unsafe { self.state.as_ref() }),
            stream: None,
            object: None,
            task: None,
            graph: None,
            args,
        }
    }
}

/// Joins the session, or becomes a process of its own after a fork; whether to record.
#[cold]
fn settle(thread: &thread::State) -> bool {
    let recording = session::is_on();
    if recording && session::is_new_child() {
        lifecycle::become_child(thread);
    }
    recording
}

fn device_of(state: &thread::State) -> Option<u8> {
    state
        .context()
        .map(|context| context.device.load(Relaxed) as u8)
}

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated at compile time, within bounds"
)]
const fn function_of(id: usize) -> &'static Function {
    &FUNCTIONS[id]
}

impl Drop for Simple {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: as in `enter`; unwinding does not change the thread either.
        unsafe { self.state.as_ref() }.restore_depth(self.depth);
    }
}
