//! Calls that mean nothing for streams, events or contexts: the shortest way to a record.

use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::api::RetKind;
use ascend_trace_format::record::{Header, RecordKind, SLOT_WORDS, pair};

use crate::clock::ticks;
use crate::emit::{self, CallRecord};
use crate::errno::Errno;
use crate::hooks::FUNCTIONS;
use crate::traits;
use crate::{call, lifecycle, session, thread};

/// A simple call under way. Dropping it, when the real function does not return normally, leaves
/// the thread's state right.
pub(crate) struct Simple {
    state: *const thread::State,
    begin: u64,
}

/// Words of a record before the arguments.
const FIXED_WORDS: usize = 3;

impl Simple {
    /// A wrapper has been entered. `None` when the call is none of ours to record.
    #[inline]
    pub(crate) fn enter() -> Option<Self> {
        if !session::is_on() {
            return None;
        }
        let state = thread::current();
        // SAFETY: the calling thread's state lives as long as the thread.
        let thread = unsafe { &*state };
        if thread.is_busy() {
            return None;
        }
        if session::is_new_child() {
            lifecycle::become_child(thread);
        }
        thread.descend(false, false);
        Some(Self {
            state,
            begin: ticks(),
        })
    }

    /// The real function has returned `result`.
    #[inline]
    pub(crate) fn leave(self, id: usize, args: &mut [u64], result: u64) {
        let end = ticks();
        self.record(id, args, result, end);
    }

    fn record(&self, id: usize, args: &mut [u64], result: u64, end: u64) {
        // SAFETY: as in `enter`; a call returns on the thread that made it.
        let state = unsafe { &*self.state };
        let (Some(function), Some(traits)) = (FUNCTIONS.get(id), traits::of(id)) else {
            return;
        };
        state.set_busy(true);
        if traits.has_outputs && (function.ret != RetKind::Error || result == 0) {
            call::read_outputs(function, args);
        }
        let depth = state.depth().saturating_sub(1);
        let device = state
            .context()
            .map(|context| context.device.load(Relaxed) as u8);
        let duration = end.wrapping_sub(self.begin);
        let fits = duration < u64::from(u32::MAX) && result as i64 == i64::from(result as i32);
        if fits {
            let times = [self.begin, pair(duration as u32, result as u32)];
            short(state, id, depth, device, times, args);
        } else {
            let _errno = Errno::save();
            emit::call(
                state,
                &CallRecord {
                    id,
                    function,
                    traits,
                    begin: self.begin,
                    end,
                    result,
                    depth,
                    device,
                    stream: None,
                    object: None,
                    task: None,
                    args,
                },
            );
        }
        state.set_busy(false);
    }
}

impl Drop for Simple {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: as in `enter`; unwinding does not change the thread either.
        unsafe { &*self.state }.ascend(false, false);
    }
}

/// Writes a record without optional words.
#[inline]
fn short(
    state: &thread::State,
    id: usize,
    depth: u8,
    device: Option<u8>,
    times: [u64; 2],
    args: &[u64],
) {
    let slots = args.len().wrapping_add(FIXED_WORDS).div_ceil(SLOT_WORDS);
    state.record(|producer| {
        let Some([first, begin, length, rest @ ..]) = producer.reserve(slots) else {
            producer.count_dropped(true);
            return;
        };
        let kind = RecordKind::Call;
        let header = Header {
            kind,
            slots: slots as u8,
            aux: id as u16,
            depth,
            flags: 0,
            device,
        };
        *first = header.encode();
        [*begin, *length] = times;
        for (place, word) in rest.iter_mut().zip(args) {
            *place = *word;
        }
        producer.publish(slots);
    });
}
