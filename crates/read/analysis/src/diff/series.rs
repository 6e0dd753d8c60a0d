//! Values by subject, step by step or one by one.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use schemars::JsonSchema;

/// Compared subjects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum SubjectKind {
    /// From the begin of a step to its end.
    Step,
    /// A part of a step; the parts of a step add up to it.
    Part,
    /// Tasks of one name.
    Operation,
    /// Calls of one function, nested ones left out.
    Call,
    /// Idle time of streams, by its cause.
    Stall,
}

impl SubjectKind {
    const COUNT: usize = 5;

    /// The word for it in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Part => "part",
            Self::Operation => "operation",
            Self::Call => "call",
            Self::Stall => "stall",
        }
    }
}

/// Subject of a row.
pub(super) type Key = (SubjectKind, String);

/// Steps and single values that are kept of each name: more say nothing more.
pub(super) const MOST: usize = 4_096;

/// What there was of one thing in a step, or one thing alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) step: u32,
    pub(super) count: u32,
    /// Of these, how many had a time.
    timed: u32,
    /// The sum of these times.
    time: i64,
}

impl Value {
    fn add(&mut self, time: Option<i64>) {
        self.count += 1;
        if let Some(time) = time {
            self.timed += 1;
            self.time += time;
        }
    }

    /// How long all of it took. Where only some are timed, the others count like them.
    pub(super) fn time(&self) -> Option<i64> {
        let all = i128::from(self.time) * i128::from(self.count);
        let all = all.checked_div(i128::from(self.timed))?;
        i64::try_from(all).ok()
    }

    /// How long this number of them takes.
    pub(super) fn time_of(&self, count: f64) -> Option<i64> {
        let is_timed = self.timed > 0;
        is_timed.then(|| (self.time as f64 / f64::from(self.timed) * count).round() as i64)
    }
}

/// A duration, and by how much it can be off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Measured {
    pub(super) time: i64,
    pub(super) error: i64,
}

impl Measured {
    /// One that the host measured.
    pub(super) const fn exact(time: i64) -> Self {
        Self { time, error: 0 }
    }
}

/// The values of one thing, in the order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Series {
    pub(super) values: Vec<Value>,
    /// Of all steps, also of those that are not kept.
    pub(super) count: u64,
    /// Smallest error of any duration. All of them may be off to the same side by it: the duration of
    /// the tracer's events is subtracted, and is not known exactly. On idle streams, durations are estimates.
    pub(super) open: i64,
}

/// Numbers for names.
#[derive(Debug, Default)]
pub(super) struct Names {
    numbers: [FxHashMap<String, u32>; SubjectKind::COUNT],
    all: Vec<Key>,
}

impl Names {
    pub(super) fn number(&mut self, kind: SubjectKind, name: &str) -> u32 {
        let numbers = &mut self.numbers[kind as usize];
        if let Some(number) = numbers.get(name) {
            return *number;
        }
        let number = self.all.len() as u32;
        numbers.insert(name.to_owned(), number);
        self.all.push((kind, name.to_owned()));
        number
    }

    pub(super) fn of(&self, number: u32) -> &Key {
        &self.all[number as usize]
    }
}

/// Values by step.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// One step in this number is kept.
    stride: u32,
    cells: FxHashMap<(u32, u32), Value>,
    counts: FxHashMap<u32, StepFacts>,
}

/// Facts about all steps together, also of those that are not kept.
#[derive(Clone, Copy, Debug, Default)]
struct StepFacts {
    count: u64,
    open: Option<i64>,
}

fn least(known: Option<i64>, measured: Option<Measured>) -> Option<i64> {
    let error = measured.map(|it| it.error);
    known.into_iter().chain(error).min()
}

impl Steps {
    pub(super) fn of(steps: usize) -> Self {
        Self {
            stride: steps.div_ceil(MOST).max(1) as u32,
            ..Self::default()
        }
    }

    pub(super) fn add(&mut self, name: u32, step: u32, measured: Option<Measured>) {
        let counted = self.counts.entry(name).or_default();
        counted.count += 1;
        counted.open = least(counted.open, measured);
        self.more(name, step, measured.map(|it| it.time), true);
    }

    /// The same, of an operation that continues from an earlier step.
    pub(super) fn go_on(&mut self, name: u32, step: u32, time: i64) {
        self.more(name, step, Some(time), false);
    }

    fn more(&mut self, name: u32, step: u32, time: Option<i64>, is_new: bool) {
        if !step.is_multiple_of(self.stride) {
            return;
        }
        let cell = self.cells.entry((name, step)).or_default();
        cell.step = step;
        match (is_new, cell.count) {
            (true, _) | (false, 0) => cell.add(time),
            (false, _) => cell.time += time.unwrap_or(0),
        }
    }

    /// The numbers of the steps that are kept.
    pub(super) fn kept(&self, from: u32, until: u32) -> impl Iterator<Item = u32> {
        let stride = self.stride;
        (from..until).filter(move |it| it.is_multiple_of(stride))
    }

    pub(super) fn series(&self, names: &Names, from: u32) -> BTreeMap<Key, Series> {
        let mut series: BTreeMap<Key, Series> = BTreeMap::new();
        for ((name, step), value) in &self.cells {
            if *step >= from {
                let own = series.entry(names.of(*name).clone()).or_default();
                own.values.push(*value);
                let counted = self.counts.get(name).copied().unwrap_or_default();
                (own.count, own.open) = (counted.count, counted.open.unwrap_or(0));
            }
        }
        let all = series.values_mut();
        all.for_each(|it| it.values.sort_by_key(|value| value.step));
        series
    }
}

/// Values one by one. When they are too many, every second one is dropped, so that the kept ones are
/// spread evenly.
#[derive(Debug)]
pub(super) struct SampledValues {
    stride: u64,
    series: Series,
    open: Option<i64>,
}

impl Default for SampledValues {
    fn default() -> Self {
        Self {
            stride: 1,
            series: Series::default(),
            open: None,
        }
    }
}

impl SampledValues {
    pub(super) fn add(&mut self, measured: Option<Measured>) {
        let number = self.series.count;
        self.series.count += 1;
        self.open = least(self.open, measured);
        if !number.is_multiple_of(self.stride) {
            return;
        }
        let values = &mut self.series.values;
        if values.len() == MOST {
            let mut place = 0;
            values.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.stride *= 2;
            if !number.is_multiple_of(self.stride) {
                return;
            }
        }
        let mut value = Value {
            step: u32::try_from(number).unwrap_or(u32::MAX),
            ..Value::default()
        };
        value.add(measured.map(|it| it.time));
        values.push(value);
    }

    pub(super) fn into_series(self) -> Series {
        Series {
            open: self.open.unwrap_or(0),
            ..self.series
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_values_are_kept_evenly() {
        let mut single = SampledValues::default();
        (0..20_000).for_each(|it| single.add(Some(Measured::exact(it))));
        let series = single.into_series();
        assert_eq!(series.count, 20_000);
        assert!(series.values.len() > MOST / 2 && series.values.len() <= MOST);
        let steps = series.values.windows(2).map(|it| it[1].step - it[0].step);
        assert_eq!(steps.collect::<std::collections::BTreeSet<_>>().len(), 1);
        let is_own = |it: &Value| it.time() == Some(i64::from(it.step));
        assert!(series.values.iter().all(is_own));
    }

    #[test]
    fn partly_timed_operations_count_as_a_whole() {
        let mut names = Names::default();
        let name = names.number(SubjectKind::Operation, "MatMul");
        let mut steps = Steps::of(2 * MOST);
        let times = [(10, 7), (20, 5)].map(|(time, error)| Measured { time, error });
        let times = [Some(times[0]), None, Some(times[1]), None];
        times.into_iter().for_each(|time| steps.add(name, 2, time));
        steps.add(name, 3, Some(Measured { time: 1, error: 6 }));
        let series = steps.series(&names, 0);
        let own = &series[&(SubjectKind::Operation, "MatMul".to_owned())];
        assert_eq!((own.count, own.values.len()), (5, 1), "step 3 is not kept");
        assert_eq!(own.open, 5);
        assert_eq!(own.values[0].time(), Some(60));
        assert_eq!(steps.kept(1, 6).collect::<Vec<_>>(), [2, 4]);
    }
}
