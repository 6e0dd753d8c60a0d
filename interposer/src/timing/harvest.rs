//! Reading the pairs of tasks that are done.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use ascend_trace_format::api::Untimed;

use crate::clock::ticks;
use crate::emit;
use crate::objects::{self, ContextEntry, StreamEntry};
use crate::timing::anchor;
use crate::timing::api::{self, Api};
use crate::timing::counters;
use crate::timing::lane::{self, Lane, Pair};

/// What a synchronisation has proven: whatever was submitted before `begin` was done by `end`.
#[derive(Clone, Copy)]
pub(crate) struct Proof {
    pub(crate) begin: u64,
    pub(crate) end: u64,
}

/// Reads what is done on a lane, at most `limit` pairs. Answers whether pairs are left.
pub(crate) fn lane(lane: &Lane, api: &Api, limit: usize, proof: Option<Proof>) -> bool {
    if lane.harvesting.swap(true, Acquire) {
        return true;
    }
    let mut left = true;
    for _ in 0..limit {
        let Some(pending) = lane.pending.try_lock() else {
            break;
        };
        let Some(pair) = pending.front().copied() else {
            left = false;
            break;
        };
        drop(pending);
        if !read(lane, api, pair, proof) {
            break;
        }
        lane.pending.lock_patiently().pop_front();
    }
    lane.harvesting.store(false, Release);
    left
}

/// Reads one pair. False while it is not done.
fn read(lane: &Lane, api: &Api, pair: Pair, proof: Option<Proof>) -> bool {
    let Some(context) = lane.context() else {
        return false;
    };
    match (api.is_complete(pair.end), api.is_complete(pair.start)) {
        (Some(true), Some(true)) => {}
        (Some(_), Some(_)) => return false,
        // The runtime refuses to say: an aborted stream, a lost device. The events are left alone,
        // since nobody knows whether they are still pending.
        _ => {
            report_untimed(lane, pair, Untimed::Unreadable);
            return true;
        }
    }
    let seen = match proof {
        Some(proof) if pair.entry < proof.begin => proof.end,
        _ => ticks(),
    };
    let times = times(context, api, pair);
    if let Some(sequence) = pair.sequence {
        match times {
            Some((begin, end)) => {
                emit::task_time(lane.stream.load(Relaxed), sequence, begin, end, seen);
            }
            None => report_untimed(lane, pair, Untimed::Unreadable),
        }
    }
    recycle(context, api, pair, times);
    true
}

/// Begin and end of a pair on the device's clock. The length comes straight from the two events.
fn times(context: &ContextEntry, api: &Api, pair: Pair) -> Option<(i64, i64)> {
    let reference = *context.timing.reference.lock_patiently();
    let begin = reference.read(api, pair.start)?;
    if pair.start == pair.end {
        return Some((begin, begin));
    }
    let length = api.elapsed_ns(pair.start, pair.end)?.max(0.0);
    Some((begin, begin.wrapping_add(length.round() as i64)))
}

/// Puts the events back, keeping one as the clock's reference now and then.
fn recycle(context: &ContextEntry, api: &Api, pair: Pair, times: Option<(i64, i64)>) {
    if pair.start != pair.end {
        context.timing.give_event(pair.end);
    }
    let free = match times {
        Some((begin, _)) => context
            .timing
            .reference
            .lock_patiently()
            .offer(api, pair.start, begin),
        None => pair.start,
    };
    context.timing.give_event(free);
}

fn report_untimed(lane: &Lane, pair: Pair, reason: Untimed) {
    if let Some(sequence) = pair.sequence {
        emit::task_untimed(lane.stream.load(Relaxed), sequence, reason);
    }
}

/// Pairs that the program's own thread reads after one of its synchronisations; what is left is
/// the harvester's.
const AFTER_SYNC: usize = 64;

/// The program has synchronised a stream.
pub(crate) fn after_stream_sync(stream: &StreamEntry, proof: Proof) {
    let Some(api) = api::get() else { return };
    if let Some(lane) = lane_of(stream) {
        self::lane(lane, api, AFTER_SYNC, Some(proof));
    }
}

/// The program has synchronised a whole context.
pub(crate) fn after_context_sync(context: &ContextEntry, proof: Proof) {
    let Some(api) = api::get() else { return };
    for lane in lanes_of(context) {
        self::lane(lane, api, AFTER_SYNC, Some(proof));
    }
}

fn lane_of(stream: &StreamEntry) -> Option<&'static Lane> {
    let raw = stream.lane.load(Acquire);
    // SAFETY: lanes live for ever.
    unsafe { raw.as_ref() }
}

fn lanes_of(context: &ContextEntry) -> impl Iterator<Item = &'static Lane> {
    let wanted = core::ptr::from_ref(context);
    lane::all().filter(move |lane| {
        lane.is_used() && lane.context().is_some_and(|own| core::ptr::eq(own, wanted))
    })
}

/// A stream has been destroyed: what it had submitted is done, or was given up.
pub(crate) fn after_stream_end(stream: &StreamEntry) {
    let Some(lane) = lane_of(stream) else { return };
    let Some(api) = api::get() else { return };
    drain(lane, api, 0);
    stream.lane.store(core::ptr::null_mut(), Release);
    lane.release();
}

/// How long a teardown that will itself wait for the device waits for the last times.
const TEARDOWN_ROUNDS: u32 = 100;

/// A context is about to end: reads what can be read and destroys the events, which must not
/// outlive it. The runtime itself waits here for unfinished tasks, so waiting a little first
/// costs the program nothing. `is_current` says whether it is the calling thread's.
pub(crate) fn before_context_end(context: &ContextEntry, is_current: bool) {
    if !context.timing.is_open() {
        return;
    }
    context.timing.close();
    let Some(api) = api::get() else { return };
    for lane in lanes_of(context) {
        drain(lane, api, TEARDOWN_ROUNDS);
    }
    if is_current {
        anchor::take_last(api, context);
    }
    counters::tell();
    context.timing.destroy_events(api);
    for stream in objects::streams_of(context.serial.load(Relaxed)) {
        if let Some(lane) = lane_of(stream) {
            stream.lane.store(core::ptr::null_mut(), Release);
            lane.release();
        }
    }
}

/// The process ends: reads what is done already.
pub(crate) fn at_exit() {
    let Some(api) = api::get() else { return };
    for lane in lane::all().filter(|lane| lane.is_used()) {
        if lane
            .context()
            .is_some_and(|context| context.timing.is_open())
        {
            self::lane(lane, api, usize::MAX, None);
        }
    }
    counters::tell();
}

/// Reads a lane to its end, waiting up to `rounds` half milliseconds for what is not done yet; then
/// gives the rest up.
fn drain(lane: &Lane, api: &Api, rounds: u32) {
    let mut waited = 0;
    while self::lane(lane, api, usize::MAX, None) && waited < rounds {
        waited += 1;
        pause();
    }
    // Nobody else may be reading a pair that is about to be thrown away.
    while lane.harvesting.swap(true, Acquire) {
        pause();
    }
    let mut pending = lane.pending.lock_patiently();
    counters::LOST.add(pending.len() as u64);
    for pair in pending.drain(..) {
        report_untimed(lane, pair, Untimed::Lost);
        api.destroy_event(pair.start);
        if pair.start != pair.end {
            api.destroy_event(pair.end);
        }
    }
    drop(pending);
    lane.harvesting.store(false, Release);
}

fn pause() {
    let half = libc::timespec {
        tv_sec: 0,
        tv_nsec: 500_000,
    };
    // SAFETY: sleeps for the time in a live local.
    unsafe { libc::nanosleep(&half, core::ptr::null_mut()) };
}
