//! Percentiles of an operation with classes that have times at different rates.
//!
//! With a budget, long tasks have times more often than short ones. So the tasks with times are no fair sample of an operation with
//! tasks of several lengths. Each class then counts by the number of all its tasks.

/// Rates that differ by less count as the same.
const SAME_RATE: f64 = 1.25;
/// Percentiles that are shown.
const PERCENTS: [f64; 3] = [50.0, 90.0, 99.0];

/// Durations of some tasks of a class, and the number of its tasks.
#[derive(Clone, Debug, Default)]
pub(super) struct ClassSample {
    pub(super) values: Vec<u32>,
    pub(super) timed: u64,
    pub(super) all: u64,
}

impl ClassSample {
    /// The part of its tasks that have times.
    fn rate(&self) -> f64 {
        self.timed as f64 / self.all.max(1) as f64
    }
}

/// The 50th, 90th and 99th percentile by all classes of an operation. `None` where all have times at about one rate, and where a class
/// has none.
pub(super) fn percentiles(classes: &[ClassSample]) -> Option<[i64; 3]> {
    let rates = || classes.iter().map(ClassSample::rate);
    let (least, most) = (rates().fold(1.0, f64::min), rates().fold(0.0, f64::max));
    let is_known = |it: &ClassSample| !it.values.is_empty() && !it.values.contains(&u32::MAX);
    if most <= least * SAME_RATE || !classes.iter().all(is_known) {
        return None;
    }
    let mut values: Vec<(u32, f64)> = Vec::new();
    for class in classes {
        let weight = class.all as f64 / class.values.len() as f64;
        values.extend(class.values.iter().map(|it| (*it, weight)));
    }
    values.sort_by_key(|(value, _)| *value);
    let all: f64 = values.iter().map(|(_, weight)| weight).sum();
    Some(PERCENTS.map(|percent| {
        // A little less, since weights are not exact.
        let mut left = all * (percent / 100.0) - 1e-6 * all;
        let found = values.iter().find(|(_, weight)| {
            left -= weight;
            left <= 0.0
        });
        found.map_or(0, |(value, _)| i64::from(*value))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(length: u32, timed: u64, all: u64) -> ClassSample {
        ClassSample {
            values: vec![length; timed.min(64) as usize],
            timed,
            all,
        }
    }

    #[test]
    fn short_tasks_count_by_their_number_and_not_by_their_times() {
        let classes = [class(10, 20, 1000), class(70, 50, 50)];
        assert_eq!(percentiles(&classes), Some([10, 10, 70]));
    }

    #[test]
    fn one_rate_needs_no_weights_and_an_unknown_class_has_none() {
        assert_eq!(percentiles(&[class(10, 90, 100), class(70, 9, 10)]), None);
        assert_eq!(percentiles(&[class(10, 0, 100), class(70, 9, 10)]), None);
        assert_eq!(
            percentiles(&[class(10, 1, 100), class(u32::MAX, 9, 10)]),
            None
        );
        assert_eq!(percentiles(&[]), None);
    }
}
