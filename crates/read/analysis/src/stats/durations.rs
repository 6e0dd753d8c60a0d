//! Statistics of a set of durations.

use crate::estimate::Estimate;

/// Count, total, mean, percentiles and maximum of some durations; all 0 without any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// The durations of tasks.
///
/// A task that was measured badly, or has no time, counts in the total as others of its operation do (`estimate`).
/// Percentiles and the maximum are of tasks of which less than a half is open; `None` without such tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskDurations {
    /// Tasks that have a time.
    pub count: u64,
    /// Those of them of which more than a half of the duration is open.
    pub unclear: u64,
    /// The sum of the measured durations, each of which may be too long.
    pub total_ns: i64,
    /// How long all tasks took, those without a time as well, and by how much this may be off. `None` where nothing is known.
    pub estimated_total_ns: Option<i64>,
    pub total_error_ns: Option<i64>,
    /// Tasks of which nothing is known, and which are not in the estimate.
    pub unestimated: u64,
    /// The estimate for one task.
    pub mean_ns: Option<i64>,
    pub p50_ns: Option<i64>,
    pub p90_ns: Option<i64>,
    pub p99_ns: Option<i64>,
    pub max_ns: Option<i64>,
}

impl TaskDurations {
    /// `clear` are those that were measured well. `ran` is the number of tasks that ran.
    pub(super) fn of(
        (count, total_ns): (u64, i64),
        clear: &Durations,
        (total, unestimated): (Estimate, u64),
        ran: u64,
    ) -> Self {
        let tasks = ran.saturating_sub(unestimated);
        let total = Some(total).filter(|_| tasks > 0);
        let value = total.map(|it| it.value_ns());
        let known = |value: i64| (clear.count > 0).then_some(value);
        Self {
            count,
            unclear: count - clear.count,
            total_ns,
            estimated_total_ns: value,
            total_error_ns: total.map(|it| it.error_ns()),
            unestimated,
            mean_ns: value.map(|it| it / tasks.max(1) as i64),
            p50_ns: known(clear.p50_ns),
            p90_ns: known(clear.p90_ns),
            p99_ns: known(clear.p99_ns),
            max_ns: known(clear.max_ns),
        }
    }

    /// The estimate, or 0 without one: for orders and shares.
    pub fn estimate_ns(&self) -> i64 {
        self.estimated_total_ns.unwrap_or(0)
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
