//! Whether pauses follow calls of another thread, or functions on the host.
//!
//! A thread that waits for something goes on later where that is later. So the differences between its pauses are those of the times for
//! which it waits, even where all of them are small. Work of the thread itself takes the same time in both cases.
//!
//! The part of a delay that shows in the end of a pause is 1 for a wait, and 0 for work of the thread. Where a thread waits now and
//! then, it is between them. Pauses that have nothing to do with another thread end at any time after one of its calls.

use super::pauses::{Ending, Quartiles};

/// Fewer pauses show nothing.
const LEAST: usize = 16;

/// A pause ends later by this part of the delay of its cause, at least and at most. In a wait it is the whole delay.
const PART: (f64, f64) = (0.8, 1.25);

/// The least part that is not excluded by the spread of the rest: by this number of standard errors. For work of the thread, the part
/// would have to be wrong by four of them or more.
const SURE_PART: f64 = 0.5;
const STANDARD_ERRORS: f64 = 2.5;

/// Delays that differ less cannot be measured. Nanoseconds.
const LEAST_SPREAD_NS: f64 = 200.0;

/// The part of the delays of a cause by which pauses end later, and its standard error.
#[derive(Clone, Copy, Debug)]
struct FollowedPart {
    part: f64,
    error: f64,
}

impl FollowedPart {
    /// `None` if too few pauses show it, or if their delays do not differ.
    fn of(endings: &[Ending]) -> Option<Self> {
        let delays = Quartiles::of(endings.iter().map(|it| it.at - it.since));
        let lags = Quartiles::of(endings.iter().map(|it| it.lag));
        // Few that are much longer, because the host did something else, say nothing.
        let usual = endings
            .iter()
            .filter(|it| delays.is_usual(it.at - it.since) && lags.is_usual(it.lag));
        let points: Vec<(f64, f64)> = usual
            .map(|it| ((it.at - it.since) as f64, it.lag as f64))
            .collect();
        let count = points.len() as f64;
        if points.len() < LEAST {
            return None;
        }
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
        let (delay, lag) = (mean(&|it| it.0), mean(&|it| it.1));
        let of_delays = mean(&|it| (it.0 - delay).powi(2));
        let of_lags = mean(&|it| (it.1 - lag).powi(2));
        let of_both = mean(&|it| (it.0 - delay) * (it.1 - lag));
        if of_delays < LEAST_SPREAD_NS.powi(2) {
            return None;
        }
        let slope = of_both / of_delays;
        let rest = (of_lags - slope * of_both).max(0.0);
        Some(Self {
            part: 1.0 + slope,
            error: f64::sqrt(rest / of_delays / (count - 2.0)),
        })
    }
}

/// Whether the ends of pauses follow their possible causes.
pub(super) fn follows(endings: &[Ending]) -> bool {
    FollowedPart::of(endings).is_some_and(|it| {
        (PART.0..=PART.1).contains(&it.part) && it.part - STANDARD_ERRORS * it.error >= SURE_PART
    })
}

/// The largest part of pauses that may be waits for these causes: 0 if they do not follow them at all, and 1 if nothing is known.
pub(super) fn most_followed(endings: &[Ending]) -> f64 {
    let part = FollowedPart::of(endings);
    part.map_or(1.0, |it| {
        (it.part + STANDARD_ERRORS * it.error).clamp(0.0, 1.0)
    })
}

/// Fewer lags say nothing.
const LEAST_LAGS: usize = 4;

/// Lags are counted in a window of this part of the interval, as a divisor.
const WINDOW: i64 = 8;

/// The part of pauses that end at a fixed time after causes that come about once in an interval; the others end at any time between
/// two causes.
pub(super) fn most_fixed(lags: impl Iterator<Item = i64>, interval: i64) -> f64 {
    let mut sorted: Vec<i64> = lags.collect();
    sorted.sort_unstable();
    if sorted.len() < LEAST_LAGS {
        return 1.0;
    }
    let width = (interval / WINDOW).max(1);
    let within = |at: usize| sorted.partition_point(|it| *it < sorted[at] + width) - at;
    let most = (0..sorted.len()).map(within).max().unwrap_or(0);
    let (count, chance) = (sorted.len() as f64, 1.0 / WINDOW as f64);
    // Of times at random, the fullest of all windows has at most about three standard deviations more than the mean.
    let random = (chance + 3.0 * f64::sqrt(chance * (1.0 - chance) / count)).min(0.9);
    let part = most as f64 / count;
    ((part - random) / (1.0 - random)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::whatif::links::{LaneCode, LanePosition};

    /// Endings with these delays and lags.
    fn endings(rounds: impl Iterator<Item = (i64, i64)>) -> Vec<Ending> {
        let place = LanePosition::new(LaneCode::thread(0), 0);
        let ending = |(delay, lag)| Ending {
            from: place,
            to: place,
            next: None,
            since: 1_000,
            at: 1_000 + delay,
            lag,
            wakes: 0,
        };
        rounds.map(ending).collect()
    }

    #[test]
    fn the_pauses_of_a_wait_follow_its_cause() {
        // The lag does not depend on the delay.
        let wait = (0..60).map(|it| (2_000_000 + 1_000 * (it % 7), 460_000 + 1_000 * (it % 5)));
        assert!(follows(&endings(wait.clone())));
        // One of ten is much longer.
        let rare = wait.clone().zip(0..);
        let rare =
            rare.map(|((delay, lag), at)| (delay + if at % 10 == 3 { 900_000 } else { 0 }, lag));
        assert!(follows(&endings(rare)));
        assert!(most_followed(&endings(wait.clone())) > 0.9);
        assert!((most_followed(&endings(wait.clone().take(12))) - 1.0).abs() < f64::EPSILON);
        assert!(!follows(&endings(wait.take(12))));
    }

    #[test]
    fn pauses_that_end_at_any_time_have_no_fixed_lag() {
        let any = || (0..80).map(|it| it * 37 % 80 * 10_000);
        assert!(most_fixed(any(), 800_000) < 0.1);
        assert!(most_fixed(any().map(|it| 50_000 + it / 40), 800_000) > 0.9);
        // A quarter of them are waits.
        let some = any()
            .zip(0..)
            .map(|(lag, at)| if at % 4 == 0 { 50_000 } else { lag });
        let part = most_fixed(some, 800_000);
        assert!((0.05..0.3).contains(&part), "{part}");
        assert!((most_fixed(any().take(3), 800_000) - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn work_does_not_follow_anything() {
        // The pause takes the same time.
        let work = (0..60).map(|it| (2_000_000 + 1_000 * (it % 7), 460_000 - 1_000 * (it % 7)));
        assert!(!follows(&endings(work.clone())));
        assert!(most_followed(&endings(work)) < 0.1);
        // Nothing differs, or less than the clock shows.
        assert!(!follows(&endings((0..60).map(|_| (2_000_000, 460_000)))));
        assert!(!follows(&endings(
            (0..60).map(|it| (2_000_000 + it % 7, 460_000))
        )));
        // The pause differs for itself.
        let both = (0..60).map(|it| (2_000_000 + 1_000 * (it % 7), 460_000 + 20_000 * (it % 5)));
        assert!(!follows(&endings(both)));
    }
}
