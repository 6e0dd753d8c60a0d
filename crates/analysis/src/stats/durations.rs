//! What can be said of a set of durations.

use serde::Serialize;

/// Count, total, mean, percentiles and maximum of some durations; all 0 when there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Durations {
    pub count: u64,
    /// The sum; for things that can run side by side it can exceed the time that passed.
    pub total_ns: i64,
    /// Rounded down.
    pub mean_ns: i64,
    pub p50_ns: i64,
    pub p90_ns: i64,
    pub p99_ns: i64,
    pub max_ns: i64,
}

impl Durations {
    /// Sums up durations in any order, which is lost.
    pub fn of(values: &mut [i64]) -> Self {
        let count = values.len() as u64;
        let total_ns: i64 = values.iter().sum();
        Self {
            count,
            total_ns,
            mean_ns: total_ns.checked_div(count as i64).unwrap_or(0),
            p50_ns: percentile(values, 50),
            p90_ns: percentile(values, 90),
            p99_ns: percentile(values, 99),
            max_ns: values.iter().copied().max().unwrap_or(0),
        }
    }
}

/// The smallest of the values that at least `percent` % of them do not exceed. Puts the values in
/// an order in which it is found, which is faster than sorting them all.
fn percentile(values: &mut [i64], percent: usize) -> i64 {
    let rank = (values.len() * percent).div_ceil(100);
    match values.is_empty() {
        true => 0,
        false => *values.select_nth_unstable(rank.saturating_sub(1)).1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let mut values: Vec<i64> = (1..=200).rev().collect();
        let durations = Durations::of(&mut values);
        assert_eq!(durations.count, 200);
        assert_eq!(durations.total_ns, 20_100);
        assert_eq!(durations.mean_ns, 100);
        assert_eq!(durations.p50_ns, 100);
        assert_eq!(durations.p90_ns, 180);
        assert_eq!(durations.p99_ns, 198);
        assert_eq!(durations.max_ns, 200);
    }

    #[test]
    fn a_single_duration_is_every_percentile() {
        let durations = Durations::of(&mut [7]);
        assert_eq!((durations.p50_ns, durations.p99_ns), (7, 7));
        assert_eq!(Durations::of(&mut []), Durations::default());
    }
}
