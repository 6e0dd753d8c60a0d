//! One thing in both recordings.

use serde::Serialize;

use super::ALPHA;
use super::rank::{Shift, grouped, median, shift, test};
use super::series::{Key, Kind, Series};

/// What changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing that is more than the spread of the steps.
    Same,
    Longer,
    Shorter,
    /// It comes more often in a step.
    More,
    Fewer,
    /// Only B has it.
    New,
    /// Only A has it.
    Gone,
}

impl Verdict {
    /// The word for it in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Longer => "longer",
            Self::Shorter => "shorter",
            Self::More => "more",
            Self::Fewer => "fewer",
            Self::New => "new",
            Self::Gone => "gone",
        }
    }
}

/// Values of one recording. Without steps, each operation, call or stall counts as a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Amount {
    /// Compared steps that have it.
    pub steps: u64,
    /// How many there are in a step, on average; without steps, in the recording.
    pub count: f64,
    /// How long all of it takes in a step that has it: the median of the means of groups of steps.
    pub typical_ns: Option<i64>,
}

/// One thing in both recordings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    pub kind: Kind,
    pub name: String,
    pub a: Amount,
    pub b: Amount,
    /// The difference of a step that has it, B minus A; `null` where one side has no times.
    pub change_ns: Option<i64>,
    /// The range in which that difference lies 99 times out of 100.
    pub low_ns: Option<i64>,
    pub high_ns: Option<i64>,
    /// Possible difference from measuring alone: all durations of a side can be off to one side by
    /// their smallest error.
    pub open_ns: i64,
    /// The difference is more than the spread of the steps, and no more than `open_ns`: nothing is known to have changed.
    pub within_error: bool,
    /// The difference as a part of A's typical time.
    pub change: Option<f64>,
    /// By how much it makes an average step longer.
    pub impact_ns: i64,
    /// The chance of such a difference of times if nothing had changed; corrected for the number of rows in `p_corrected`.
    pub p: Option<f64>,
    pub p_corrected: Option<f64>,
    /// The same of counts.
    pub p_count: Option<f64>,
    pub p_count_corrected: Option<f64>,
    pub verdict: Verdict,
    /// Where the times differ most: the number of the operation in B's usual step, from 1, and the difference there.
    pub place: Option<u64>,
    pub there_ns: Option<i64>,
    /// All steps of a side have the same number of them, and the sides differ.
    #[serde(skip)]
    pub(super) counts_differ: bool,
}

/// The numbers of the compared steps of both sides; without them, values are single ones.
pub(super) type Sampled<'s> = Option<(&'s [u32], &'s [u32])>;

/// Steps of each side from which on it counts as certain that they agree.
const AGREEING: usize = 3;

impl Row {
    pub(super) fn of(key: &Key, a: &Series, b: &Series, sampled: Sampled<'_>) -> Self {
        let times = |it: &Series| -> Vec<i64> {
            it.values.iter().filter_map(|value| value.time()).collect()
        };
        let (one, other) = grouped(&times(a), &times(b));
        let found: Option<Shift> = shift(&one, &other);
        let counts = sampled.map(|(ours, theirs)| (counts(a, ours), counts(b, theirs)));
        let amounts = match &counts {
            Some(counts) => (in_steps(&one, &counts.0), in_steps(&other, &counts.1)),
            None => (single(&one, a), single(&other, b)),
        };
        let p_count = counts.as_ref().and_then(|(a, b)| {
            // Means of groups have fractions.
            let fine = |it: &[i64]| -> Vec<i64> { it.iter().map(|it| it * 1_000).collect() };
            let (one, other) = grouped(&fine(a), &fine(b));
            test(&one, &other)
        });
        let counts_differ = match &counts {
            Some((a, b)) => {
                let (ours, theirs) = (constant(a), constant(b));
                ours.is_some() && theirs.is_some() && ours != theirs
            }
            None => a.count != b.count,
        };
        let per = |amount: &Amount, steps: usize| {
            let share = amount.steps as f64 / steps.max(1) as f64;
            amount.typical_ns.unwrap_or(0) as f64 * share
        };
        let impact = match sampled {
            Some((ours, theirs)) => per(&amounts.1, theirs.len()) - per(&amounts.0, ours.len()),
            // All that was recorded is one step.
            None => total(&amounts.1) - total(&amounts.0),
        };
        let (a_ns, change_ns) = (amounts.0.typical_ns, found.map(|it| it.ns));
        let change = change_ns.zip(a_ns.filter(|it| *it > 0));
        Self {
            kind: key.0,
            name: key.1.clone(),
            a: amounts.0,
            b: amounts.1,
            change_ns,
            low_ns: found.map(|it| it.low),
            high_ns: found.map(|it| it.high),
            open_ns: open(&amounts.0, a, sampled.map(|it| it.0.len()))
                + open(&amounts.1, b, sampled.map(|it| it.1.len())),
            within_error: false,
            change: change.map(|(change, a)| change as f64 / a as f64),
            impact_ns: impact.round() as i64,
            p: test(&one, &other),
            p_corrected: None,
            p_count,
            p_count_corrected: None,
            verdict: Verdict::Same,
            place: None,
            there_ns: None,
            counts_differ,
        }
    }

    /// Decides what changed. A change of time below `least` says nothing that anybody could use, and one that measuring
    /// can make says nothing of the program.
    pub(super) fn judge(&mut self, least: f64) {
        let is_significant = |p: Option<f64>| p.is_some_and(|it| it <= ALPHA);
        let matters = self.impact_ns.unsigned_abs() as f64 >= least;
        let is_operation = self.kind == Kind::Operation;
        let counts = is_significant(self.p_count_corrected) && (is_operation || matters)
            || self.counts_differ && is_operation;
        let is_real = self.change_ns.is_some_and(|it| it.abs() > self.open_ns);
        let is_change = is_significant(self.p_corrected) && matters;
        let times = is_change && is_real;
        self.verdict = match (counts, times) {
            (true, _) if self.a.count == 0.0 => Verdict::New,
            (true, _) if self.b.count == 0.0 => Verdict::Gone,
            (true, _) if self.a.count < self.b.count => Verdict::More,
            (true, _) if self.a.count > self.b.count => Verdict::Fewer,
            (_, true) if self.change_ns.is_some_and(|it| it > 0) => Verdict::Longer,
            (_, true) if self.change_ns.is_some_and(|it| it < 0) => Verdict::Shorter,
            _ => Verdict::Same,
        };
        self.within_error = self.verdict == Verdict::Same && is_change && !is_real;
    }

    /// The word for its verdict in tables.
    pub const fn word(&self) -> &'static str {
        match self.within_error {
            true => "within error",
            false => self.verdict.name(),
        }
    }

    /// Whether the number of them in a step differs for certain.
    pub(super) fn has_other_count(&self) -> bool {
        use Verdict::{Fewer, Gone, More, New};
        matches!(self.verdict, New | Gone | More | Fewer)
    }
}

/// Number in each step, including 0.
fn counts(series: &Series, steps: &[u32]) -> Vec<i64> {
    let mut values = series.values.iter().peekable();
    let count = |step: &u32| match values.next_if(|it| it.step == *step) {
        Some(value) => i64::from(value.count),
        None => 0,
    };
    steps.iter().map(count).collect()
}

fn in_steps(times: &[i64], counts: &[i64]) -> Amount {
    let sum: i64 = counts.iter().sum();
    Amount {
        steps: counts.iter().filter(|it| **it > 0).count() as u64,
        count: sum as f64 / counts.len().max(1) as f64,
        typical_ns: median(times),
    }
}

fn single(times: &[i64], series: &Series) -> Amount {
    Amount {
        steps: series.count,
        count: series.count as f64,
        typical_ns: median(times),
    }
}

/// What measuring leaves open of how long all of it takes in a step that has it; without steps, of one.
fn open(amount: &Amount, series: &Series, steps: Option<usize>) -> i64 {
    let in_step = match steps {
        Some(steps) if amount.steps > 0 => amount.count * steps as f64 / amount.steps as f64,
        _ => 1.0,
    };
    (series.open as f64 * in_step).round() as i64
}

fn total(amount: &Amount) -> f64 {
    amount.typical_ns.unwrap_or(0) as f64 * amount.count
}

/// The value that all of several steps have.
fn constant(counts: &[i64]) -> Option<i64> {
    let first = *counts.first()?;
    let agree = counts.len() >= AGREEING && counts.iter().all(|it| *it == first);
    agree.then_some(first)
}
