//! All lines that agree with every bound on a clock, one stretch of time after another.

use super::ClockBound;
use super::rates::RateRange;
use super::stretch::{ClockStretch, elapsed};

/// A stretch ends after this long, so that a rate that changes is followed.
const STRETCH_NS: f64 = 1e9;

/// This number of consecutive bounds that agree with each other, and not with the known lines, prove
/// that a clock has stepped: the host was suspended, or the device restarted. Fewer are mistakes.
const STEP_PROOF: usize = 3;

/// Lines from bounds of one kind.
#[derive(Clone, Debug)]
pub(super) struct ClockLines {
    /// A first guess of host minus device time: keeps everything else small.
    pub(super) base: Option<i64>,
    pub(super) slack: f64,
    pub(super) stretches: Vec<ClockStretch>,
    /// The latest bounds, as long as they agree with nothing.
    suspects: Vec<ClockBound>,
    /// Bounds that turned out to be mistakes.
    mistakes: u64,
}

impl ClockLines {
    /// Without bounds. `slack` is the error of a single reading.
    pub(super) fn new(slack: i64) -> Self {
        Self {
            base: None,
            slack: slack as f64,
            stretches: Vec::new(),
            suspects: Vec::new(),
            mistakes: 0,
        }
    }

    /// Takes bounds in, in the order of their device times.
    pub(super) fn extend(&mut self, bounds: &[ClockBound]) {
        for bound in bounds {
            if bound.earliest <= bound.latest {
                self.add(bound);
            }
        }
    }

    fn add(&mut self, bound: &ClockBound) {
        let (device, band) = (bound.device.ns(), self.band(bound));
        let Some(last) = self.stretches.last_mut() else {
            self.stretches.push(ClockStretch::fresh(device, band));
            return;
        };
        let t = elapsed(last.pivot, device);
        if t < 0.0 {
            return;
        }
        let agrees = if t <= STRETCH_NS {
            last.take(t, device, band)
        } else {
            // A separate stretch, which starts from the lines of the last one.
            let continuation = last.continuation(device, band);
            let agrees = continuation.is_some();
            self.stretches.extend(continuation);
            agrees
        };
        if agrees {
            self.mistakes += self.suspects.drain(..).len() as u64;
        } else {
            self.suspect(bound);
        }
    }

    /// Host minus device time less the base, as a bound allows.
    fn band(&mut self, bound: &ClockBound) -> (f64, f64) {
        let earliest = bound.earliest.offset_from(bound.device);
        let latest = bound.latest.offset_from(bound.device);
        let base = *self.base.get_or_insert(earliest / 2 + latest / 2);
        (
            earliest.saturating_sub(base) as f64 - self.slack,
            latest.saturating_sub(base) as f64 + self.slack,
        )
    }

    /// Notes a bound that disagrees with the known lines; after enough of them that agree with each
    /// other, a stretch begins that is independent of the one before it.
    fn suspect(&mut self, bound: &ClockBound) {
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
    fn stretch_of(&mut self, bounds: &[ClockBound]) -> Option<ClockStretch> {
        let (first, others) = bounds.split_first()?;
        let mut stretch = ClockStretch::fresh(first.device.ns(), self.band(first));
        for bound in others {
            let device = bound.device.ns();
            let t = elapsed(first.device.ns(), device);
            if t < 0.0 || !stretch.take(t, device, self.band(bound)) {
                return None;
            }
        }
        Some(stretch)
    }

    /// How often the clock has stepped, and how many bounds were mistakes.
    pub(super) fn troubles(&self) -> (u64, u64) {
        let beginnings = self
            .stretches
            .iter()
            .filter(|stretch| !stretch.continuation);
        let mistakes = self.mistakes + self.suspects.len() as u64;
        (beginnings.count().saturating_sub(1) as u64, mistakes)
    }

    /// Lets each stretch know what those after it know. Costs a pass over all of them, so it is
    /// for a recording that is complete.
    pub(super) fn look_back(&mut self) {
        for place in (1..self.stretches.len()).rev() {
            let (before, after) = self.stretches.split_at_mut(place);
            if let (Some(stretch), Some(next)) = (before.last_mut(), after.first())
                && next.continuation
            {
                let known = next.carried(stretch.pivot);
                stretch.region.meet(&known);
            }
        }
    }

    pub(super) fn rates(&self) -> RateRange {
        RateRange::of(self.stretches.iter().map(|it| it.region.rates()))
    }
}
