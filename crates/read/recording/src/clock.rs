//! Device time becomes host time.
//!
//! Input are *bounds*: the device clock read some value between two host times. Anchors are such
//! bounds, and so is every task: its end is between the entry of the call that launched it and the time
//! when it was seen complete. A [`DeviceClockMap`] keeps, for one stretch of time after another, all straight
//! lines that agree with every bound. A wide bound (busy stream, preempted thread) then removes
//! nothing, and the spread of the lines is the error. The lines of one stretch are carried into the
//! next, widened by the possible change of the rate.
//!
//! Where the driver provides readings of the device's counter, their bounds narrow the mapping
//! afterwards ([`driver`]).

mod breakpoint;
#[cfg(test)]
mod compared_tests;
mod driver;
pub(crate) mod hosts;
mod lines;
mod pairs;
mod placement;
mod rates;
mod region;
mod stretch;

use std::borrow::Cow;

use ascend_trace_format::time::{DeviceNs, HostNs};

use breakpoint::{Breakpoint, EndSlope, between, beyond, push_rising};
use lines::ClockLines;
pub(crate) use pairs::PairDurations;
pub(crate) use placement::{LaunchTimes, PairReading, place, place_run};
use rates::RateRange;
use stretch::{ClockStretch, elapsed};

/// A rate that may be off by more than this is not known.
const KNOWN_RATE: f64 = 20e-6;
/// Device clocks tick this coarsely; one with whole microseconds is detected.
const TICK_NS: i64 = 20;
const COARSE_TICK_NS: i64 = 1000;

/// The device clock read `device` somewhere between the two host times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockBound {
    pub(crate) device: DeviceNs,
    pub(crate) earliest: HostNs,
    pub(crate) latest: HostNs,
}

/// A device time on the host's clock, and how far it may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MappedTime {
    pub(crate) host: HostNs,
    /// Nanoseconds.
    pub(crate) error: i64,
    /// Tasks on an idle stream run this much after their submission, in mapped time.
    latency: i64,
    /// How much less that may be: the rate is not known exactly, and the quickest submission may
    /// have been some while away.
    vague: i64,
    /// How far the rate may be off.
    rate_open: f64,
    /// What `host` was rounded from, less `device`.
    offset: f64,
}

/// Maps one device's clock, as one process read it, to the host's.
#[derive(Clone, Debug)]
pub(crate) struct DeviceClockMap {
    events: ClockLines,
    /// Lines from the driver's readings, separate from those of events.
    driver: ClockLines,
    driver_agrees: bool,
    /// The durations of event records.
    pub(crate) pairs: PairDurations,
    knots: Vec<Breakpoint>,
    before: EndSlope,
    after: EndSlope,
}

impl DeviceClockMap {
    /// A clock without bounds. `slack` is the error of a single reading.
    pub(crate) fn new(slack: i64) -> Self {
        Self {
            events: ClockLines::new(slack),
            driver: ClockLines::new(slack),
            driver_agrees: true,
            pairs: PairDurations::default(),
            knots: Vec::new(),
            before: EndSlope::default(),
            after: EndSlope::default(),
        }
    }

    /// Adds bounds from events and bounds from the driver, each in the order of their device times.
    /// They count once the mapping is drawn.
    pub(crate) fn extend(&mut self, events: &[ClockBound], driver: &[ClockBound]) {
        self.events.extend(events);
        self.driver.extend(driver);
    }

    /// How often the clock has stepped against the host's, and how many bounds were mistakes.
    pub(crate) fn troubles(&self) -> (u64, u64) {
        self.events.troubles()
    }

    /// Whether the driver's readings contradict the events, so that they were left out.
    pub(crate) fn driver_disagrees(&self) -> bool {
        !self.driver_agrees
    }

    /// Lets each stretch know what those after it know. Costs a pass over all of them, so it is
    /// for a recording that is complete.
    pub(crate) fn look_back(&mut self) {
        self.events.look_back();
        self.driver.look_back();
        self.draw();
    }

    /// Draws the mapping by all that is known, which costs a pass over it.
    pub(crate) fn draw(&mut self) {
        self.driver_agrees = true;
        if !self.driver.stretches.is_empty() && !self.events.stretches.is_empty() {
            let (events, driver) = (self.events.rates(), self.driver.rates());
            self.lay(events.limits_beside(driver));
            let base = self.events.base.unwrap_or(0);
            match driver::narrowed(&self.knots, base, &self.driver, driver.limits()) {
                Some(knots) => {
                    self.knots = knots;
                    return;
                }
                None => self.driver_agrees = false,
            }
        }
        self.lay(self.events.rates().limits());
    }

    /// Lays the knots through the middle of the allowed lines of the stretches: along each of them, and
    /// at the end of one without an heir.
    fn lay(&mut self, limits: (f64, f64)) {
        self.knots.clear();
        let stretches = self.events.stretches.iter();
        let stretches: Vec<_> = stretches.map(|it| it.limited(limits)).collect();
        for (place, stretch) in stretches.iter().enumerate() {
            let continuation = stretches.get(place + 1).filter(|next| next.continuation);
            let from = stretch.first_knot();
            let to = match continuation {
                Some(continuation) => continuation.first_knot(),
                None => stretch.last_knot(),
            };
            push_rising(
                &mut self.knots,
                Breakpoint {
                    after_step: place > 0 && !stretch.continuation,
                    ..from
                },
            );
            stretch.bends(&from, &to, &mut self.knots);
            if continuation.is_none() {
                push_rising(&mut self.knots, to);
            }
        }
        let slope = |stretch: Option<&Cow<'_, ClockStretch>>| stretch.map(|it| it.slope());
        self.before = slope(stretches.first()).unwrap_or_default();
        self.after = slope(stretches.last()).unwrap_or_default();
    }

    fn rates(&self) -> RateRange {
        let rates = self.events.rates();
        match self.driver_agrees {
            true => rates.and(self.driver.rates()),
            false => rates,
        }
    }

    /// Whether the comparisons prove that its rate is unusual.
    pub(crate) fn is_unusual(&self) -> bool {
        self.rates().is_unusual()
    }

    /// The host time of a device time; `None` as long as nothing is known.
    pub(crate) fn map(&self, device: DeviceNs) -> Option<MappedTime> {
        self.map_near(device, &mut 0)
    }

    /// As [`Self::map`]; times that follow each other are near each other, so the place of the last one is looked at
    /// first.
    pub(crate) fn map_near(&self, device: DeviceNs, near: &mut usize) -> Option<MappedTime> {
        let base = self.events.base?;
        let at = device.ns();
        let next = place_near(&self.knots, near, |knot| knot.device <= at);
        let point = match (
            next.checked_sub(1).map(|i| self.knots[i]),
            self.knots.get(next),
        ) {
            (None, None) => return None,
            (None, Some(first)) => beyond(first, self.before, at),
            (Some(last), None) => beyond(&last, self.after, at),
            (Some(left), Some(right)) => between(&left, right, at),
        };
        let offset = base.saturating_add(point.offset.round() as i64);
        Some(MappedTime {
            host: device.on_host(offset),
            error: point.error.ceil() as i64,
            latency: (point.below - self.events.slack).max(0.0) as i64,
            vague: point.vague.ceil() as i64,
            rate_open: point.rate_open,
            offset: point.offset,
        })
    }

    /// How coarse its readings are.
    fn tick(&self) -> i64 {
        self.events.slack as i64
    }

    /// Rate of the device clock over the host clock, minus 1: over the whole of the mapping, or in the one stretch
    /// that leaves less of it open. `None` when both leave too much of it open.
    pub(crate) fn drift_ppm(&self) -> Option<f64> {
        let steady = self.knots.windows(2).filter(|pair| !pair[1].after_step);
        let (mut span, mut change) = (0.0, 0.0);
        for pair in steady {
            span += elapsed(pair[0].device, pair[1].device);
            change += pair[1].offset - pair[0].offset;
        }
        if span <= 0.0 {
            return None;
        }
        let ends = self.knots.first().zip(self.knots.last());
        let ends = ends.filter(|_| self.troubles().0 == 0);
        let by_ends = ends.map(|(first, last)| EndSlope {
            rate: change / span,
            error: (first.error + last.error) / span,
        });
        // One stretch may know its rate better than the ends show. The line between the ends is then
        // less certain: each of them is in the middle of its possible range, independent of the other.
        let stretches = self.events.stretches.iter().map(|it| it.slope());
        let known = stretches.chain(by_ends);
        let best = known.min_by(|one, other| one.error.total_cmp(&other.error))?;
        if best.error > KNOWN_RATE {
            return None;
        }
        Some((1.0 / (1.0 + best.rate) - 1.0) * 1e6)
    }
}

/// As `partition_point`, but looks where the last one was before it looks everywhere.
pub(crate) fn place_near<T>(row: &[T], near: &mut usize, is_before: impl Fn(&T) -> bool) -> usize {
    let is_at = |place: usize| {
        let has_before = place == 0 || row.get(place - 1).is_some_and(&is_before);
        has_before && !row.get(place).is_some_and(&is_before)
    };
    if !is_at(*near) {
        *near += 1;
        if !is_at(*near) {
            *near = row.partition_point(&is_before);
        }
    }
    *near
}

/// The error of a single reading; coarse clocks give whole microseconds.
pub(crate) fn tick(is_coarse: bool) -> i64 {
    if is_coarse { COARSE_TICK_NS } else { TICK_NS }
}
