//! Reads times before the end of a stream, a context or the process would destroy them.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use ascend_trace_format::api::Untimed;

use crate::objects::{self, ContextEntry, StreamEntry};
use crate::syscall_policy;
use crate::timing::api::{self, Api};
use crate::timing::harvest::{self, Limit, QueryPolicy};
use crate::timing::lane::{self, KeptOut, Lane};
use crate::timing::{anchor, counters, reference, runs};

/// A stream is about to be destroyed or aborted: reads finished pairs, and keeps all readers out until
/// the call has returned. A query during the end of a stream would not find it.
pub(crate) fn before_stream_end(stream: &StreamEntry) -> Option<KeptOut> {
    let Some(kept_out) = lane::known(stream)?.keep_out(&mut { EXIT_ROUNDS }) else {
        // Nobody touches the lane any more.
        stream.lane.store(core::ptr::null_mut(), Release);
        return None;
    };
    let lane = kept_out.lane();
    if let Some(api) = api::get().filter(|_| is_open(lane)) {
        // The first question may only make the runtime take note.
        for _ in 0..2 {
            harvest::take(lane, api, &Limit::ALL, None, QueryPolicy::Harmless);
        }
    }
    Some(kept_out)
}

/// A stream has been destroyed. Its work is done, unless it was destroyed by force.
pub(crate) fn after_stream_end(stream: &StreamEntry, kept_out: &KeptOut, was_forced: bool) {
    let lane = kept_out.lane();
    let Some(api) = api::get() else { return };
    if !was_forced && is_open(lane) {
        stream.seen.knows(u64::MAX);
        harvest::take(lane, api, &Limit::ALL, None, QueryPolicy::Nothing);
    }
    let has_failed = |context: &ContextEntry| context.timing.has_failed();
    let reason = match lane.context().is_some_and(has_failed) {
        true => Untimed::ContextFailed,
        false => Untimed::StreamGone,
    };
    forsake(lane, api, reason);
    stream.lane.store(core::ptr::null_mut(), Release);
    lane.release();
}

/// Whether the runtime may be asked about a lane's context.
fn is_open(lane: &Lane) -> bool {
    lane.context()
        .is_some_and(|context| context.timing.is_open())
}

/// How long a teardown that will itself wait for the device waits for the last times, in half
/// milliseconds and for all streams together.
const TEARDOWN_ROUNDS: u32 = 40;

/// A context is about to end: reads finished pairs and destroys the events, which must not outlive it.
/// The runtime itself waits here for unfinished tasks, so a short wait before costs the program
/// nothing. `is_current` says whether it is the calling thread's.
pub(crate) fn before_context_end(context: &'static ContextEntry, is_current: bool) {
    if context.timing.has_failed() {
        after_failure(context);
        return;
    }
    if !context.timing.is_open() {
        // What events of it are left from before are not touched.
        reference::abandon(context);
        return;
    }
    context.timing.close();
    let Some(api) = api::get() else { return };
    wait_for_last(context, api);
    let mut rounds = EXIT_ROUNDS;
    for lane in harvest::lanes_of(context) {
        drain(lane, api, &mut rounds);
    }
    if is_current {
        anchor::take_last(api, context);
    }
    counters::tell();
    reference::release(api, context);
    context.timing.destroy_events(api);
    release_lanes(context);
}

/// The device of a context is about to be reset by force. The fate of contexts that the program has
/// made is not documented: finished pairs are read, and the runtime gets no query until the program
/// submits there again.
pub(crate) fn before_forced_reset(context: &'static ContextEntry) {
    if !context.timing.is_open() {
        return;
    }
    context.timing.close();
    let Some(api) = api::get() else { return };
    let mut rounds = EXIT_ROUNDS;
    for lane in harvest::lanes_of(context) {
        let Some(kept_out) = lane.keep_out(&mut rounds) else {
            continue;
        };
        // The first question may only make the runtime take note.
        for _ in 0..2 {
            harvest::take(
                kept_out.lane(),
                api,
                &Limit::ALL,
                None,
                QueryPolicy::Harmless,
            );
        }
    }
    reference::release(api, context);
}

/// A context that has failed is about to end: nothing of it is touched.
fn after_failure(context: &'static ContextEntry) {
    let mut rounds = EXIT_ROUNDS;
    for lane in harvest::lanes_of(context) {
        let Some(kept_out) = lane.keep_out(&mut rounds) else {
            continue;
        };
        // SAFETY: `harvesting` is set, so no other thread takes out.
        while let Some(pair) = unsafe { kept_out.lane().pending.front() } {
            // SAFETY: as above.
            unsafe { kept_out.lane().pending.pop() };
            harvest::give_up(lane, pair, Untimed::ContextFailed);
        }
        abandon_run(lane, Untimed::ContextFailed);
        lane.forget_stash();
    }
    counters::tell();
    reference::abandon(context);
    reference::wait_for_readers(context);
    context.timing.forget_events();
    release_lanes(context);
}

fn release_lanes(context: &ContextEntry) {
    for stream in objects::streams_of(context.serial.load(Relaxed)) {
        if let Some(lane) = lane::known(stream) {
            stream.lane.store(core::ptr::null_mut(), Release);
            if !lane.harvesting.load(Acquire) {
                lane.release();
            }
        }
    }
}

/// How long the end of a process waits for another thread that is reading times, in half milliseconds
/// and for all streams together. It may have thousands to read; one that a signal holds up is left.
const EXIT_ROUNDS: u32 = 200;
/// How often everything is asked about, half a millisecond apart.
const EXIT_PASSES: u32 = 3;

/// The process ends: reads finished pairs.
pub(crate) fn at_exit() {
    let Some(api) = api::get() else { return };
    let mut rounds = EXIT_ROUNDS;
    // The first question may only make the runtime take note.
    for pass in 0..EXIT_PASSES {
        if pass > 0 {
            syscall_policy::pause();
        }
        if !read_all(api, &mut rounds) {
            break;
        }
    }
    counters::tell();
}

/// Reads finished pairs on all lanes. Returns whether some are left.
fn read_all(api: &Api, rounds: &mut u32) -> bool {
    let mut is_left = false;
    let lanes = lane::all().filter(|lane| lane.is_used() && lane.has_pending());
    for lane in lanes {
        let is_open = |context: &ContextEntry| context.timing.is_open();
        if lane.context().is_some_and(is_open)
            && let Some(kept_out) = lane.keep_out(rounds)
        {
            harvest::take(kept_out.lane(), api, &Limit::ALL, None, QueryPolicy::All);
            is_left |= lane.has_pending();
        }
    }
    is_left
}

/// Reads finished pairs of a context until none is left, or for the time limit of a teardown.
fn wait_for_last(context: &ContextEntry, api: &Api) {
    for round in 0..=TEARDOWN_ROUNDS {
        let mut is_left = false;
        for lane in harvest::lanes_of(context) {
            harvest::lane(lane, api, &Limit::ALL, None, QueryPolicy::All);
            is_left |= lane.has_pending();
        }
        if !is_left {
            return;
        }
        if round < TEARDOWN_ROUNDS {
            syscall_policy::pause();
        }
    }
}

/// Reads finished pairs of a lane and abandons the rest.
fn drain(lane: &'static Lane, api: &Api, rounds: &mut u32) {
    // Nobody else may be reading a pair that is about to be thrown away.
    let Some(_kept_out) = lane.keep_out(rounds) else {
        return;
    };
    harvest::take(lane, api, &Limit::ALL, None, QueryPolicy::All);
    forsake(lane, api, Untimed::ContextGone);
}

/// Abandons the rest of a lane, and its fetched events. The caller has set `harvesting`.
fn forsake(lane: &Lane, api: &Api, reason: Untimed) {
    // SAFETY: `harvesting` is set, so no other thread takes out.
    while let Some(pair) = unsafe { lane.pending.front() } {
        // SAFETY: as above.
        unsafe { lane.pending.pop() };
        counters::LOST.add(1);
        harvest::report_untimed(lane, pair, reason);
        for event in pair.events().filter(|_| is_open_or_closing(lane)) {
            api.destroy_event(event);
        }
    }
    abandon_run(lane, reason)
        .into_iter()
        .flatten()
        .filter(|event| *event != 0 && is_open_or_closing(lane))
        .for_each(|event| api.destroy_event(event));
    if let Some(context) = lane.context() {
        lane.empty_stash(context, api);
    }
}

/// A run that has not ended has no time. Returns its events.
fn abandon_run(lane: &Lane, reason: Untimed) -> Option<[u64; 2]> {
    if !lane.has_run.load(Relaxed) {
        return None;
    }
    let mut turn = lane.turn()?;
    runs::abandon(&mut turn, lane, reason)
}

/// Whether queries about a lane's context are allowed.
fn is_open_or_closing(lane: &Lane) -> bool {
    !lane
        .context()
        .is_some_and(|context| context.timing.has_failed())
}
