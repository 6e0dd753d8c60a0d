//! Readings of a device's clock by the driver, in addition to those of events.
//!
//! The driver reads the device's counter between two host times, on no stream. Its bounds are narrow on
//! both sides, while those of events begin one submit latency early. So they stay separate: the lower
//! edge of the events' lines gives the latency, and only then the two sets are intersected. The mapping
//! moves to the middle of the result, and the latency, a distance to the edge, moves with it.

use std::borrow::Cow;

use super::breakpoint::{Breakpoint, push_rising};
use super::lines::ClockLines;
use super::stretch::{ClockStretch, elapsed};

/// Times of events are on a clock that differs from the device's by up to this: its first time was a
/// whole microsecond, and the place of the event within it is not known.
const PHASE_NS: f64 = 500.0;

/// The knots narrowed by the driver's bounds; `None` where these contradict them: then the driver
/// reported another clock. `base` is missing in the offsets of the knots.
pub(super) fn narrowed(
    knots: &[Breakpoint],
    base: i64,
    driver: &ClockLines,
    limits: (f64, f64),
) -> Option<Vec<Breakpoint>> {
    let apart = driver.base?.saturating_sub(base) as f64;
    let stretches = driver.stretches.iter();
    let stretches: Vec<_> = stretches.map(|it| it.limited(limits)).collect();
    let mut narrowed = Vec::with_capacity(knots.len());
    for knot in knots {
        let knot = match range(&stretches, knot.device) {
            Some((low, high)) => within(knot, low + apart - PHASE_NS, high + apart + PHASE_NS)?,
            None => *knot,
        };
        push_rising(&mut narrowed, knot);
    }
    open_rates(knots, &mut narrowed);
    Some(narrowed)
}

/// Smallest and largest offset that the driver allows at a device time; `None` where its readings say that the
/// clock has stepped.
fn range(stretches: &[Cow<'_, ClockStretch>], device: i64) -> Option<(f64, f64)> {
    let next = stretches.partition_point(|stretch| stretch.pivot <= device);
    let before = next.checked_sub(1).and_then(|place| stretches.get(place));
    let after = stretches.get(next);
    let is_between = before.is_some_and(|stretch| stretch.end < device);
    match (before, after) {
        (_, Some(after)) if is_between && !after.continuation => None,
        (Some(before), Some(after)) if is_between => {
            let (one, other) = (before.range(device), after.range(device));
            Some((one.0.max(other.0), one.1.min(other.1)))
        }
        (Some(stretch), _) | (None, Some(stretch)) => Some(stretch.range(device)),
        (None, None) => None,
    }
}

/// A knot in the middle of what events and these two allow.
fn within(knot: &Breakpoint, low: f64, high: f64) -> Option<Breakpoint> {
    let (low, high) = (knot.low.max(low), knot.high.min(high));
    if low > high {
        return None;
    }
    let offset = (low + high) / 2.0;
    Some(Breakpoint {
        offset,
        error: (high - low) / 2.0,
        below: knot.below + offset - knot.offset,
        ..*knot
    })
}

/// The mapping's rate differs from that of the events' lines: the difference is added to the error.
fn open_rates(before: &[Breakpoint], knots: &mut [Breakpoint]) {
    let shift = |knot: &Breakpoint| {
        let place = before.partition_point(|it| it.device < knot.device);
        before.get(place).map_or(0.0, |it| knot.offset - it.offset)
    };
    for place in 1..knots.len() {
        let (left, right) = (knots[place - 1], knots[place]);
        if right.after_step {
            continue;
        }
        let by = (shift(&right) - shift(&left)).abs() / elapsed(left.device, right.device);
        for knot in &mut knots[place - 1..=place] {
            let place = before.partition_point(|it| it.device < knot.device);
            let was = before.get(place).map_or(0.0, |it| it.rate_open);
            knot.rate_open = knot.rate_open.max(was + by);
        }
    }
}
