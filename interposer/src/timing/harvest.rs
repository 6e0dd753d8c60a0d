//! Reading the pairs of tasks that are done.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use ascend_trace_format::api::Untimed;

use crate::clock::ticks;
use crate::objects::{self, ContextEntry, StreamEntry};
use crate::timing::anchor;
use crate::timing::api::{self, Api};
use crate::timing::counters;
use crate::timing::lane::{self, Lane, Pair, UNREAD};
use crate::timing::reference;
use crate::{emit, quiet, thread};

/// What a synchronisation has proven: whatever was submitted before `begin` was done by `end`.
#[derive(Clone, Copy)]
pub(crate) struct Proof {
    pub(crate) begin: u64,
    pub(crate) end: u64,
}

/// Reads what is done on a lane, at most `limit` pairs. Answers how many were read.
pub(crate) fn lane(lane: &Lane, api: &Api, limit: usize, proof: Option<Proof>) -> usize {
    if lane.harvesting.swap(true, Acquire) {
        return 0;
    }
    let count = take(lane, api, limit, proof);
    lane.harvesting.store(false, Release);
    count
}

/// Reads what is done for a caller that has set `harvesting`.
fn take(lane: &Lane, api: &Api, limit: usize, proof: Option<Proof>) -> usize {
    let mut count = 0;
    while count < limit {
        // SAFETY: `harvesting` is set, so nobody else takes out.
        let Some(pair) = (unsafe { lane.pending.front() }) else {
            break;
        };
        if !read(lane, api, pair, proof) {
            break;
        }
        // SAFETY: as above.
        unsafe { lane.pending.pop() };
        count += 1;
    }
    count
}

/// Reads one pair. False while it is not done.
fn read(lane: &Lane, api: &Api, pair: Pair, proof: Option<Proof>) -> bool {
    let Some(context) = lane.context() else {
        return false;
    };
    match api.is_complete(pair.end) {
        Some(true) => {}
        Some(false) => return false,
        // The runtime refuses to say: an aborted stream, a lost device. The events are left alone,
        // since nobody knows whether they are still pending.
        None => {
            lane.last_end.store(UNREAD, Relaxed);
            report_untimed(lane, pair, Untimed::Unreadable);
            for _ in pair.events() {
                context.timing.give_up_event();
            }
            return true;
        }
    }
    let seen = match proof {
        Some(proof) if pair.entry < proof.begin => proof.end,
        _ => ticks(),
    };
    let mut kept = 0;
    let times = times(lane, context, api, pair, &mut kept);
    lane.last_end
        .store(times.map_or(UNREAD, |(_, end)| end), Relaxed);
    if let Some(sequence) = pair.sequence {
        match times {
            Some((begin, end)) => emit::task_time(&emit::TaskTime {
                stream: lane.stream.load(Relaxed),
                sequence,
                begin,
                end,
                seen,
                submission: [pair.armed_from(), pair.begin, pair.closed],
            }),
            None => report_untimed(lane, pair, Untimed::Unreadable),
        }
    }
    for event in pair.events().filter(|event| *event != kept) {
        context.timing.give_event(api, event);
    }
    true
}

/// Begin and end of a pair on the device's clock. The length comes straight from the two events.
/// `kept` becomes the event that is the device's reference from now on.
fn times(
    lane: &Lane,
    context: &'static ContextEntry,
    api: &Api,
    pair: Pair,
    kept: &mut u64,
) -> Option<(i64, i64)> {
    let mut place = |event: u64| {
        let reading = reference::read(api, context, event)?;
        if reading.adopted {
            *kept = event;
        }
        Some(reading.nanoseconds)
    };
    if pair.start == 0 {
        let begin = Some(lane.last_end.load(Relaxed)).filter(|last| *last != UNREAD);
        let end = place(pair.end)?;
        return Some((begin?.min(end), end));
    }
    // The start was reached before the end; some runtimes let its time be read only once it was
    // asked for.
    let begin = place(pair.start).or_else(|| {
        api.is_complete(pair.start)?;
        place(pair.start)
    })?;
    if pair.start == pair.end {
        return Some((begin, begin));
    }
    let length = api.elapsed_ns(pair.start, pair.end)?.max(0.0);
    Some((begin, begin.wrapping_add(length.round() as i64)))
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
    let begin = ticks();
    if let Some(lane) = lane_of(stream) {
        self::lane(lane, api, AFTER_SYNC, Some(proof));
    }
    spent_since(begin);
}

/// The program has synchronised a whole context.
pub(crate) fn after_context_sync(context: &ContextEntry, proof: Proof) {
    let Some(api) = api::get() else { return };
    let begin = ticks();
    for lane in lanes_of(context) {
        self::lane(lane, api, AFTER_SYNC, Some(proof));
    }
    spent_since(begin);
}

/// The program's thread has been reading times since then.
fn spent_since(begin: u64) {
    let spent = ticks().wrapping_sub(begin);
    thread::with(|state| state.meter().reading.add(spent));
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
    let is_free = drain(lane, api, &mut { EXIT_ROUNDS });
    stream.lane.store(core::ptr::null_mut(), Release);
    if is_free {
        lane.release();
    }
}

/// How long a teardown that will itself wait for the device waits for the last times, in half
/// milliseconds and for all streams together.
const TEARDOWN_ROUNDS: u32 = 40;

/// A context is about to end: reads what can be read and destroys the events, which must not
/// outlive it. The runtime itself waits here for unfinished tasks, so waiting a little first
/// costs the program nothing. `is_current` says whether it is the calling thread's.
pub(crate) fn before_context_end(context: &'static ContextEntry, is_current: bool) {
    if !context.timing.is_open() {
        return;
    }
    context.timing.close();
    let Some(api) = api::get() else { return };
    wait_for_last(context, api);
    let mut rounds = EXIT_ROUNDS;
    for lane in lanes_of(context) {
        drain(lane, api, &mut rounds);
    }
    if is_current {
        anchor::take_last(api, context);
    }
    counters::tell();
    reference::release(api, context);
    context.timing.destroy_events(api);
    for stream in objects::streams_of(context.serial.load(Relaxed)) {
        if let Some(lane) = lane_of(stream) {
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

/// The process ends: reads what is done already.
pub(crate) fn at_exit() {
    let Some(api) = api::get() else { return };
    let mut rounds = EXIT_ROUNDS;
    for lane in lane::all().filter(|lane| lane.is_used()) {
        let is_open = |context: &ContextEntry| context.timing.is_open();
        if lane.context().is_some_and(is_open) && is_free(lane, &mut rounds) {
            take(lane, api, usize::MAX, None);
            lane.harvesting.store(false, Release);
        }
    }
    counters::tell();
}

/// Waits until no other thread reads the times of a lane, and sets `harvesting` for the caller.
fn is_free(lane: &Lane, rounds: &mut u32) -> bool {
    while lane.harvesting.swap(true, Acquire) {
        if *rounds == 0 {
            return false;
        }
        *rounds -= 1;
        pause();
    }
    true
}

/// Reads what is done in a context until nothing is left, or for as long as a teardown waits.
fn wait_for_last(context: &ContextEntry, api: &Api) {
    for round in 0..=TEARDOWN_ROUNDS {
        let mut is_left = false;
        for lane in lanes_of(context) {
            self::lane(lane, api, usize::MAX, None);
            is_left |= lane.has_pending();
        }
        if !is_left {
            return;
        }
        if round < TEARDOWN_ROUNDS {
            pause();
        }
    }
}

/// Reads what is done on a lane and gives the rest up.
///
/// Answers whether the lane is free for another stream.
fn drain(lane: &Lane, api: &Api, rounds: &mut u32) -> bool {
    // Nobody else may be reading a pair that is about to be thrown away. A reader that a signal handler
    // has jumped out of never comes back: then nobody touches the lane any more.
    if !is_free(lane, rounds) {
        return false;
    }
    take(lane, api, usize::MAX, None);
    // SAFETY: `harvesting` is set, so nobody else takes out.
    while let Some(pair) = unsafe { lane.pending.front() } {
        // SAFETY: as above.
        unsafe { lane.pending.pop() };
        counters::LOST.add(1);
        report_untimed(lane, pair, Untimed::ContextGone);
        for event in pair.events() {
            api.destroy_event(event);
        }
    }
    lane.harvesting.store(false, Release);
    if let Some(context) = lane.context() {
        lane.empty_stash(context, api);
    }
    true
}

pub(super) fn pause() {
    quiet::sleep(500_000);
}
