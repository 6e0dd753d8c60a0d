//! Durations without end, in bounded memory.

use super::Durations;

/// Number of durations that are kept exactly.
const EXACT: usize = 4096;
/// Steps of each power of two beyond that, as a power of two.
const STEP_BITS: u32 = 6;

/// Durations of which count, total and maximum are exact, and percentiles too while there are few;
/// then they are right to a 128th.
#[derive(Clone, Debug, Default)]
pub(super) struct Histogram {
    exact: Vec<i64>,
    /// By step; empty as long as all are exact.
    steps: Vec<u64>,
    count: u64,
    total: i64,
    max: i64,
}

impl Histogram {
    pub(super) fn add(&mut self, length: i64) {
        self.count += 1;
        self.total = self.total.saturating_add(length);
        self.max = self.max.max(length);
        if self.steps.is_empty() && self.exact.len() < EXACT {
            return self.exact.push(length);
        }
        for length in std::mem::take(&mut self.exact) {
            self.count_step(length);
        }
        self.count_step(length);
    }

    fn count_step(&mut self, length: i64) {
        let step = step_of(length) as usize;
        if self.steps.len() <= step {
            self.steps.resize(step + 1, 0);
        }
        self.steps[step] += 1;
    }

    pub(super) fn durations(mut self) -> Durations {
        if self.steps.is_empty() {
            return Durations::of(&mut self.exact);
        }
        Durations {
            count: self.count,
            total_ns: self.total,
            mean_ns: self.total / self.count.max(1) as i64,
            p50_ns: self.percentile(50),
            p90_ns: self.percentile(90),
            p99_ns: self.percentile(99),
            max_ns: self.max,
        }
    }

    fn percentile(&self, percent: u64) -> i64 {
        let mut left = (self.count * percent).div_ceil(100);
        for (step, count) in (0..).zip(&self.steps) {
            left = left.saturating_sub(*count);
            if left == 0 {
                return value_of(step).min(self.max);
            }
        }
        self.max
    }
}

/// The step of a duration: short ones have separate steps.
fn step_of(length: i64) -> u32 {
    let length = length.max(0).cast_unsigned();
    let power = 63 - (length | 1).leading_zeros();
    let shift = power.saturating_sub(STEP_BITS);
    (shift << STEP_BITS) + (length >> shift) as u32
}

/// The middle of a step.
fn value_of(step: u32) -> i64 {
    let shift = (step >> STEP_BITS).saturating_sub(1);
    let low = u64::from(step - (shift << STEP_BITS)) << shift;
    let middle = low + (1_u64 << shift) / 2;
    i64::try_from(middle).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_near_the_value_of_its_step() {
        let powers = (0..62).flat_map(|power| [1_i64 << power, (3 << power) / 2, (2 << power) - 1]);
        for length in (0..1000).chain(powers) {
            let value = value_of(step_of(length));
            let off = (value - length).unsigned_abs() * 128;
            assert!(off <= length.unsigned_abs(), "{length}: {value}");
        }
        assert_eq!(value_of(step_of(-5)), 0);
    }

    #[test]
    fn few_durations_are_exact_and_many_are_near() {
        let mut few = Histogram::default();
        let mut many = Histogram::default();
        (1..=200).for_each(|length| few.add(length));
        (1..=100_000).for_each(|length| many.add(length * 10));
        let expected = Durations::of(&mut (1..=200).collect::<Vec<_>>());
        assert_eq!(few.durations(), expected);
        let found = many.durations();
        let expected = Durations::of(&mut (1..=100_000).map(|it| it * 10).collect::<Vec<_>>());
        assert_eq!(
            (found.count, found.total_ns, found.mean_ns, found.max_ns),
            (
                expected.count,
                expected.total_ns,
                expected.mean_ns,
                expected.max_ns
            )
        );
        for (one, other) in [
            (found.p50_ns, expected.p50_ns),
            (found.p90_ns, expected.p90_ns),
            (found.p99_ns, expected.p99_ns),
        ] {
            assert!((one - other).abs() * 128 <= other, "{one} {other}");
        }
    }
}
