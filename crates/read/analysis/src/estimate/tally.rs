//! Sums of the tasks of one class, by how exactly they were measured.

use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::{Task, TaskRun, Trace};

use super::runs::RunSums;
use super::sample::Sample;
use super::{Estimate, Location, Measured};
use crate::TaskRole;

/// How much may be open of a duration, as a divisor of it: one tier for each, and one for more than that.
const TIERS: [i64; 4] = [64, 16, 4, 2];

/// The number of narrowest bounds that are kept: a few wrong ones then change nothing.
const KEPT: usize = 8;
/// Deviations within limits, in sums: `sqrt(2 ln(2 / 0.0027))`.
const NOISE_DEVIATIONS: f64 = 3.64;
/// One of this number of bounds is left out.
const LEFT_OUT: u64 = 250;

/// Whether durations of a kind of tasks can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparability {
    /// The device works: tasks of one class take about the same time.
    Alike,
    /// How long it takes depends on others: it waits for a peer, an event or the host.
    Single,
}

impl Comparability {
    pub(crate) fn of(trace: &Trace, task: &Task) -> Self {
        match TaskRole::of(trace, task) == TaskRole::Work && task.kind != TaskKind::Collective {
            true => Self::Alike,
            false => Self::Single,
        }
    }
}

fn tier_of(measured: &Measured) -> usize {
    let (open, length) = (measured.open(), measured.length);
    let fits = |divisor: &i64| open.saturating_mul(*divisor) <= length;
    let clear = TIERS.len() - usize::from(!measured.is_unclear());
    TIERS.iter().position(fits).unwrap_or(clear)
}

/// Tasks that were measured about equally well.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Tier {
    pub(super) count: u64,
    /// Sums of durations, of their squares, and of their bounds.
    pub(super) total: i64,
    pub(super) squares: u128,
    pub(super) least: i64,
    pub(super) most: i64,
    /// Sums of the bounds as far as a mean may be off, of how much single tasks may be off more, and the largest of these.
    mean_least: i64,
    mean_most: i64,
    noise: u64,
    most_noise: u32,
    /// The parts of the durations that are not counted, because they count for another task.
    pub(super) left_out: i64,
}

impl Tier {
    pub(super) fn join(&mut self, other: &Self) {
        self.count += other.count;
        self.total = self.total.saturating_add(other.total);
        self.squares = self.squares.saturating_add(other.squares);
        self.least = self.least.saturating_add(other.least);
        self.most = self.most.saturating_add(other.most);
        self.mean_least = self.mean_least.saturating_add(other.mean_least);
        self.mean_most = self.mean_most.saturating_add(other.mean_most);
        self.noise = self.noise.saturating_add(other.noise);
        self.most_noise = self.most_noise.max(other.most_noise);
        self.left_out = self.left_out.saturating_add(other.left_out);
    }

    /// Takes in a task.
    fn add(&mut self, measured: &Measured) {
        let (mean_least, mean_most) = measured.mean;
        let square = u128::from(measured.length.unsigned_abs()).pow(2);
        self.join(&Self {
            count: 1,
            total: measured.length,
            squares: square,
            least: measured.least,
            most: measured.most,
            mean_least,
            mean_most,
            noise: measured.noise.into(),
            most_noise: measured.noise,
            left_out: 0,
        });
    }

    /// How much may be open of the sum since single tasks differ at random. It is less than the sum of their limits: deviations
    /// within limits are as probable beyond this as three standard errors are (Hoeffding).
    fn noise(&self) -> f64 {
        let squares = self.noise as f64 * f64::from(self.most_noise);
        (NOISE_DEVIATIONS * squares.sqrt()).min(self.noise as f64)
    }

    /// Limits of the mean, which may be off by `open` as the durations differ. These include the noise of single ones.
    pub(super) fn limits_of_mean(&self, open: f64) -> (f64, f64) {
        let count = self.count as f64;
        let open = open.max(self.noise() / count);
        let low = self.mean_least as f64 / count - open;
        (low.max(0.0), self.mean_most as f64 / count + open)
    }

    /// Limits of the sum.
    fn limits(&self) -> (f64, f64) {
        let noise = self.noise();
        let low = (self.mean_least as f64 - noise).max(self.least as f64);
        let high = (self.mean_most as f64 + noise).min(self.most as f64);
        (low, high)
    }

    /// By their own measurements alone.
    fn measured(&self) -> Estimate {
        let (low, high) = self.limits();
        Estimate::below(self.total as f64, low, high)
    }

    /// The same number of tasks by the location of their class, as far as their measurements allow it.
    fn located(&self, location: &Location) -> Option<Estimate> {
        let located = location.of_tasks(self.count);
        let (low, high) = self.limits();
        located.agreed(low, high)
    }
}

/// The bounds of single durations that leave least open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    /// The longest of the shortest possible durations, and the shortest of the longest ones.
    least: [i64; KEPT],
    most: [i64; KEPT],
    /// The smallest distance of the two bounds of one task.
    pub(super) narrowest: i64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            least: [i64::MIN; KEPT],
            most: [i64::MAX; KEPT],
            narrowest: i64::MAX,
        }
    }
}

impl Bounds {
    fn add(&mut self, least: i64, most: i64) {
        self.narrowest = self.narrowest.min(most - least);
        self.add_least(least);
        self.add_most(most);
    }

    fn add_least(&mut self, least: i64) {
        if least > self.least[KEPT - 1] {
            let place = self.least.partition_point(|it| *it >= least);
            self.least[place..].rotate_right(1);
            self.least[place] = least;
        }
    }

    fn add_most(&mut self, most: i64) {
        if most < self.most[KEPT - 1] {
            let place = self.most.partition_point(|it| *it <= most);
            self.most[place..].rotate_right(1);
            self.most[place] = most;
        }
    }

    fn join(&mut self, other: &Self) {
        self.narrowest = self.narrowest.min(other.narrowest);
        other.least.iter().for_each(|it| self.add_least(*it));
        other.most.iter().for_each(|it| self.add_most(*it));
    }

    /// The two limits of this number of tasks, if they take the same time.
    pub(super) fn of_tasks(&self, count: u64) -> (i64, i64) {
        let place = (count / LEFT_OUT).min(KEPT as u64 - 1) as usize;
        (self.least[place], self.most[place])
    }
}

/// Sums of the tasks of one class. The order in which they come does not matter.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    pub(super) tiers: [Tier; TIERS.len() + 1],
    pub(super) bounds: Bounds,
    pub(super) sample: Sample,
    /// Tasks that ran and have no time.
    pub(super) untimed: u64,
    /// Those of them that are in runs.
    runs: RunSums,
}

impl Tally {
    /// Takes in a task that ran. `counted` is how much of its measured duration counts; the rest counts elsewhere.
    pub(crate) fn add(&mut self, measured: Option<&Measured>, counted: i64) {
        let Some(measured) = measured else {
            self.untimed += 1;
            return;
        };
        let tier = &mut self.tiers[tier_of(measured)];
        tier.add(measured);
        tier.left_out += measured.length - counted;
        self.bounds.add(measured.least, measured.most);
        self.sample.add(measured.length);
    }

    /// Takes in the time of a run. Its tasks were taken in without times.
    pub(crate) fn add_run(&mut self, run: &TaskRun) {
        self.runs.add(run);
    }

    /// Adds the sums of another one; the sample stays.
    pub(crate) fn join(&mut self, other: &Self) {
        for (tier, other) in self.tiers.iter_mut().zip(&other.tiers) {
            tier.join(other);
        }
        self.bounds.join(&other.bounds);
        self.untimed += other.untimed;
        self.runs.join(&other.runs);
    }

    /// The usual duration of a task of the class, by these alone.
    pub(super) fn location(&self, sort: Comparability) -> Option<Location> {
        let mut sample = self.sample.values().to_vec();
        Location::of(self, &mut sample, sort)
    }

    pub(crate) fn timed(&self) -> u64 {
        self.tiers.iter().map(|tier| tier.count).sum()
    }

    /// All of them.
    pub(crate) fn count(&self) -> u64 {
        self.timed() + self.untimed
    }

    /// The total of all of them, by the location of their class. `None` if tasks without a time have no location: then no
    /// task of the class has a time.
    pub(crate) fn total(&self, location: Option<&Location>) -> Option<Estimate> {
        self.sum(location, |_| 0)
    }

    /// The total of those without a time.
    pub(crate) fn untimed(&self, location: Option<&Location>) -> Option<Estimate> {
        let mut sum = self.in_runs(location);
        let others = self.untimed.saturating_sub(self.runs.tasks);
        if others > 0 {
            sum.add(location?.of_tasks(others));
        }
        Some(sum)
    }

    /// The total of those in runs: by the times of the runs, or by the location of their class where that says more.
    fn in_runs(&self, location: Option<&Location>) -> Estimate {
        let measured = self.runs.measured();
        let usable = location.filter(|it| it.is_of_single && self.runs.tasks > 0);
        let located = usable.map(|it| it.of_tasks(self.runs.tasks));
        let located = located.and_then(|it| it.agreed(measured.low, measured.high));
        let better = located.filter(|it| it.width() < measured.width());
        better.unwrap_or(measured)
    }

    /// The same of the parts that count.
    pub(crate) fn counted(&self, location: Option<&Location>) -> Option<Estimate> {
        self.sum(location, |tier| tier.left_out)
    }

    fn sum(
        &self,
        location: Option<&Location>,
        left_out: impl Fn(&Tier) -> i64,
    ) -> Option<Estimate> {
        let mut sum = Estimate::default();
        for tier in self.tiers.iter().filter(|it| it.count > 0) {
            let measured = tier.measured();
            let usable = location.filter(|it| it.is_of_single);
            let located = usable.and_then(|it| tier.located(it));
            let better = located.filter(|it| it.width() < measured.width());
            let mut found = better.unwrap_or(measured);
            // A part of a duration that was measured too long is too long as well.
            let left_out =
                left_out(tier) as f64 * (found.value / (tier.total as f64).max(1.0)).min(1.0);
            found.value -= left_out;
            found.low = (found.low - left_out).max(0.0);
            found.high -= left_out;
            sum.add(found);
        }
        sum.add(self.untimed(location)?);
        Some(sum.rounded())
    }
}
