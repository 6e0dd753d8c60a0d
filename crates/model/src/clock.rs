//! Device time becomes host time.
//!
//! What is known are *bounds*: the device clock read some value between two moments of the host.
//! Anchors are such bounds, and so is every task: its end lies between the entry of the call that
//! launched it and the moment it was seen complete. A [`Clock`] keeps, for one stretch of time
//! after another, all straight lines that agree with every bound. A wide bound (busy stream,
//! preempted thread) then takes nothing away, and the spread of the lines is the error. What one
//! stretch knows is handed on to the next, less what the rate may have changed meanwhile.

mod place;
mod rates;
mod region;

use std::borrow::Cow;

pub(crate) use place::{Launch, Reading, place};
use rates::{MAX_RATE, Rates};
use region::{Line, Region};

/// A rate that may be off by more than this is not known.
const KNOWN_RATE: f64 = 20e-6;
/// A stretch ends after this long, so that a rate that changes is followed.
const STRETCH_NS: f64 = 1e9;
/// The mapping bends this often within a stretch, where most is known about its middle.
const PARTS: i64 = 8;
/// A rate changes by no more than this per nanosecond (0.3 ppm per second: an oscillator that
/// warms up), and by no more than this in all.
const RATE_CHANGE: f64 = 0.3e-6 / 1e9;
const MAX_RATE_CHANGE: f64 = 5e-6;
/// Device clocks tick this coarsely; one that only tells whole microseconds is noticed.
const TICK_NS: i64 = 20;
const COARSE_TICK_NS: i64 = 1000;

/// So many bounds in a row that agree with each other, and not with what is known, prove that a
/// clock has stepped: the host was suspended, or the device started anew. Fewer are mistakes.
const STEP_PROOF: usize = 3;

/// The device clock read `device` somewhere between the two host times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) device: i64,
    pub(crate) earliest: i64,
    pub(crate) latest: i64,
}

/// A device time on the host's clock, and how far it may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mapped {
    pub(crate) host: i64,
    pub(crate) error: i64,
    /// What was submitted to an idle stream runs this much later, as mapped times go.
    latency: i64,
    /// How much less that may be: the rate is not known exactly, and the quickest submission may
    /// have been some while away.
    vague: i64,
    /// How far the rate may be off.
    rate_open: f64,
    /// What `host` was rounded from, less `device`.
    offset: f64,
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
    /// How far below `offset` it would still agree with every bound, at the same rate. The quickest
    /// submission to an idle stream sets the limit.
    below: f64,
    /// How far below that again, at other rates.
    vague: f64,
    /// How far the rate may be off.
    rate_open: f64,
    /// Between the knot before it and this one the clock has stepped.
    after_step: bool,
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
    /// The latest bounds, as long as they agree with nothing.
    suspects: Vec<Bound>,
    /// Bounds that turned out to be mistakes.
    mistakes: u64,
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
            suspects: Vec::new(),
            mistakes: 0,
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
        let band = self.band(bound);
        let Some(last) = self.stretches.last_mut() else {
            self.stretches.push(Stretch::fresh(bound.device, band));
            return;
        };
        let t = elapsed(last.pivot, bound.device);
        if t < 0.0 {
            return;
        }
        let agrees = if t <= STRETCH_NS {
            last.take(t, bound.device, band)
        } else {
            // A stretch of its own, which starts from what the last one knows.
            let heir = last.heir(bound.device, band);
            let agrees = heir.is_some();
            self.stretches.extend(heir);
            agrees
        };
        if agrees {
            self.mistakes += self.suspects.drain(..).len() as u64;
        } else {
            self.suspect(bound);
        }
    }

    /// Host minus device time less the clock's base, as a bound allows.
    fn band(&mut self, bound: &Bound) -> (f64, f64) {
        let earliest = bound.earliest.saturating_sub(bound.device);
        let latest = bound.latest.saturating_sub(bound.device);
        let base = *self.base.get_or_insert(earliest / 2 + latest / 2);
        (
            earliest.saturating_sub(base) as f64 - self.slack,
            latest.saturating_sub(base) as f64 + self.slack,
        )
    }

    /// Takes note of a bound that disagrees with what is known; with enough that agree with each
    /// other, a stretch begins that owes nothing to the one before it.
    fn suspect(&mut self, bound: &Bound) {
        self.suspects.push(*bound);
        if self.suspects.len() < STEP_PROOF {
            return;
        }
        let suspects = std::mem::take(&mut self.suspects);
        match self.stretch_of(&suspects) {
            Some(stretch) => self.stretches.push(stretch),
            None => {
                self.mistakes += 1;
                self.suspects.extend_from_slice(&suspects[1..]);
            }
        }
    }

    /// What bounds in the order of their device times know, if they agree.
    fn stretch_of(&mut self, bounds: &[Bound]) -> Option<Stretch> {
        let (first, others) = bounds.split_first()?;
        let mut stretch = Stretch::fresh(first.device, self.band(first));
        for bound in others {
            let t = elapsed(first.device, bound.device);
            if t < 0.0 || !stretch.take(t, bound.device, self.band(bound)) {
                return None;
            }
        }
        Some(stretch)
    }

    /// How often the clock has stepped against the host's, and how many bounds were mistakes.
    pub(crate) fn troubles(&self) -> (u64, u64) {
        let heirless = self.stretches.iter().filter(|stretch| !stretch.heir);
        let mistakes = self.mistakes + self.suspects.len() as u64;
        (heirless.count().saturating_sub(1) as u64, mistakes)
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

    /// Lays the knots through the middle of what the stretches allow: along each of them, and where
    /// one ends that has no heir.
    fn draw(&mut self) {
        self.knots.clear();
        let limits = self.rates().limits();
        let stretches = self.stretches.iter();
        let stretches: Vec<_> = stretches.map(|it| it.limited(limits)).collect();
        for (place, stretch) in stretches.iter().enumerate() {
            let heir = stretches.get(place + 1).filter(|next| next.heir);
            let from = stretch.first_knot();
            let to = match heir {
                Some(heir) => heir.first_knot(),
                None => stretch.last_knot(),
            };
            push_rising(
                &mut self.knots,
                Knot {
                    after_step: place > 0 && !stretch.heir,
                    ..from
                },
            );
            stretch.bends(&from, &to, &mut self.knots);
            if heir.is_none() {
                push_rising(&mut self.knots, to);
            }
        }
        let slope = |stretch: Option<&Cow<'_, Stretch>>| stretch.map(|it| it.slope());
        self.before = slope(stretches.first()).unwrap_or_default();
        self.after = slope(stretches.last()).unwrap_or_default();
    }

    fn rates(&self) -> Rates {
        Rates::of(self.stretches.iter().map(|it| it.region.rates()))
    }

    /// Whether the comparisons prove that its rate is none that clocks usually have.
    pub(crate) fn is_unusual(&self) -> bool {
        self.rates().is_unusual()
    }

    /// The host time of a device time; `None` as long as nothing is known.
    pub(crate) fn map(&self, device: i64) -> Option<Mapped> {
        let base = self.base?;
        let next = self.knots.partition_point(|knot| knot.device <= device);
        let point = match (
            next.checked_sub(1).map(|i| self.knots[i]),
            self.knots.get(next),
        ) {
            (None, None) => return None,
            (None, Some(first)) => beyond(first, self.before, device),
            (Some(last), None) => beyond(&last, self.after, device),
            (Some(left), Some(right)) => between(&left, right, device),
        };
        let offset = base.saturating_add(point.offset.round() as i64);
        Some(Mapped {
            host: device.saturating_add(offset),
            error: point.error.ceil() as i64,
            latency: (point.below - self.slack).max(0.0) as i64,
            vague: point.vague.ceil() as i64,
            rate_open: point.rate_open,
            offset: point.offset,
        })
    }

    /// How coarse its readings are.
    fn tick(&self) -> i64 {
        self.slack as i64
    }

    /// Rate of the device clock over the host clock, minus 1, over the whole of the mapping; `None` when
    /// what is known leaves too much of it open.
    pub(crate) fn drift_ppm(&self) -> Option<f64> {
        let steady = self.knots.windows(2).filter(|pair| !pair[1].after_step);
        let (mut span, mut change, mut open) = (0.0, 0.0, 0.0);
        for pair in steady {
            span += elapsed(pair[0].device, pair[1].device);
            change += pair[1].offset - pair[0].offset;
        }
        let ends = self.knots.first().zip(self.knots.last());
        if let Some((first, last)) = ends.filter(|_| span > 0.0 && self.troubles().0 == 0) {
            open = (first.error + last.error) / span;
        }
        // One stretch knows its rate better than its ends tell.
        let narrowest = self.stretches.iter().map(|stretch| stretch.slope().error);
        let narrowest = narrowest.fold(f64::INFINITY, f64::min);
        let open = if open > 0.0 {
            open.min(narrowest)
        } else {
            narrowest
        };
        if open > KNOWN_RATE || span <= 0.0 {
            return None;
        }
        Some((1.0 / (1.0 + change / span) - 1.0) * 1e6)
    }
}

impl Stretch {
    /// A stretch of which one bound is known.
    fn fresh(pivot: i64, band: (f64, f64)) -> Self {
        Self {
            pivot,
            end: pivot,
            region: Region::rectangle(band, (-MAX_RATE, MAX_RATE)),
            heir: false,
        }
    }

    /// Narrows the region down; false when no line would be left.
    fn take(&mut self, t: f64, device: i64, band: (f64, f64)) -> bool {
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
    fn line(&self) -> Line {
        let middle = elapsed(self.pivot, self.end) / 2.0;
        let rate = self.region.lowest(middle).rate;
        let (low, high) = self.region.at_rate(rate);
        Line {
            offset: (low + high) / 2.0,
            rate,
        }
    }

    /// The mapping at a device time, if its line is there at `offset`.
    fn knot(&self, device: i64, offset: f64) -> Knot {
        let t = elapsed(self.pivot, device);
        let (low, high) = self.region.range(t);
        let (least, most) = self.region.at_rate(self.line().rate);
        let below = (most - least) / 2.0;
        Knot {
            device,
            offset,
            error: (high - offset).max(offset - low) + bend(t),
            below,
            vague: (offset - low - below).max(0.0) + bend(t),
            rate_open: self.slope().error,
            after_step: false,
        }
    }

    fn first_knot(&self) -> Knot {
        self.knot(self.pivot, self.line().offset)
    }

    fn last_knot(&self) -> Knot {
        let line = self.line();
        self.knot(self.end, line.at(elapsed(self.pivot, self.end)))
    }

    /// Knots on the line between two others. It is not bent there, so that lengths are right, but
    /// more is known about the middle of a stretch than about its ends.
    fn bends(&self, from: &Knot, to: &Knot, knots: &mut Vec<Knot>) {
        let length = self.end.saturating_sub(self.pivot);
        for part in (1..PARTS).filter(|_| length >= PARTS) {
            let device = self.pivot.saturating_add(length / PARTS * part);
            let on_line = between(from, to, device);
            let Knot { error, vague, .. } = self.knot(device, on_line.offset);
            let bent = Knot {
                error,
                vague,
                ..on_line
            };
            push_rising(knots, bent);
        }
    }

    /// A following stretch that begins at `device` with what this one knows; `None` when that
    /// disagrees with the band.
    fn heir(&self, device: i64, band: (f64, f64)) -> Option<Self> {
        let mut region = self.carried(device);
        region.clip(0.0, band).then_some(Self {
            pivot: device,
            end: device,
            region,
            heir: true,
        })
    }

    /// What this stretch knows about lines measured from another pivot.
    fn carried(&self, pivot: i64) -> Region {
        let t = elapsed(self.pivot, pivot);
        let change = (RATE_CHANGE * t.abs()).min(MAX_RATE_CHANGE);
        let mut region = self.region.carried(t, bend(t), change);
        region.limit_rate((-MAX_RATE, MAX_RATE));
        region
    }

    /// The same without the lines whose rate is beyond these limits; itself if no line were left.
    fn limited(&self, limits: (f64, f64)) -> Cow<'_, Self> {
        let (slow, fast) = self.region.rates();
        if limits.0 <= slow && fast <= limits.1 {
            return Cow::Borrowed(self);
        }
        let mut limited = self.clone();
        limited.region.limit_rate(limits);
        Cow::Owned(limited)
    }

    fn slope(&self) -> Slope {
        let (slow, fast) = self.region.rates();
        let rate = self.line().rate;
        Slope {
            rate,
            error: (fast - rate).max(rate - slow),
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

fn between(left: &Knot, right: &Knot, device: i64) -> Knot {
    if right.after_step {
        // When between the two it stepped is not known.
        let apart = (right.offset - left.offset).abs();
        let error = left.error.max(right.error) + apart;
        return Knot {
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
    Knot {
        device,
        offset: mix(left.offset, right.offset),
        error: mix(left.error, right.error) + sag,
        below: mix(left.below, right.below) + sag,
        vague: mix(left.vague, right.vague) + sag,
        rate_open: mix(left.rate_open, right.rate_open),
        after_step: false,
    }
}

fn beyond(knot: &Knot, slope: Slope, device: i64) -> Knot {
    let t = elapsed(knot.device, device);
    let more = slope.error * t.abs() + bend(t);
    Knot {
        device,
        offset: knot.offset + slope.rate * t,
        error: knot.error + more,
        below: knot.below + more,
        vague: knot.vague + more,
        rate_open: slope.error,
        after_step: false,
    }
}

/// How far a clock can be off its straight line after this long, for its rate may change.
fn bend(t: f64) -> f64 {
    let t = t.abs();
    (RATE_CHANGE / 2.0 * t * t).min(MAX_RATE_CHANGE * t)
}

fn elapsed(from: i64, to: i64) -> f64 {
    to.saturating_sub(from) as f64
}
