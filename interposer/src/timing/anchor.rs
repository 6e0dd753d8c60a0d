//! Comparing a device's clock with the host's: an event recorded on an idle stream is done a few
//! microseconds later, and the host's clock before the record and after the first query that saw
//! it done bounds its time.

use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::api::AnchorSource;
use ascend_trace_format::record::kinds;
use ascend_trace_ring::ticks::monotonic;

use crate::clock::{ticks, ticks_after_all};
use crate::objects::{self, ContextEntry};
use crate::timing::api::Api;
use crate::timing::{capture, chip, lane, reference};
use crate::{emit, last_task, syscall_policy, thread};

/// How long one comparison may take; a stream that is not idle after all is left alone.
const LONGEST_NS: u64 = 200_000;

/// An existing device replies within this time. After that the processor is offered to others between
/// two queries: a runtime's thread may be waiting for it, on a small machine or with software in the
/// place of the device.
const ALONE_NS: u64 = 4_000;

/// A comparison that took this much longer than the shortest one says little. The device, or the host,
/// was busy with other work, so the next opportunities are taken as well, at any time, but only this
/// many in a row.
const WIDE_NS: u64 = 10_000;
const RETRIES: u32 = 2;

/// How often the time between comparisons may double when they fail.
const MOST_DOUBLINGS: u32 = 7;

/// Compares the clocks on a stream of the current context, unless that was done less than
/// `interval_ns` ago.
pub(crate) fn take(api: &Api, context: &'static ContextEntry, stream: u64, interval_ns: u64) {
    let now = monotonic();
    let last = context.timing.anchored.load(Relaxed);
    let failures = context.timing.failures.load(Relaxed).min(MOST_DOUBLINGS);
    let is_retry = !context
        .timing
        .poor
        .load(Relaxed)
        .is_multiple_of(RETRIES + 1);
    if !is_retry && last != 0 && now.wrapping_sub(last) < interval_ns << failures {
        return;
    }
    // The default stream cannot be captured, but the tool must not use it during a capture either.
    let is_beside_capture = stream == 0 && capture::any();
    if is_beside_capture || context.timing.anchored.swap(now, Relaxed) != last {
        return;
    }
    // Whoever looks makes the program's own times readable.
    if !chip::tells_by_query() || !lane::is_quiet(context) {
        return;
    }
    let Some(event) = context.timing.take_event(api) else {
        return;
    };
    thread::with(last_task::keep_if_new);
    let floor = reference::latest(context);
    let Some(before) = record(api, context, event, stream) else {
        context.timing.give_event(api, event);
        return;
    };
    thread::with(|state| state.meter().events.add(1));
    match spin(api, event) {
        Some(EventSeen { after, spent_ns }) => {
            context.timing.failures.store(0, Relaxed);
            let best = context
                .timing
                .best
                .fetch_min(spent_ns, Relaxed)
                .min(spent_ns);
            if spent_ns.wrapping_sub(best) > WIDE_NS {
                context.timing.poor.fetch_add(1, Relaxed);
            } else {
                context.timing.poor.store(0, Relaxed);
            }
            let reading = reference::read(api, context, event, floor).ok();
            if let Some(reading) = reading {
                emit::from_inside(&kinds::Anchor {
                    source: AnchorSource::Event,
                    device: context.device.load(Relaxed),
                    before,
                    after,
                    device_ns: reading.nanoseconds,
                });
            }
            if !reading.is_some_and(|reading| reading.adopted) {
                context.timing.give_event(api, event);
            }
        }
        // Still pending: it must not be used again before it is done, so it is given up. That
        // costs one event per failed comparison, and comparisons are rare.
        None => {
            context.timing.failures.fetch_add(1, Relaxed);
            context.timing.poor.fetch_add(1, Relaxed);
            api.destroy_event(event);
            context.timing.give_up_event();
        }
    }
}

/// Records an event of the tool, but not between the events of a task that another thread is
/// submitting: it would be measured with the task. Returns the ticks before that.
fn record(api: &Api, context: &ContextEntry, event: u64, stream: u64) -> Option<u64> {
    let record = || {
        let before = ticks();
        api.record(event, stream).then_some(before)
    };
    let known = objects::known_stream(stream, context.serial.load(Relaxed));
    let Some(lane) = known.and_then(lane::known) else {
        return record();
    };
    let mut turn = lane.free_turn()?;
    // The end of the last task is not the begin of the next any more.
    turn.chain = None;
    thread::with(|state| state.submission.set_turn(Some(lane.noted())));
    let before = record();
    thread::with(|state| state.submission.set_turn(None));
    before
}

/// The last opportunity: the current context is about to end and nothing runs in it any more. Taken
/// when the latest comparisons said little.
pub(crate) fn take_last(api: &Api, context: &'static ContextEntry) {
    for _ in 0..=RETRIES {
        if context.timing.poor.load(Relaxed) == 0 {
            return;
        }
        take(api, context, 0, 0);
    }
}

/// When an event was first seen done.
struct EventSeen {
    /// In ticks.
    after: u64,
    /// Since the first query.
    spent_ns: u64,
}

/// Waits for the event; `None` when it takes too long.
fn spin(api: &Api, event: u64) -> Option<EventSeen> {
    let begin = monotonic();
    loop {
        let done = api.is_complete(event).ok()?;
        let after = ticks_after_all();
        let spent_ns = monotonic().wrapping_sub(begin);
        if done {
            return Some(EventSeen { after, spent_ns });
        }
        if spent_ns > LONGEST_NS {
            return None;
        }
        if spent_ns > ALONE_NS {
            syscall_policy::yield_now();
        }
    }
}
