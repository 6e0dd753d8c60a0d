//! The mapping as a line with bends.

use super::stretch::{MAX_RATE_CHANGE, RATE_CHANGE, bend, elapsed};

/// A point of the mapping: between two of them it is straight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Breakpoint {
    pub(super) device: i64,
    /// Host minus device time, less the clock's base.
    pub(super) offset: f64,
    pub(super) error: f64,
    /// How far below `offset` it would still agree with every bound, at the same rate. The quickest
    /// submission to an idle stream sets the limit.
    pub(super) below: f64,
    /// How far below that again, at other rates.
    pub(super) vague: f64,
    /// Smallest and largest offset that agree with every bound on events.
    pub(super) low: f64,
    pub(super) high: f64,
    /// How far the rate may be off.
    pub(super) rate_open: f64,
    /// Between the knot before it and this one the clock has stepped.
    pub(super) after_step: bool,
}

/// Rate at an end of the mapping and how fast the error grows beyond it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EndSlope {
    pub(super) rate: f64,
    pub(super) error: f64,
}

/// Appends a knot, and takes back those before it that would make host time run backwards.
pub(super) fn push_rising(knots: &mut Vec<Breakpoint>, knot: Breakpoint) {
    while let Some(last) = knots.last() {
        let step = elapsed(last.device, knot.device);
        if step > 0.0 && step + knot.offset - last.offset > 0.0 {
            break;
        }
        knots.pop();
    }
    knots.push(knot);
}

pub(super) fn between(left: &Breakpoint, right: &Breakpoint, device: i64) -> Breakpoint {
    if right.after_step {
        // When between the two it stepped is not known.
        let apart = (right.offset - left.offset).abs();
        let error = left.error.max(right.error) + apart;
        return Breakpoint {
            device,
            error,
            below: error,
            ..*right
        };
    }
    let passed = elapsed(left.device, device);
    let whole = elapsed(left.device, right.device);
    let share = passed / whole;
    let sag = (RATE_CHANGE / 2.0 * passed * (whole - passed))
        .min(MAX_RATE_CHANGE * share * (whole - passed));
    let mix = |left: f64, right: f64| left + share * (right - left);
    Breakpoint {
        device,
        offset: mix(left.offset, right.offset),
        error: mix(left.error, right.error) + sag,
        below: mix(left.below, right.below) + sag,
        vague: mix(left.vague, right.vague) + sag,
        low: mix(left.low, right.low) - sag,
        high: mix(left.high, right.high) + sag,
        rate_open: mix(left.rate_open, right.rate_open),
        after_step: false,
    }
}

pub(super) fn beyond(knot: &Breakpoint, slope: EndSlope, device: i64) -> Breakpoint {
    let t = elapsed(knot.device, device);
    let more = slope.error * t.abs() + bend(t);
    Breakpoint {
        device,
        offset: knot.offset + slope.rate * t,
        error: knot.error + more,
        below: knot.below + more,
        vague: knot.vague + more,
        low: knot.low + slope.rate * t - more,
        high: knot.high + slope.rate * t + more,
        rate_open: slope.error,
        after_step: false,
    }
}
