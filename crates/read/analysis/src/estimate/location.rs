//! The usual duration of the tasks of one class, with its limits.

use super::sample::lower_spread;
use super::tally::{Comparability, Tally, Tier};
use super::{Estimate, Measured};

/// Limits of a mean, in standard errors.
const DEVIATIONS: f64 = 3.0;
/// Error of choosing the well-measured tasks, as a part of the standard deviation: they may differ from the others.
const CHOICE: f64 = 0.03;
/// Assumed spread of few tasks, as a part of their duration.
const SPREAD: f64 = 0.05;

/// The usual duration of a task of a class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Location {
    /// The mean and its limits.
    mean: Estimate,
    /// The standard deviation of single tasks.
    deviation: f64,
    /// Whether it may replace the measurement of a single task.
    pub(super) is_of_single: bool,
}

impl Location {
    /// From the counts of all tasks of a class, and a sample of their durations.
    pub(crate) fn of(tally: &Tally, sample: &mut [u32], sort: Comparability) -> Option<Self> {
        let sharp = sharpest(tally);
        match sort {
            Comparability::Single => sharp.map(|it| Self {
                is_of_single: false,
                ..it
            }),
            Comparability::Alike => {
                let common = common(tally, lower_spread(sample));
                let found = sharp.into_iter().chain(common);
                found.min_by(|a, b| a.mean.width().total_cmp(&b.mean.width()))
            }
        }
    }

    /// The duration for another class of copies or fills, with half to twice the number of bytes.
    pub(super) fn of_others(&self) -> Self {
        Self {
            mean: Estimate {
                value: self.mean.value,
                low: self.mean.low / 2.0,
                high: self.mean.high * 2.0,
            },
            deviation: self.deviation,
            is_of_single: false,
        }
    }

    /// Anything that one of the two allows.
    pub(super) fn or(&self, other: &Self) -> Self {
        let (one, other_mean) = (self.mean, other.mean);
        Self {
            mean: Estimate::between(one.low.min(other_mean.low), one.high.max(other_mean.high)),
            deviation: self.deviation.max(other.deviation),
            is_of_single: false,
        }
    }

    pub(super) fn is_of_single(&self) -> bool {
        self.is_of_single
    }

    /// By how much the mean may be off.
    pub(super) fn mean_error(&self) -> i64 {
        self.mean.error_ns()
    }

    /// One task, as far as its measurement allows it.
    pub(super) fn of_task(&self, measured: &Measured) -> Option<Estimate> {
        let one = self.of_tasks(1);
        one.agreed(measured.least as f64, measured.most as f64)
    }

    /// The total of this number of tasks.
    pub(super) fn of_tasks(&self, count: u64) -> Estimate {
        let count = count as f64;
        let open = self.deviation * (DEVIATIONS * count.sqrt() + CHOICE * count);
        Estimate {
            value: self.mean.value * count,
            low: (self.mean.low * count - open).max(0.0),
            high: self.mean.high * count + open,
        }
    }
}

/// By the tasks that were measured best. It joins tiers as long as the limits of the mean become narrower.
fn sharpest(tally: &Tally) -> Option<Location> {
    let mut joined = Tier::default();
    let mut best: Option<Location> = None;
    for tier in &tally.tiers {
        joined.join(tier);
        if tier.count == 0 {
            continue;
        }
        let found = by_mean(&joined);
        if best.is_none_or(|it| found.mean.width() < it.mean.width()) {
            best = Some(found);
        }
    }
    best
}

fn by_mean(tier: &Tier) -> Location {
    let count = tier.count as f64;
    let mean = tier.total as f64 / count;
    let squares = (u128::from(tier.count) * tier.squares)
        .saturating_sub(u128::from(tier.total.unsigned_abs()).pow(2));
    // As if there was one more task, which is off by the spread of a class of which nothing is known.
    let spread = squares as f64 / count + (SPREAD * mean).powi(2);
    let deviation = (spread / count).sqrt();
    // A few tasks say little about their deviation.
    let open = DEVIATIONS * (1.0 + 2.0 / count) * deviation / count.sqrt();
    let (low, high) = tier.limits_of_mean(open);
    Location {
        mean: Estimate::below(mean, low, high),
        deviation,
        is_of_single: true,
    }
}

/// By the bounds of all tasks of the class: if they take the same time, it is within the bounds of each. Where bounds
/// contradict each other, durations differ by as much. The limits are never closer than the narrowest bounds of one task.
fn common(tally: &Tally, spread: f64) -> Option<Location> {
    let count = tally.timed();
    if count < 2 {
        return None;
    }
    let (least, most) = tally.bounds.of_tasks(count);
    let (low, high) = (least.min(most) as f64, least.max(most) as f64);
    let middle = f64::midpoint(low, high);
    let narrowest = tally.bounds.narrowest as f64;
    let differing = if least > most { high - low } else { 0.0 };
    let half = (high - low).max(narrowest) / 2.0 + differing / 2.0 + spread;
    Some(Location {
        mean: Estimate {
            value: middle,
            low: (middle - half).max(0.0),
            high: middle + half,
        },
        deviation: differing / 2.0 + spread,
        is_of_single: true,
    })
}
