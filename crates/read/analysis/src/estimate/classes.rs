//! The classes of a recording, and the sums of each stream by class.

use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::{FunctionId, ProcessId, Task, Trace};
use rustc_hash::FxHashMap;

use super::shapes::Shapes;
use super::weighted::{ClassSample, percentiles};
use super::{Comparability, Estimate, Location, Tally};
use crate::TaskRole;
use crate::stats::replayed;

/// Classes of one operation that are kept apart on a stream; further ones are one class.
const CLASSES: u32 = 64;
/// The class of further ones.
const FURTHER: u64 = 0;

/// A class: the number of the operation, and what its tasks have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ClassKey {
    pub(crate) operation: u32,
    /// The number of bits of the number of bytes that its tasks move, 0 where it is not known.
    bits: u32,
    shape: u64,
}

impl ClassKey {
    fn of(trace: &Trace, task: &Task, (operation, shape): (u32, u64)) -> Self {
        let bytes = trace.bytes(trace.call(task.call)).unwrap_or(0);
        Self {
            operation,
            bits: u64::BITS - bytes.leading_zeros(),
            shape,
        }
    }
}

/// Replays of graphs of two processes may have one number.
fn shape_of_replay(trace: &Trace, task: &Task) -> u64 {
    u64::from(trace.stream(task.stream).process.0) + 1
}

/// The name and the kind that distinguish an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Operation {
    /// Empty where it is the replay of a graph.
    pub(crate) name: String,
    pub(crate) graph: Option<u32>,
    pub(crate) kind: TaskKind,
    sort: Comparability,
    is_work: bool,
}

/// Gives operations numbers, in the order in which they come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Classes {
    numbers: FxHashMap<(Option<u32>, TaskKind), FxHashMap<String, u32>>,
    operations: Vec<Operation>,
    /// The last operation of each function: it mostly does the same again.
    last: Vec<Option<u32>>,
    shapes: Shapes,
}

impl Classes {
    pub(crate) fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Whether streams work while its tasks run.
    pub(crate) fn is_work(&self, key: ClassKey) -> bool {
        self.operations[key.operation as usize].is_work
    }

    pub(crate) fn kind(&self, key: ClassKey) -> TaskKind {
        self.operations[key.operation as usize].kind
    }

    /// The class of the replays of a graph.
    pub(crate) fn replays(&self, process: ProcessId, graph: u32) -> Option<ClassKey> {
        let named = self.numbers.get(&(Some(graph), TaskKind::Graph))?;
        let operation = *named.get("")?;
        let shape = u64::from(process.0) + 1;
        Some(ClassKey {
            operation,
            bits: 0,
            shape,
        })
    }

    pub(crate) fn key(&mut self, trace: &Trace, task: &Task) -> ClassKey {
        let operation = self.number(trace, task);
        let shape = match self.operations[operation as usize].graph {
            Some(_) => shape_of_replay(trace, task),
            None => self.shapes.of(trace, trace.call(task.call)) | 1,
        };
        ClassKey::of(trace, task, (operation, shape))
    }

    /// The same of a task of an operation that is known.
    pub(super) fn find(&self, trace: &Trace, task: &Task) -> Option<ClassKey> {
        let graph = replayed(trace, task);
        let name = graph.map_or_else(|| trace.task_name(task), |_| "");
        let operation = *self.numbers.get(&(graph, task.kind))?.get(name)?;
        let shape = match graph {
            Some(_) => shape_of_replay(trace, task),
            None => self.shapes.find(trace, trace.call(task.call))? | 1,
        };
        Some(ClassKey::of(trace, task, (operation, shape)))
    }

    fn number(&mut self, trace: &Trace, task: &Task) -> u32 {
        let graph = replayed(trace, task);
        let name = graph.map_or_else(|| trace.task_name(task), |_| "");
        let function = trace.call(task.call).function;
        if let Some(last) = self.last(function) {
            let known = &self.operations[last as usize];
            if known.kind == task.kind && known.graph == graph && known.name == name {
                return last;
            }
        }
        let named = self.numbers.entry((graph, task.kind)).or_default();
        let number = match named.get(name) {
            Some(number) => *number,
            None => {
                let number = self.operations.len() as u32;
                named.insert(name.to_owned(), number);
                self.operations.push(Operation {
                    name: name.to_owned(),
                    graph,
                    kind: task.kind,
                    sort: Comparability::of(trace, task),
                    is_work: TaskRole::of(trace, task) == TaskRole::Work,
                });
                number
            }
        };
        if self.last.len() <= function.index() {
            self.last.resize(function.index() + 1, None);
        }
        self.last[function.index()] = Some(number);
        number
    }

    fn last(&self, function: FunctionId) -> Option<u32> {
        self.last.get(function.index()).copied().flatten()
    }
}

/// Places for the classes that were looked up last.
const RECENT: usize = 16;

/// Sums by class.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tallies {
    sums: Vec<(ClassKey, Tally)>,
    places: FxHashMap<ClassKey, u32>,
    /// How many classes each operation has.
    classes: FxHashMap<u32, u32>,
    /// Classes that were looked up last, by their operations: streams mostly repeat a few.
    recent: [Option<(ClassKey, u32)>; RECENT],
}

impl Tallies {
    /// The sums of a class, or of the further ones of its operation.
    pub(crate) fn of(&mut self, key: ClassKey) -> &mut Tally {
        let recent = key.operation as usize % RECENT;
        let place = match self.recent[recent] {
            Some((known, place)) if known == key => place,
            _ => {
                let place = self.place(key);
                self.recent[recent] = Some((key, place));
                place
            }
        };
        &mut self.sums[place as usize].1
    }

    fn place(&mut self, key: ClassKey) -> u32 {
        if let Some(place) = self.places.get(&key) {
            return *place;
        }
        let classes = self.classes.entry(key.operation).or_default();
        *classes = classes.saturating_add(1);
        let key = match *classes > CLASSES {
            true => ClassKey {
                shape: FURTHER,
                ..key
            },
            false => key,
        };
        let sums = &mut self.sums;
        *self.places.entry(key).or_insert_with(|| {
            sums.push((key, Tally::default()));
            sums.len() as u32 - 1
        })
    }
}

/// The usual duration of each class, by all tasks of a recording.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    classes: FxHashMap<ClassKey, (Tally, Option<Location>)>,
    /// By operation and bits of bytes, for classes of which nothing is known.
    alike: FxHashMap<(u32, u32), Location>,
    /// The 50th, 90th and 99th percentile of operations with classes that have times at different rates.
    percentiles: FxHashMap<u32, [i64; 3]>,
}

impl Totals {
    /// Of the sums of all streams.
    pub(crate) fn of<'t>(classes: &Classes, lanes: impl Iterator<Item = &'t Tallies>) -> Self {
        let mut joined: FxHashMap<ClassKey, (Tally, Vec<u32>)> = FxHashMap::default();
        for (key, tally) in lanes.flat_map(|lane| &lane.sums) {
            let (sums, sample) = joined.entry(*key).or_default();
            sums.join(tally);
            sample.extend(tally.sample.values());
        }
        let mut samples: FxHashMap<u32, Vec<ClassSample>> = FxHashMap::default();
        for (key, (tally, values)) in joined.iter().filter(|(_, (tally, _))| tally.count() > 0) {
            samples.entry(key.operation).or_default().push(ClassSample {
                values: values.clone(),
                timed: tally.timed(),
                all: tally.count(),
            });
        }
        let weighted = samples.into_iter();
        let weighted = weighted.filter_map(|(number, it)| Some((number, percentiles(&it)?)));
        let weighted = weighted.collect();
        let known = joined.into_iter().map(|(key, (tally, mut sample))| {
            let sort = classes.operations[key.operation as usize].sort;
            (key, (tally, Location::of(&tally, &mut sample, sort)))
        });
        let classes: FxHashMap<_, _> = known.collect();
        let mut alike: FxHashMap<(u32, u32), Location> = FxHashMap::default();
        for (key, (_, location)) in classes.iter().filter(|(key, _)| key.bits > 0) {
            let Some(location) = location.map(|it| it.of_others()) else {
                continue;
            };
            let any = alike.entry((key.operation, key.bits));
            any.and_modify(|it| *it = it.or(&location))
                .or_insert(location);
        }
        Self {
            classes,
            alike,
            percentiles: weighted,
        }
    }

    pub(crate) fn location(&self, key: ClassKey) -> Option<&Location> {
        let own = self.classes.get(&key).and_then(|(_, it)| it.as_ref());
        own.or_else(|| self.alike.get(&(key.operation, key.bits)))
    }

    /// How long all tasks of a class took.
    pub(crate) fn class(&self, key: ClassKey) -> Option<(Estimate, u64)> {
        let (tally, _) = self.classes.get(&key)?;
        let total = tally.total(self.location(key));
        Some(total.map_or((Estimate::default(), tally.untimed), |it| (it, 0)))
    }

    /// How long the tasks of sums took that are `wanted`, and how many of them nothing is known of.
    pub(crate) fn sum(
        &self,
        tallies: &Tallies,
        wanted: impl Fn(ClassKey) -> bool,
        of: impl Fn(&Tally, Option<&Location>) -> Option<Estimate>,
    ) -> (Estimate, u64) {
        let mut sum = (Estimate::default(), 0);
        for (key, tally) in tallies.sums.iter().filter(|(key, _)| wanted(*key)) {
            match of(tally, self.location(*key)) {
                Some(estimate) => sum.0.add(estimate),
                None => sum.1 += tally.untimed,
            }
        }
        sum
    }

    /// The 50th, 90th and 99th percentile of an operation, where those of its tasks with times are not those of all.
    pub(crate) fn percentiles(&self, operation: u32) -> Option<[i64; 3]> {
        self.percentiles.get(&operation).copied()
    }

    /// The same of each operation, by its number.
    pub(crate) fn operations(&self, count: usize) -> Vec<(Estimate, u64)> {
        let mut rows = vec![(Estimate::default(), 0); count];
        for (key, (tally, _)) in &self.classes {
            let row = &mut rows[key.operation as usize];
            match tally.total(self.location(*key)) {
                Some(total) => row.0.add(total),
                None => row.1 += tally.untimed,
            }
        }
        rows
    }
}
