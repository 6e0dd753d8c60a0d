//! Which rates a clock may have where its comparisons leave that open.
//!
//! Comparisons over a few milliseconds allow rates that no oscillator has. So what clocks usually are is
//! assumed to begin with, and given up as the comparisons speak against it: of a clock that they prove to be
//! fast, or slow, four times as much is allowed beyond the usual. One that is far off is thus followed long
//! before it is proven to be, and one that is not loses nothing.

/// Clocks usually run no faster or slower than this against the host: oscillators are off by a quarter of
/// it.
const USUAL_RATE: f64 = 200e-6;
/// Limit for the rate of any clock, regardless of comparisons.
pub(super) const MAX_RATE: f64 = 1_010e-6;

/// The rates that the comparisons of a clock allow.
#[derive(Clone, Copy, Debug)]
pub(super) struct RateRange {
    slowest: f64,
    fastest: f64,
}

impl RateRange {
    /// From the allowed rates of each of its stretches.
    pub(super) fn of(stretches: impl Iterator<Item = (f64, f64)>) -> Self {
        let all = Self {
            slowest: -MAX_RATE,
            fastest: MAX_RATE,
        };
        stretches.fold(all, |known, (slow, fast)| Self {
            slowest: known.slowest.max(slow),
            fastest: known.fastest.min(fast),
        })
    }

    /// What two kinds of comparisons leave open.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            slowest: self.slowest.max(other.slowest),
            fastest: self.fastest.min(other.fastest),
        }
    }

    /// Whether no usual rate is left.
    pub(super) fn is_unusual(self) -> bool {
        self.slowest > USUAL_RATE || self.fastest < -USUAL_RATE
    }

    /// The slowest and the fastest rate to allow for.
    pub(super) fn limits(self) -> (f64, f64) {
        let beyond = |proven: f64| (USUAL_RATE + 4.0 * proven.max(0.0)).min(MAX_RATE);
        (-beyond(-self.fastest), beyond(self.slowest))
    }

    /// The same in the presence of other comparisons: they count when they prove a rate outside these
    /// limits. Otherwise they would only make bars wider.
    pub(super) fn limits_beside(self, other: Self) -> (f64, f64) {
        let (slow, fast) = self.limits();
        match other.slowest > fast || other.fastest < slow {
            true => self.and(other).limits(),
            false => (slow, fast),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(slowest_ppm: f64, fastest_ppm: f64) -> RateRange {
        RateRange::of([(slowest_ppm * 1e-6, fastest_ppm * 1e-6)].into_iter())
    }

    #[track_caller]
    fn check(rates: RateRange, slowest_ppm: f64, fastest_ppm: f64) {
        let (slow, fast) = rates.limits();
        let off = (slow * 1e6 - slowest_ppm).abs() + (fast * 1e6 - fastest_ppm).abs();
        assert!(off < 1e-6, "{slow} {fast}");
    }

    #[test]
    fn the_usual_is_assumed_as_long_as_nothing_speaks_against_it() {
        check(RateRange::of(std::iter::empty()), -200.0, 200.0);
        check(rates(-900.0, 700.0), -200.0, 200.0);
        assert!(!rates(-900.0, 201.0).is_unusual());
    }

    #[test]
    fn of_a_clock_that_is_proven_to_be_fast_or_slow_more_is_allowed() {
        check(rates(-10.0, 700.0), -200.0, 200.0);
        check(rates(50.0, 700.0), -200.0, 400.0);
        check(rates(-700.0, -20.0), -280.0, 200.0);
        check(rates(250.0, 260.0), -200.0, 1_010.0);
    }

    #[test]
    fn other_comparisons_count_when_they_prove_more() {
        let limits = |slow, fast| rates(-900.0, 900.0).limits_beside(rates(slow, fast));
        assert_eq!(limits(100.0, 110.0), rates(-900.0, 900.0).limits());
        assert_eq!(limits(300.0, 310.0), rates(300.0, 310.0).limits());
        assert_eq!(limits(-310.0, -300.0), rates(-310.0, -300.0).limits());
    }

    #[test]
    fn a_rate_is_unusual_when_any_stretch_proves_it() {
        assert!(rates(201.0, 900.0).is_unusual() && rates(-900.0, -201.0).is_unusual());
        let stretches = [(-1e-3, 1e-3), (2.1e-4, 5e-4), (-1e-3, 1e-3)];
        assert!(RateRange::of(stretches.into_iter()).is_unusual());
    }
}
