//! Device time becomes host time.
//!
//! What is known are *bounds*: the device clock read some value between two moments of the host.
//! Anchors are such bounds, and so is every task: its end lies between the entry of the call that
//! launched it and the moment it was seen complete. A [`Clock`] keeps, for one stretch of time
//! after another, all straight lines that agree with every bound. A wide bound (busy stream,
//! preempted thread) then takes nothing away, and the spread of the lines is the error. What one
//! stretch knows is handed on to the next, less what the rate may have changed meanwhile.

mod region;

use region::Region;

/// No device clock drifts faster than this against the host.
const MAX_RATE: f64 = 200e-6;
/// A stretch ends after this long, so that a rate that changes is followed.
const STRETCH_NS: f64 = 1e9;
/// A rate changes by no more than this per nanosecond (0.3 ppm per second: an oscillator that
/// warms up), and by no more than this in all.
const RATE_CHANGE: f64 = 0.3e-6 / 1e9;
const MAX_RATE_CHANGE: f64 = 5e-6;
/// Device clocks tick this coarsely; one that only tells whole microseconds is noticed.
const TICK_NS: i64 = 20;
const COARSE_TICK_NS: i64 = 1000;

/// The device clock read `device` somewhere between the two host times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) device: i64,
    pub(crate) earliest: i64,
    pub(crate) latest: i64,
}

/// A device time on the host's clock, and how far it may be off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mapped {
    pub(crate) host: i64,
    pub(crate) error: i64,
}

/// The lines of one stretch of device time, measured from `pivot`.
#[derive(Clone, Debug)]
struct Stretch {
    pivot: i64,
    end: i64,
    region: Region,
    /// It builds on what the stretch before it knew, so that the mapping passes on smoothly.
    heir: bool,
}

/// A point of the mapping: between two of them it is straight.
#[derive(Clone, Copy, Debug)]
struct Knot {
    device: i64,
    /// Host minus device time, less the clock's base.
    offset: f64,
    error: f64,
}

/// Rate at an end of the mapping and how fast the error grows beyond it.
#[derive(Clone, Copy, Debug, Default)]
struct Slope {
    rate: f64,
    error: f64,
}

/// Maps one device's clock, as one process read it, to the host's.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    /// A first guess of host minus device time: keeps everything else small.
    base: Option<i64>,
    slack: f64,
    stretches: Vec<Stretch>,
    knots: Vec<Knot>,
    before: Slope,
    after: Slope,
}

impl Clock {
    /// A clock of which nothing is known yet. `slack` is what a reading may be off by itself.
    pub(crate) fn new(slack: i64) -> Self {
        Self {
            base: None,
            slack: slack as f64,
            stretches: Vec::new(),
            knots: Vec::new(),
            before: Slope::default(),
            after: Slope::default(),
        }
    }

    /// Takes bounds in, in the order of their device times.
    pub(crate) fn extend(&mut self, bounds: &[Bound]) {
        for bound in bounds {
            if bound.earliest <= bound.latest {
                self.add(bound);
            }
        }
        self.draw();
    }

    fn add(&mut self, bound: &Bound) {
        let earliest = bound.earliest.saturating_sub(bound.device);
        let latest = bound.latest.saturating_sub(bound.device);
        let base = *self.base.get_or_insert(earliest / 2 + latest / 2);
        let band = (
            earliest.saturating_sub(base) as f64 - self.slack,
            latest.saturating_sub(base) as f64 + self.slack,
        );
        if let Some(last) = self.stretches.last_mut() {
            let t = elapsed(last.pivot, bound.device);
            if t < 0.0 {
                return;
            }
            if t <= STRETCH_NS && last.take(t, bound.device, band) {
                return;
            }
        }
        self.begin_stretch(bound.device, band);
    }

    /// Starts a stretch from what the last one knows, if that agrees with the band.
    fn begin_stretch(&mut self, device: i64, band: (f64, f64)) {
        let heir = self
            .stretches
            .last()
            .and_then(|last| last.heir(device, band));
        self.stretches.push(Stretch {
            pivot: device,
            end: device,
            heir: heir.is_some(),
            region: heir.unwrap_or_else(|| Region::rectangle(band, (-MAX_RATE, MAX_RATE))),
        });
    }

    /// Lets each stretch know what those after it know. Costs a pass over all of them, so it is
    /// for a recording that is complete.
    pub(crate) fn look_back(&mut self) {
        for place in (1..self.stretches.len()).rev() {
            let (before, after) = self.stretches.split_at_mut(place);
            if let (Some(stretch), Some(next)) = (before.last_mut(), after.first())
                && next.heir
            {
                let known = next.carried(stretch.pivot);
                stretch.region.meet(&known);
            }
        }
        self.draw();
    }

    /// Lays the knots through the middle of what the stretches allow: where each begins, and where
    /// one ends that has no heir.
    fn draw(&mut self) {
        self.knots.clear();
        for (place, stretch) in self.stretches.iter().enumerate() {
            push_rising(&mut self.knots, stretch.knot(stretch.pivot));
            if self.stretches.get(place + 1).is_none_or(|next| !next.heir) {
                push_rising(&mut self.knots, stretch.knot(stretch.end));
            }
        }
        self.before = self
            .stretches
            .first()
            .map(Stretch::slope)
            .unwrap_or_default();
        self.after = self
            .stretches
            .last()
            .map(Stretch::slope)
            .unwrap_or_default();
    }

    /// The host time of a device time; `None` as long as nothing is known.
    pub(crate) fn map(&self, device: i64) -> Option<Mapped> {
        let base = self.base?;
        let next = self.knots.partition_point(|knot| knot.device <= device);
        let (offset, error) = match (
            next.checked_sub(1).map(|i| self.knots[i]),
            self.knots.get(next),
        ) {
            (None, None) => return None,
            (None, Some(first)) => beyond(first, self.before, device),
            (Some(last), None) => beyond(&last, self.after, device),
            (Some(left), Some(right)) => between(&left, right, device),
        };
        let offset = base.saturating_add(offset.round() as i64);
        Some(Mapped {
            host: device.saturating_add(offset),
            error: error.ceil() as i64,
        })
    }

    /// Rate of the device clock over the host clock, minus 1, over the whole of the mapping.
    pub(crate) fn drift_ppm(&self) -> f64 {
        let (Some(first), Some(last)) = (self.knots.first(), self.knots.last()) else {
            return 0.0;
        };
        let span = elapsed(first.device, last.device);
        let rate = if span > 0.0 {
            (last.offset - first.offset) / span
        } else {
            self.after.rate
        };
        (1.0 / (1.0 + rate) - 1.0) * 1e6
    }
}

impl Stretch {
    /// Narrows the region down; false when no line would be left.
    fn take(&mut self, t: f64, device: i64, band: (f64, f64)) -> bool {
        let band = (band.0 - bend(t), band.1 + bend(t));
        let taken = self.region.lies_within(t, band) || self.region.clip(t, band);
        if taken {
            self.end = device;
        }
        taken
    }

    fn knot(&self, device: i64) -> Knot {
        let t = elapsed(self.pivot, device);
        let (low, high) = self.region.range(t);
        Knot {
            device,
            offset: (low + high) / 2.0,
            error: (high - low) / 2.0 + bend(t),
        }
    }

    /// What this stretch knows about a following one that begins at `device`.
    fn heir(&self, device: i64, band: (f64, f64)) -> Option<Region> {
        let mut region = self.carried(device);
        region.clip(0.0, band).then_some(region)
    }

    /// What this stretch knows about lines measured from another pivot.
    fn carried(&self, pivot: i64) -> Region {
        let t = elapsed(self.pivot, pivot);
        let change = (RATE_CHANGE * t.abs()).min(MAX_RATE_CHANGE);
        let mut region = self.region.carried(t, bend(t), change);
        region.limit_rate(MAX_RATE);
        region
    }

    fn slope(&self) -> Slope {
        let (slow, fast) = self.region.rates();
        Slope {
            rate: (slow + fast) / 2.0,
            error: (fast - slow) / 2.0,
        }
    }
}

/// How coarse the readings are, judged by a device's anchors.
pub(crate) fn tick_of(readings: impl Iterator<Item = i64>) -> i64 {
    let mut count = 0;
    for reading in readings {
        if reading % COARSE_TICK_NS != 0 {
            return TICK_NS;
        }
        count += 1;
    }
    // A few round readings can be chance.
    tick(count >= 4)
}

/// What a reading may be off by itself; coarse clocks tell whole microseconds.
pub(crate) fn tick(is_coarse: bool) -> i64 {
    if is_coarse { COARSE_TICK_NS } else { TICK_NS }
}

/// Appends a knot, and takes back those before it that would make host time run backwards.
fn push_rising(knots: &mut Vec<Knot>, knot: Knot) {
    while let Some(last) = knots.last() {
        let step = elapsed(last.device, knot.device);
        if step > 0.0 && step + knot.offset - last.offset > 0.0 {
            break;
        }
        knots.pop();
    }
    knots.push(knot);
}

fn between(left: &Knot, right: &Knot, device: i64) -> (f64, f64) {
    let passed = elapsed(left.device, device);
    let whole = elapsed(left.device, right.device);
    let share = passed / whole;
    let sag = (RATE_CHANGE / 2.0 * passed * (whole - passed))
        .min(MAX_RATE_CHANGE * share * (whole - passed));
    (
        left.offset + share * (right.offset - left.offset),
        left.error + share * (right.error - left.error) + sag,
    )
}

fn beyond(knot: &Knot, slope: Slope, device: i64) -> (f64, f64) {
    let t = elapsed(knot.device, device);
    (
        knot.offset + slope.rate * t,
        knot.error + slope.error * t.abs() + bend(t),
    )
}

/// How far a clock can be off its straight line after this long, for its rate may change.
fn bend(t: f64) -> f64 {
    let t = t.abs();
    (RATE_CHANGE / 2.0 * t * t).min(MAX_RATE_CHANGE * t)
}

fn elapsed(from: i64, to: i64) -> f64 {
    to.saturating_sub(from) as f64
}
