//! Ranges of a thread's time that are reported from inside the program: by the hook that `ascend-trace
//! --python` puts into its interpreter, which finds these functions by name.

use core::ffi::{c_char, c_void};
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::range::{PAUSE_ID, RangeKind};
use ascend_trace_format::record::{Text, kinds};

use crate::clock::ticks;
use crate::errno::Errno;
use crate::thread::{self, ThreadState};
use crate::{
    emit, first_records, long_texts, paused, session, syscall_policy, window, window_borders,
};

static NEXT: AtomicU64 = AtomicU64::new(1);

/// When a backward pass was last over, in ticks.
static OVER: AtomicU64 = AtomicU64::new(0);

/// A range of this kind begins: now, or at the time `since`, which [`ascend_trace_range_end`] has
/// returned. Returns its id, or 0 where nothing is recorded.
// SAFETY: no library of the program's has a function of this name.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn ascend_trace_range_begin(kind: u32, name: *const c_char, since: u64) -> u64 {
    let kind = u8::try_from(kind).ok().and_then(RangeKind::from_code);
    let (Some(kind), false) = (kind, name.is_null()) else {
        return 0;
    };
    if session::is_on() && window::watches_names() {
        return begin_watched(kind, name, since);
    }
    begin_now(kind, name, since)
}

/// The same while the range may begin or end the window of the recording.
#[cold]
fn begin_watched(kind: RangeKind, name: *const c_char, since: u64) -> u64 {
    let steps = match kind {
        RangeKind::Step => window::count_step(),
        _ => 0,
    };
    let is_last = window_borders::reached(text(name), steps);
    let id = begin_now(kind, name, since);
    if is_last {
        window_borders::stop_after(window_borders::REPORTED | id);
    }
    id
}

fn begin_now(kind: RangeKind, name: *const c_char, since: u64) -> u64 {
    if paused::is_on() {
        return 0;
    }
    let mut id = 0;
    let is_reported = record(|state| {
        let at = if since == 0 { ticks() } else { since };
        id = begin(state, kind, at, text(name));
    });
    if is_reported { id } else { 0 }
}

fn begin(state: &ThreadState, kind: RangeKind, at: u64, name: &[u8]) -> u64 {
    let id = NEXT.fetch_add(1, Relaxed);
    tell_begin(state, kind, (id, at), name);
    id
}

fn tell_begin(state: &ThreadState, kind: RangeKind, (id, at): (u64, u64), name: &[u8]) {
    let long = long_texts::reference(state, name);
    let name = Text::new(long_texts::bytes(name, long.as_ref()));
    emit::record(state, &kinds::RangeBegin { kind, id, at, name });
}

/// From now on the calling thread computes the gradients of this module, and no longer those of the
/// module before it; of none with an empty name. The last argument is ignored: autograd passes the
/// gradients to its hooks.
// SAFETY: as above.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn ascend_trace_range_turn(name: *const c_char, _gradients: *const c_void) {
    if name.is_null() {
        return;
    }
    record(|state| {
        let (now, name) = (ticks(), text(name));
        let (before, since) = state.turn.take();
        if before != 0 {
            // The thread has slept between two passes.
            let over = OVER.load(Relaxed);
            let at = if (since..now).contains(&over) {
                over
            } else {
                now
            };
            end(state, before, at, false);
        }
        if !name.is_empty() && !paused::is_on() {
            let id = begin(state, RangeKind::Backward, now, name);
            state.turn.set((id, now));
        }
    });
}

/// A backward pass has ended, on any threads.
// SAFETY: as above.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn ascend_trace_range_over() {
    record(|_| OVER.store(ticks(), Relaxed));
}

/// A range ends. Returns the time, for a range that begins then; 0 where nothing is recorded.
// SAFETY: as above.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn ascend_trace_range_end(id: u64) -> u64 {
    let mut at = 0;
    if id != 0 {
        record(|state| {
            at = ticks();
            end(state, id, at, false);
        });
        window_borders::range_ends(window_borders::REPORTED | id);
    }
    at
}

/// Nothing is recorded from now on, except data that later calls depend on.
// SAFETY: as above.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn ascend_trace_pause() {
    paused::set(paused::BY_PROGRAM, true);
    report_pause();
}

/// Everything is recorded again, except where the recorder has paused. Another thread may have begun the pause.
// SAFETY: as above.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn ascend_trace_resume() {
    if paused::set(paused::BY_PROGRAM | paused::AT_BEGIN, false) & paused::AT_BEGIN != 0 {
        session::note_window(true);
    }
    report_pause();
}

/// The program asks for a snapshot of the ring, for this reason. Also during a pause: the part before the pause may be wanted.
// SAFETY: as above.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn ascend_trace_snapshot(reason: *const c_char) {
    if reason.is_null() {
        return;
    }
    record(|state| {
        let at = ticks();
        let id = begin(state, RangeKind::Snapshot, at, text(reason));
        end(state, id, at, false);
    });
}

/// Records that a pause has begun or ended, if the recording does not show that yet. Where nothing can be recorded now, a
/// later call does it.
#[cold]
pub(crate) fn report_pause() {
    if !paused::is_unreported() {
        return;
    }
    if paused::is_on() {
        let id = NEXT.fetch_add(1, Relaxed) | PAUSE_ID;
        let begin = |state: &ThreadState| {
            tell_begin(state, RangeKind::Pause, (id, ticks()), b"recording paused");
        };
        if paused::begin_report(id) && !record(begin) {
            paused::end_report();
        }
    } else {
        let id = paused::end_report();
        if id != 0 && !record(|state| end(state, id, ticks(), false)) {
            paused::begin_report(id);
        }
    }
}

/// This process is a forked child: the pause was its parent's.
pub(crate) fn forget() {
    paused::forget();
}

/// A range is cancelled: it is left out.
// SAFETY: as above.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn ascend_trace_range_forget(id: u64) {
    if id != 0 {
        record(|state| end(state, id, ticks(), true));
    }
}

fn end(state: &ThreadState, id: u64, at: u64, is_void: bool) {
    emit::record(state, &kinds::RangeEnd { id, is_void, at });
}

/// The calling thread has this name in the trace, independent of its system name.
// SAFETY: as above.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn ascend_trace_thread_name(name: *const c_char) {
    if name.is_null() {
        return;
    }
    record(|state| {
        let name = Text::new(text(name));
        emit::record(
            state,
            &kinds::Thread {
                tid: thread::tid(),
                handle: first_records::own_handle(),
                name,
            },
        );
    });
}

/// Runs `write` as the tracer's work; `false` where nothing is recorded, or not now.
fn record(write: impl FnOnce(&ThreadState)) -> bool {
    if !syscall_policy::is_allowed() || !session::is_on() {
        return false;
    }
    thread::with(|state| {
        let _shield = state.shield();
        let _errno = Errno::save();
        state.admits_reported(thread::stack()) && state.at_work(write).is_some()
    })
}

/// The name, as far as texts are read.
fn text<'a>(name: *const c_char) -> &'a [u8] {
    // SAFETY: the caller passes a C string that lives until the call returns.
    unsafe { long_texts::whole_c_string(name) }.unwrap_or(&[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_session_nothing_is_recorded() {
        assert_eq!(ascend_trace_range_begin(1, c"step".as_ptr(), 0), 0);
        assert_eq!(ascend_trace_range_begin(0, c"no kind".as_ptr(), 0), 0);
        assert_eq!(ascend_trace_range_begin(1, core::ptr::null(), 0), 0);
        assert_eq!(ascend_trace_range_end(7), 0);
        ascend_trace_range_forget(7);
        ascend_trace_range_turn(c"module".as_ptr(), core::ptr::null());
        ascend_trace_range_over();
        ascend_trace_snapshot(c"reason".as_ptr());
        ascend_trace_thread_name(c"name".as_ptr());
    }

    // One test, since all of the process is paused.
    #[test]
    fn a_pause_begins_once_and_ends_once() {
        ascend_trace_resume();
        assert!(!paused::is_on());
        ascend_trace_pause();
        ascend_trace_pause();
        assert!(
            paused::is_on() && paused::is_unreported(),
            "no session has it"
        );
        assert_eq!(ascend_trace_range_begin(1, c"step".as_ptr(), 0), 0);
        ascend_trace_resume();
        assert!(!paused::is_on() && !paused::is_unreported());
    }
}
