//! Begins and ends the recording in this process: when the recorder turns its switch, and when a condition of
//! `--start-at` or `--stop-at` is met. The call, range or step of a condition is recorded itself.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};

use ascend_trace_format::api::{ArgPart, Function, Role, TaskKind};
use ascend_trace_format::record::MAX_LONG_TEXT;
use ascend_trace_format::window::Condition;

use crate::filters::{self, LeftOut};
use crate::function_facts::Traits;
use crate::thread::ThreadState;
use crate::thread::upper_layers::leave;
use crate::window::{self, START, STOP, STOPPING};
use crate::{emit, paused, ranges, session, thread};

/// Flag in the ids of ranges that the hook inside Python reports: the runtime gives the others theirs.
pub(crate) const REPORTED: u64 = 1 << 62;

/// The range that ends the window: its id, its thread, and how many ranges with this id this thread has begun.
static LAST_ID: AtomicU64 = AtomicU64::new(0);
static LAST_THREAD: AtomicUsize = AtomicUsize::new(0);
static LAST_DEPTH: AtomicU32 = AtomicU32::new(0);

/// A call of the function with this id begins. `function` is `None` for a simple call. Returns whether the call is left out.
#[inline]
pub(crate) fn leaves_out(
    state: &ThreadState,
    id: usize,
    function: Option<&Function>,
    traits: &Traits,
) -> LeftOut {
    let is_plain = !session::is_switched() && !window::watches_calls() && !session::may_leave_out();
    match is_plain {
        true => LeftOut::No,
        false => leaves_out_now(state, id, function, traits),
    }
}

/// The same where a pause lasts, or something may begin or end one.
#[cold]
fn leaves_out_now(
    state: &ThreadState,
    id: usize,
    function: Option<&Function>,
    traits: &Traits,
) -> LeftOut {
    follow_switch();
    if window::watches_calls() {
        call_begins(id, function);
    }
    if paused::is_unreported() {
        ranges::report_pause();
    }
    if paused::leaves_out(traits) {
        return LeftOut::Paused;
    }
    match session::is_filtered() && filters::leaves_out(state, id, traits) {
        true => LeftOut::Filtered,
        false => LeftOut::No,
    }
}

/// Follows the recorder's switch, if it was turned. All calls leave the fast path while the recording is paused.
#[inline]
pub(crate) fn follow_switch() {
    if session::is_switched() {
        follow();
    }
}

#[cold]
fn follow() {
    if !session::armed::is_joined() {
        return;
    }
    if session::is_over() {
        return leave();
    }
    let (before, now) = session::follow_switch();
    if before.resumed() != now.resumed() {
        // The user wants a recording, for any cause of the pause.
        let all = paused::BY_PROGRAM | paused::AT_BEGIN | paused::OUTSIDE;
        paused::set(all, false);
        if START.condition() != Condition::None && START.take() {
            session::note_window(true);
        }
    }
    if before.retimed() != now.retimed() {
        session::follow_timing();
    }
    paused::set(paused::BY_RECORDER, now.is_paused());
}

#[cold]
fn call_begins(id: usize, function: Option<&Function>) {
    let replays = |it: &Function| it.role == Role::ExecuteGraph || it.task == Some(TaskKind::Graph);
    let is_replay = function.is_some_and(replays);
    if START.is_met_by_call(id, is_replay) {
        start();
    }
    let ends = STOP.is_met_by_call(id, is_replay) && START.condition() == Condition::None;
    if ends && STOP.take() {
        STOPPING.store(own(), SeqCst);
    }
}

/// A call has returned, and was recorded.
#[inline]
pub(crate) fn call_ends() {
    if STOPPING.load(Relaxed) != 0 {
        end_if_own();
    }
}

#[cold]
fn end_if_own() {
    if STOPPING.compare_exchange(own(), 0, SeqCst, Relaxed).is_ok() {
        stop();
    }
}

/// The calling thread.
fn own() -> usize {
    thread::current() as usize
}

/// The window begins here.
fn start() {
    if START.take() {
        paused::set(paused::OUTSIDE, false);
        session::note_window(true);
        ranges::report_pause();
    }
}

/// It has ended.
fn stop() {
    window::set_last(false);
    paused::set(paused::OUTSIDE, true);
    session::note_window(false);
    ranges::report_pause();
}

/// A call that gives a range or a mark of the program has returned `result`, and was recorded.
#[cold]
pub(crate) fn annotated(function: &Function, args: &[u64], result: u64) {
    let part = |part| {
        function
            .part(part)
            .and_then(|place| args.get(usize::from(place)))
    };
    match function.role {
        Role::RangeBegin => {
            again(result);
            if reached(text_of(function, args), 0) {
                stop_after(result);
            }
        }
        Role::Mark if reached(text_of(function, args), 0) => stop(),
        Role::RangeEnd => range_ends(part(ArgPart::Range).copied().unwrap_or(0)),
        _ => {}
    }
}

/// The text that a call of the program gives its range.
fn text_of<'a>(function: &Function, args: &'a [u64]) -> &'a [u8] {
    let mut texts = function.args.iter().zip(args);
    let text = texts.find(|(arg, _)| arg.kind.is_text() && !arg.out);
    text.and_then(|(_, word)| emit::text(*word, MAX_LONG_TEXT))
        .unwrap_or_default()
}

/// A range or mark with this name begins. Returns whether the window ends with it.
pub(crate) fn reached(name: &[u8], steps: u32) -> bool {
    if START.condition().is_met_by(name, steps) {
        start();
    }
    let has_begun = START.condition() == Condition::None;
    has_begun && STOP.condition().is_met_by(name, steps) && STOP.take()
}

/// The window ends with the range that has this id.
pub(crate) fn stop_after(id: u64) {
    LAST_ID.store(id, Relaxed);
    LAST_THREAD.store(own(), Relaxed);
    LAST_DEPTH.store(1, SeqCst);
    window::set_last(true);
}

/// A range begins. Without a collector of the vendor's, all ranges have the same id.
fn again(id: u64) {
    if LAST_DEPTH.load(Relaxed) != 0 && is_last(id) {
        LAST_DEPTH.fetch_add(1, SeqCst);
    }
}

fn is_last(id: u64) -> bool {
    let is_own = LAST_THREAD.load(Relaxed) == own();
    LAST_ID.load(Relaxed) == id && (is_own || id != 0)
}

/// The range with this id has ended.
#[inline]
pub(crate) fn range_ends(id: u64) {
    if LAST_DEPTH.load(Relaxed) != 0 && is_last(id) && LAST_DEPTH.fetch_sub(1, SeqCst) == 1 {
        stop();
    }
}
