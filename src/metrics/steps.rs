//! How long steps of training loops took.

use super::families::MetricId;
use super::text::{LabelValues, MetricSamples, MetricValue};

/// Bounds of the histogram, in seconds: from an inference to a long training step.
const BOUNDS: [&str; 15] = [
    "0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5",
    "10", "30", "60",
];
/// The same in nanoseconds.
const BOUNDS_NS: [i64; 15] = [
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    10_000_000_000,
    30_000_000_000,
    60_000_000_000,
];

/// The steps of one process.
#[derive(Clone, Debug, Default)]
pub(super) struct StepDurations {
    counts: [u64; BOUNDS.len() + 1],
    total_ns: i64,
}

impl StepDurations {
    pub(super) fn add(&mut self, ns: i64) {
        let place = BOUNDS_NS.partition_point(|bound| *bound < ns);
        self.counts[place] += 1;
        self.total_ns += ns;
    }

    pub(super) fn show(&self, samples: &mut MetricSamples, labels: &LabelValues) {
        let count = MetricValue::Count(self.counts.iter().sum());
        samples.add(MetricId::Steps, labels, count);
        samples.add_histogram(
            MetricId::StepDuration,
            labels,
            (&BOUNDS, &self.counts),
            MetricValue::time(self.total_ns),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_the_same_in_both_units() {
        for (text, ns) in BOUNDS.iter().zip(BOUNDS_NS) {
            assert_eq!((text.parse::<f64>().unwrap() * 1e9).round() as i64, ns);
        }
        assert!(BOUNDS_NS.is_sorted());
    }

    #[test]
    fn a_step_as_long_as_a_bound_is_within_it() {
        let mut durations = StepDurations::default();
        for ns in [1, 1_000_000, 1_000_001, 90_000_000_000] {
            durations.add(ns);
        }
        assert_eq!(durations.counts[..2], [2, 1]);
        assert_eq!(durations.counts.last(), Some(&1));
    }
}
