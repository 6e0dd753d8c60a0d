//! One stretch of device time: the possible lines of a clock there.

use std::borrow::Cow;

use super::breakpoint::{Breakpoint, EndSlope, between, push_rising};
use super::rates::MAX_RATE;
use super::region::{ClockLine, LineRegion};

/// The mapping bends this often within a stretch, where most is known about its middle.
const PARTS: i64 = 8;
/// A rate changes by no more than this per nanosecond (0.3 ppm per second: an oscillator that
/// warms up), and by no more than this in all.
pub(super) const RATE_CHANGE: f64 = 0.3e-6 / 1e9;
pub(super) const MAX_RATE_CHANGE: f64 = 5e-6;

/// The lines of one stretch of device time, measured from `pivot`.
#[derive(Clone, Debug)]
pub(super) struct ClockStretch {
    pub(super) pivot: i64,
    pub(super) end: i64,
    pub(super) region: LineRegion,
    /// It builds on the lines of the stretch before it, so that the mapping continues smoothly.
    pub(super) continuation: bool,
}

impl ClockStretch {
    /// A stretch of which one bound is known.
    pub(super) fn fresh(pivot: i64, band: (f64, f64)) -> Self {
        Self {
            pivot,
            end: pivot,
            region: LineRegion::rectangle(band, (-MAX_RATE, MAX_RATE)),
            continuation: false,
        }
    }

    /// Narrows the region down; false when no line would be left.
    pub(super) fn take(&mut self, t: f64, device: i64, band: (f64, f64)) -> bool {
        let band = (band.0 - bend(t), band.1 + bend(t));
        let taken = self.region.lies_within(t, band) || self.region.clip(t, band);
        if taken {
            self.end = device;
        }
        taken
    }

    /// The line that the mapping follows. Its rate is that of the lowest one at the middle: from
    /// below, the bounds are tight, since a quick submission always takes the same time. When
    /// something was seen complete varies much more.
    fn line(&self) -> ClockLine {
        let middle = elapsed(self.pivot, self.end) / 2.0;
        let rate = self.region.lowest(middle).rate;
        let (low, high) = self.region.at_rate(rate);
        ClockLine {
            offset: (low + high) / 2.0,
            rate,
        }
    }

    /// The mapping at a device time, if its line has this `offset` there.
    fn breakpoint(&self, device: i64, offset: f64) -> Breakpoint {
        let t = elapsed(self.pivot, device);
        let (low, high) = self.region.range(t);
        let (least, most) = self.region.at_rate(self.line().rate);
        let below = (most - least) / 2.0;
        Breakpoint {
            device,
            offset,
            error: (high - offset).max(offset - low) + bend(t),
            below,
            vague: (offset - low - below).max(0.0) + bend(t),
            low: low - bend(t),
            high: high + bend(t),
            rate_open: self.slope().error,
            after_step: false,
        }
    }

    pub(super) fn first_knot(&self) -> Breakpoint {
        self.breakpoint(self.pivot, self.line().offset)
    }

    pub(super) fn last_knot(&self) -> Breakpoint {
        let line = self.line();
        self.breakpoint(self.end, line.at(elapsed(self.pivot, self.end)))
    }

    /// Smallest and largest value that a line can have at a device time.
    pub(super) fn range(&self, device: i64) -> (f64, f64) {
        let t = elapsed(self.pivot, device);
        let (low, high) = self.region.range(t);
        (low - bend(t), high + bend(t))
    }

    /// Knots on the line between two others. It is not bent there, so that lengths are right, but
    /// more is known about the middle of a stretch than about its ends.
    pub(super) fn bends(&self, from: &Breakpoint, to: &Breakpoint, knots: &mut Vec<Breakpoint>) {
        let length = self.end.saturating_sub(self.pivot);
        for part in (1..PARTS).filter(|_| length >= PARTS) {
            let device = self.pivot.saturating_add(length / PARTS * part);
            let on_line = between(from, to, device);
            let known = self.breakpoint(device, on_line.offset);
            let bent = Breakpoint {
                below: on_line.below,
                // The next stretch may have had quicker submissions: the part of them above the
                // possible lines here is not known here.
                vague: known.vague.max(on_line.offset - known.low - on_line.below),
                rate_open: on_line.rate_open,
                ..known
            };
            push_rising(knots, bent);
        }
    }

    /// A following stretch that begins at `device` with the lines of this one; `None` when these
    /// disagree with the band.
    pub(super) fn continuation(&self, device: i64, band: (f64, f64)) -> Option<Self> {
        let mut region = self.carried(device);
        region.clip(0.0, band).then_some(Self {
            pivot: device,
            end: device,
            region,
            continuation: true,
        })
    }

    /// What this stretch knows about lines measured from another pivot.
    pub(super) fn carried(&self, pivot: i64) -> LineRegion {
        let t = elapsed(self.pivot, pivot);
        let change = (RATE_CHANGE * t.abs()).min(MAX_RATE_CHANGE);
        let mut region = self.region.carried(t, bend(t), change);
        region.limit_rate((-MAX_RATE, MAX_RATE));
        region
    }

    /// The same without the lines that have a rate beyond these limits; unchanged if no line would
    /// remain.
    pub(super) fn limited(&self, limits: (f64, f64)) -> Cow<'_, Self> {
        let (slow, fast) = self.region.rates();
        if limits.0 <= slow && fast <= limits.1 {
            return Cow::Borrowed(self);
        }
        let mut limited = self.clone();
        limited.region.limit_rate(limits);
        Cow::Owned(limited)
    }

    pub(super) fn slope(&self) -> EndSlope {
        let (slow, fast) = self.region.rates();
        let rate = self.line().rate;
        EndSlope {
            rate,
            error: (fast - rate).max(rate - slow),
        }
    }
}

/// How far a clock can be off its straight line after this long, for its rate may change.
pub(super) fn bend(t: f64) -> f64 {
    let t = t.abs();
    (RATE_CHANGE / 2.0 * t * t).min(MAX_RATE_CHANGE * t)
}

pub(super) fn elapsed(from: i64, to: i64) -> f64 {
    to.saturating_sub(from) as f64
}
