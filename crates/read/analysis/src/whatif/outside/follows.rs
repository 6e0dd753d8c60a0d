//! Whether pauses follow calls of another thread, or functions on the host.
//!
//! A thread that waits for something goes on later where that is later. So the differences between its pauses are those of the times for
//! which it waits, even where all of them are small. Work of the thread itself takes the same time in both cases.

use super::pauses::{Ending, Quartiles};

/// Fewer pauses show nothing.
const LEAST: usize = 16;

/// A pause ends later by this part of the delay of its cause, at least and at most. In a wait it is the whole delay.
const PART: (f64, f64) = (0.8, 1.25);

/// The least part that is not excluded by the spread of the rest: by this number of standard errors.
const SURE_PART: f64 = 0.5;
const STANDARD_ERRORS: f64 = 4.0;

/// Delays that differ less cannot be measured. Nanoseconds.
const LEAST_SPREAD_NS: f64 = 200.0;

/// Whether the ends of pauses follow their possible causes.
pub(super) fn follows(endings: &[Ending]) -> bool {
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
        return false;
    }
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (delay, lag) = (mean(&|it| it.0), mean(&|it| it.1));
    let of_delays = mean(&|it| (it.0 - delay).powi(2));
    let of_lags = mean(&|it| (it.1 - lag).powi(2));
    let of_both = mean(&|it| (it.0 - delay) * (it.1 - lag));
    if of_delays < LEAST_SPREAD_NS.powi(2) {
        return false;
    }
    let slope = of_both / of_delays;
    let rest = (of_lags - slope * of_both).max(0.0);
    let error = f64::sqrt(rest / of_delays / (count - 2.0));
    let part = 1.0 + slope;
    (PART.0..=PART.1).contains(&part) && part - STANDARD_ERRORS * error >= SURE_PART
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
        assert!(!follows(&endings(wait.take(12))));
    }

    #[test]
    fn work_does_not_follow_anything() {
        // The pause takes the same time.
        let work = (0..60).map(|it| (2_000_000 + 1_000 * (it % 7), 460_000 - 1_000 * (it % 7)));
        assert!(!follows(&endings(work)));
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
