//! One thing in both recordings.

use ascend_trace_recording::units::{signed_duration, thousands};
use schemars::JsonSchema;

use super::ALPHA;
use super::rank_test::{Shift, grouped, median, shift, test};
use super::series::{Key, Series, SubjectKind};
use crate::columns::declare::*;

/// What changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
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
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RecordingValues {
    pub steps: u64,
    pub count: f64,
    pub typical_ns: Option<i64>,
}

table_row! {
/// One thing in both recordings.
#[derive(Clone, Debug, PartialEq)]
pub struct DiffRow {
    pub impact_ns: i64 => column("impact_ns", Change, |it: &Self| it.impact_ns.into(), "by how much it makes an average step longer").shown("adds", 0);
    pub verdict: Verdict => column("verdict", Word, |it: &Self| it.verdict.name().into(), "`same`, `longer`, `shorter`, `more`, `fewer`, `new` or `gone`");
    => column("", Word, |it: &Self| it.word().into(), "the verdict, or `within error`").shown("it is", 0);
    pub kind: SubjectKind => column("kind", Word, |it: &Self| it.kind.name().into(), "`step`, `part`, `operation`, `call` or `stall`").shown("of", 0);
    pub name: String => column("name", Text, |it: &Self| (&it.name).into(), "name of the part, operation, call or cause").shown("what", 0);
    pub change: Option<f64> => column("change", ShareChange, |it: &Self| it.change.into(), "the change as a part of the typical time in A").shown("change", 0);
    => column("", ShareChange, |it: &Self| it.part(it.low_ns), "`low_ns` as such a part").text("from");
    => column("", ShareChange, |it: &Self| it.part(it.high_ns), "`high_ns` as such a part").text("to");
    => column("", Figures, |it: &Self| it.error().into(), "`open_ns` as such a part").text("error").if_any(|it| !it.error().is_empty());
    => column("a.steps", Count, |it: &Self| it.a.steps.into(), "compared steps of A that have it").json::<u64>();
    => column("a.count", Figures, |it: &Self| it.a.count.into(), "how many there are in each step; without steps, in all").json::<f64>();
    => column("a.typical_ns", Duration, |it: &Self| it.a.typical_ns.into(), "the time in steps that have it, as the median of the means of groups").json::<Option<i64>>().shown("A", 70);
    => column("b.steps", Count, |it: &Self| it.b.steps.into(), "the same of B").json::<u64>();
    => column("b.count", Figures, |it: &Self| it.b.count.into(), "the same of B").json::<f64>();
    => column("b.typical_ns", Duration, |it: &Self| it.b.typical_ns.into(), "the same of B").json::<Option<i64>>().shown("B", 70);
    => column("", Figures, |it: &Self| it.counts().into(), "how many there are in each").shown("count", 100);
    pub change_ns: Option<i64> => column("change_ns", Change, |it: &Self| it.change_ns.into(), "the change of a step that has it; `null` where one side has no times");
    pub low_ns: Option<i64> => column("low_ns", Change, |it: &Self| it.low_ns.into(), "the begin of the range in which the change lies 99 times out of 100");
    pub high_ns: Option<i64> => column("high_ns", Change, |it: &Self| it.high_ns.into(), "the end of this range");
    pub open_ns: i64 => column("open_ns", Duration, |it: &Self| it.open_ns.into(), "by how much measuring alone can make that change, by the errors of the estimates. A smaller change is never reported");
    pub within_error: bool => column("within_error", Flag, |it: &Self| it.within_error.into(), "whether the change is more than the spread of the steps, but no more than `open_ns`. The verdict is then `same`");
    pub p: Option<f64> => column("p", Chance, |it: &Self| it.p.into(), "the chance of such a difference of times if nothing had changed");
    pub p_corrected: Option<f64> => column("p_corrected", Chance, |it: &Self| it.p_corrected.into(), "this chance, corrected for the number of tests").shown("p", 110);
    pub p_count: Option<f64> => column("p_count", Chance, |it: &Self| it.p_count.into(), "the chance of such a difference of numbers");
    pub p_count_corrected: Option<f64> => column("p_count_corrected", Chance, |it: &Self| it.p_count_corrected.into(), "this chance, corrected");
    pub place: Option<u64> => column("place", Id, |it: &Self| it.place.into(), "the operation of B's usual step with the largest difference in time, from 1");
    pub there_ns: Option<i64> => column("there_ns", Change, |it: &Self| it.there_ns.into(), "the difference there");
    => column("", Text, |it: &Self| it.most_of_it().into(), "the difference there, and the number of the operation").text("most of it");
    pub a: RecordingValues;
    pub b: RecordingValues;
    /// By how much the two halves of a side differ, the larger of both sides.
    pub(super) drift_ns: i64;
    /// All steps of a side have the same number of them, and the sides differ.
    pub(super) counts_differ: bool;
}
}

/// The numbers of the compared steps of both sides; without them, values are single ones.
pub(super) type Sampled<'s> = Option<(&'s [u32], &'s [u32])>;

/// Steps of each side from which on it counts as certain that they agree.
const AGREEING: usize = 3;

/// Smaller errors, as a part of the time in A, are left out.
const SEEN: f64 = 0.0005;

impl DiffRow {
    fn part(&self, ns: Option<i64>) -> Value<'static> {
        let base = self.a.typical_ns.filter(|it| *it > 0);
        let part = ns.zip(base).map(|(ns, base)| ns as f64 / base as f64);
        part.into()
    }

    /// By how much measuring alone can make the change, if that is seen.
    fn error(&self) -> String {
        match self.part(Some(self.open_ns)) {
            Value::Part(part) if part >= SEEN => format!("± {:.1} %", part * 100.0),
            _ => String::new(),
        }
    }

    fn counts(&self) -> String {
        let one = |it: f64| match it.fract() == 0.0 {
            true => thousands(it as u64),
            false => format!("{it:.2}"),
        };
        match self.a.count == self.b.count {
            true => one(self.a.count),
            false => format!("{} / {}", one(self.a.count), one(self.b.count)),
        }
    }

    fn most_of_it(&self) -> String {
        match (self.place, self.there_ns) {
            (Some(place), Some(there)) if self.verdict != Verdict::Same => {
                format!("{}, operation {}", signed_duration(there), thousands(place))
            }
            _ => String::new(),
        }
    }

    pub(super) fn of(key: &Key, a: &Series, b: &Series, sampled: Sampled<'_>) -> Self {
        let usual = sampled.and_then(|_| usual_count(key.0, a, b));
        let times = |it: &Series| -> Vec<i64> {
            let times = it.values.iter().filter_map(|value| match usual {
                Some(usual) => value.time_of(usual),
                None => value.time(),
            });
            times.collect()
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
        let per = |amount: &RecordingValues, steps: usize| {
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
            drift_ns: drift(&one).max(drift(&other)),
            counts_differ,
        }
    }

    /// Decides what changed. A change of time below `least` says nothing that anybody could use, and one that measuring
    /// can make says nothing of the program. The same holds for a change that one recording has within itself.
    pub(super) fn judge(&mut self, least: f64) {
        let is_significant = |p: Option<f64>| p.is_some_and(|it| it <= ALPHA);
        let matters = self.impact_ns.unsigned_abs() as f64 >= least;
        let is_operation = self.kind == SubjectKind::Operation;
        let counts = is_significant(self.p_count_corrected) && (is_operation || matters)
            || self.counts_differ && is_operation;
        let is_real = self.change_ns.is_some_and(|it| it.abs() > self.open_ns);
        let is_change = is_significant(self.p_corrected) && matters;
        let is_steady = self.change_ns.is_some_and(|it| it.abs() > self.drift_ns);
        let times = is_change && is_real && is_steady;
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

/// The mean number of something in a step, if steps of one recording have different numbers of it: the time of a step says little then.
fn usual_count(kind: SubjectKind, a: &Series, b: &Series) -> Option<f64> {
    let counts = || a.values.iter().chain(&b.values).map(|it| it.count);
    let varies = [a, b].iter().any(|it| {
        let pairs = it.values.windows(2);
        pairs.into_iter().any(|it| it[0].count != it[1].count)
    });
    let is_counted = matches!(kind, SubjectKind::Operation | SubjectKind::Call);
    let sum: f64 = counts().map(f64::from).sum();
    (is_counted && varies).then(|| sum / counts().count() as f64)
}

/// By how much the second half of a recording differs from the first. Other runs differ by as much.
fn drift(times: &[i64]) -> i64 {
    let (first, second) = times.split_at(times.len() / 2);
    let halves = median(first).zip(median(second));
    halves.map_or(0, |(first, second)| (second - first).abs())
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

fn in_steps(times: &[i64], counts: &[i64]) -> RecordingValues {
    let sum: i64 = counts.iter().sum();
    RecordingValues {
        steps: counts.iter().filter(|it| **it > 0).count() as u64,
        count: sum as f64 / counts.len().max(1) as f64,
        typical_ns: median(times),
    }
}

fn single(times: &[i64], series: &Series) -> RecordingValues {
    RecordingValues {
        steps: series.count,
        count: series.count as f64,
        typical_ns: median(times),
    }
}

/// What measuring leaves open of how long all of it takes in a step that has it; without steps, of one.
fn open(amount: &RecordingValues, series: &Series, steps: Option<usize>) -> i64 {
    let in_step = match steps {
        Some(steps) if amount.steps > 0 => amount.count * steps as f64 / amount.steps as f64,
        _ => 1.0,
    };
    (series.open as f64 * in_step).round() as i64
}

fn total(amount: &RecordingValues) -> f64 {
    amount.typical_ns.unwrap_or(0) as f64 * amount.count
}

/// The value that all of several steps have.
fn constant(counts: &[i64]) -> Option<i64> {
    let first = *counts.first()?;
    let agree = counts.len() >= AGREEING && counts.iter().all(|it| *it == first);
    agree.then_some(first)
}
