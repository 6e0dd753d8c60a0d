//! The usual sequence of operations of a loop, and the inserted, deleted, renamed or moved ones in it.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

use super::series::Names;
use crate::steps::align;

/// Steps of which the sequence is kept. They are spread evenly.
const LOOKED: u32 = 32;

/// When an operation was asked for; then its stream, and its place there.
pub(super) type OperationPlace = (i64, u32, u32);

/// One operation of a step.
#[derive(Clone, Debug)]
struct StepOperation {
    place: OperationPlace,
    name: u32,
    shape: Option<u32>,
    time: Option<i64>,
}

/// The sequences of some steps of a loop.
#[derive(Debug)]
pub(super) struct Orders {
    from: u32,
    stride: u32,
    steps: BTreeMap<u32, Vec<StepOperation>>,
    shapes: FxHashMap<String, u32>,
}

impl Orders {
    pub(super) fn of(from: u32, steps: usize) -> Self {
        let steps = (steps as u32).saturating_sub(from);
        Self {
            from,
            stride: steps.div_ceil(LOOKED).max(1),
            steps: BTreeMap::new(),
            shapes: FxHashMap::default(),
        }
    }

    pub(super) fn looks_at(&self, step: u32) -> bool {
        let after = step.checked_sub(self.from);
        after.is_some_and(|it| it.is_multiple_of(self.stride))
    }

    pub(super) fn add(
        &mut self,
        step: u32,
        place: OperationPlace,
        name: u32,
        time: Option<i64>,
        shape: impl Fn() -> Option<String>,
    ) {
        let next = self.shapes.len() as u32;
        let shape = shape().map(|it| *self.shapes.entry(it).or_insert(next));
        self.steps.entry(step).or_default().push(StepOperation {
            place,
            name,
            shape,
            time,
        });
    }

    /// The sequence that most steps have, the earliest of several.
    pub(super) fn usual(mut self, names: &Names) -> UsualSequence {
        let mut found: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
        for (step, asked) in &mut self.steps {
            asked.sort_by_key(|it| it.place);
            let sequence = asked.iter().map(|it| it.name).collect();
            found.entry(sequence).or_default().push(*step);
        }
        let most = found.values().max_by_key(|it| (it.len(), u32::MAX - it[0]));
        let Some(steps) = most else {
            return UsualSequence::default();
        };
        let mut shapes = vec![String::new(); self.shapes.len()];
        let all = self.shapes.into_iter();
        all.for_each(|(shape, number)| shapes[number as usize] = shape);
        let own: Vec<&Vec<StepOperation>> = steps.iter().map(|it| &self.steps[it]).collect();
        let operations = own[0].iter().enumerate().map(|(place, asked)| Operation {
            name: names.of(asked.name).1.clone(),
            shape: asked.shape.map(|it| shapes[it as usize].clone()),
            mean: mean(own.iter().filter_map(|it| it[place].time)),
        });
        UsualSequence {
            operations: operations.collect(),
        }
    }
}

fn mean(times: impl Iterator<Item = i64>) -> Option<i64> {
    let (sum, count) = times.fold((0_i64, 0), |it, time| (it.0 + time, it.1 + 1));
    sum.checked_div(count)
}

/// One operation of the usual sequence.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub(super) name: String,
    shape: Option<String>,
    /// How long it takes at this place.
    mean: Option<i64>,
}

/// The sequence of operations that most steps have.
#[derive(Clone, Debug, Default)]
pub(super) struct UsualSequence {
    pub(super) operations: Vec<Operation>,
}

/// How a sequence was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Only B has it.
    Inserted,
    /// Only A has it.
    Deleted,
    /// It has another name in B, and the same shapes at the same place.
    Renamed,
    /// Both have it, at different places.
    Moved,
}

impl Change {
    /// The word for it in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inserted => "inserted",
            Self::Deleted => "deleted",
            Self::Renamed => "renamed",
            Self::Moved => "moved",
        }
    }
}

/// Operations of one name that were changed alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Edit {
    pub change: Change,
    pub name: String,
    /// The name that it had in A, if it was renamed.
    pub was: Option<String>,
    /// Operations in each step.
    pub count: u64,
    /// The place of the first one in a step, from 1: in B, or in A if it was deleted.
    pub place: u64,
    /// The operation before that, in the same recording.
    pub after: Option<String>,
    /// Whether it is certain that the recordings differ in it: all steps agree, or a test says so.
    pub certain: bool,
}

/// Two usual sequences, aligned.
#[derive(Clone, Debug, Default)]
pub(super) struct AlignedSequences {
    /// Operations that both have at the same place.
    pub(super) count: u64,
    pub(super) edits: Vec<Edit>,
    /// Of each name, at which place in B the times differ most, and by how much.
    pub(super) worst: FxHashMap<String, (i64, u64)>,
}

impl AlignedSequences {
    pub(super) fn of(a: &UsualSequence, b: &UsualSequence) -> Self {
        let names = |it: &UsualSequence| -> Vec<String> {
            it.operations.iter().map(|it| it.name.clone()).collect()
        };
        let pairs = align(&names(a), &names(b));
        let (a, b) = (&a.operations, &b.operations);
        let mut found = Self {
            count: pairs.len() as u64,
            ..Self::default()
        };
        let mut edits: Vec<(Change, usize, usize)> = Vec::new();
        let mut reached = (0, 0);
        for (one, other) in pairs.iter().copied().chain([(a.len(), b.len())]) {
            gap(a, b, (reached.0..one, reached.1..other), &mut edits);
            reached = (one + 1, other + 1);
            if let (Some(one), Some(it)) = (a.get(one), b.get(other)) {
                found.compare(one, it, other);
            }
        }
        found.edits = grouped(a, b, &moved(a, b, edits));
        found
    }

    /// Keeps where an operation differs most.
    fn compare(&mut self, one: &Operation, other: &Operation, place: usize) {
        if let (Some(before), Some(now)) = (one.mean, other.mean) {
            let difference = now - before;
            let worst = self.worst.entry(other.name.clone()).or_default();
            if difference.abs() > worst.0.abs() {
                *worst = (difference, place as u64 + 1);
            }
        }
    }
}

type Gap = (std::ops::Range<usize>, std::ops::Range<usize>);

/// The operations between two that both have. Those with the same shapes were renamed; unknown shapes
/// are not the same.
fn gap(a: &[Operation], b: &[Operation], gap: Gap, edits: &mut Vec<(Change, usize, usize)>) {
    let (deleted, mut inserted) = gap;
    for one in deleted {
        let is_same = |other: &usize| a[one].shape.is_some() && a[one].shape == b[*other].shape;
        match inserted.clone().find(is_same) {
            Some(other) => {
                edits.extend((inserted.start..other).map(|it| (Change::Inserted, 0, it)));
                edits.push((Change::Renamed, one, other));
                inserted.start = other + 1;
            }
            None => edits.push((Change::Deleted, one, 0)),
        }
    }
    edits.extend(inserted.map(|it| (Change::Inserted, 0, it)));
}

/// An operation that was deleted in one place and inserted in another was moved.
fn moved(
    a: &[Operation],
    b: &[Operation],
    edits: Vec<(Change, usize, usize)>,
) -> Vec<(Change, usize, usize)> {
    let mut deleted: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (change, one, _) in edits.iter().rev() {
        if *change == Change::Deleted {
            deleted.entry(&a[*one].name).or_default().push(*one);
        }
    }
    let mut gone: Vec<usize> = Vec::new();
    let mut found: Vec<(Change, usize, usize)> = Vec::new();
    for (change, one, other) in &edits {
        let from = (*change == Change::Inserted)
            .then(|| deleted.get_mut(b[*other].name.as_str())?.pop())
            .flatten();
        match from {
            Some(from) => {
                gone.push(from);
                found.push((Change::Moved, from, *other));
            }
            None => found.push((*change, *one, *other)),
        }
    }
    found.retain(|(change, one, _)| *change != Change::Deleted || !gone.contains(one));
    found
}

/// By name, the most often changed first.
fn grouped(a: &[Operation], b: &[Operation], edits: &[(Change, usize, usize)]) -> Vec<Edit> {
    let mut found: BTreeMap<(Change, &str, Option<&str>), Edit> = BTreeMap::new();
    for (change, one, other) in edits {
        let (row, place) = match change {
            Change::Deleted => (a, *one),
            _ => (b, *other),
        };
        let was = (*change == Change::Renamed).then(|| a[*one].name.as_str());
        let name = row[place].name.as_str();
        let edit = found.entry((*change, name, was)).or_insert_with(|| Edit {
            change: *change,
            name: name.to_owned(),
            was: was.map(str::to_owned),
            count: 0,
            place: place as u64 + 1,
            after: place.checked_sub(1).map(|it| row[it].name.clone()),
            certain: false,
        });
        edit.count += 1;
    }
    let mut found: Vec<Edit> = found.into_values().collect();
    found.sort_by_key(|it| std::cmp::Reverse(it.count));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Operations such as `MatMul:4x4@10`, with shapes and times.
    fn usual(text: &str) -> UsualSequence {
        let operations = text.split_whitespace().map(|word| {
            let (word, time) = word.split_once('@').unwrap_or((word, "1"));
            let (name, shape) = word.split_once(':').unwrap_or((word, ""));
            Operation {
                name: name.to_owned(),
                shape: (!shape.is_empty()).then(|| shape.to_owned()),
                mean: time.parse().ok(),
            }
        });
        UsualSequence {
            operations: operations.collect(),
        }
    }

    fn edits(a: &str, b: &str) -> Vec<String> {
        let aligned = AlignedSequences::of(&usual(a), &usual(b));
        let text = |it: &Edit| {
            let was = it.was.as_deref().unwrap_or("-");
            let after = it.after.as_deref().unwrap_or("-");
            let change = it.change.name();
            format!(
                "{change} {} {was} x{} at {} after {after}",
                it.name, it.count, it.place
            )
        };
        aligned.edits.iter().map(text).collect()
    }

    #[test]
    fn changes_of_a_sequence_are_named() {
        assert_eq!(edits("A B C", "A B C"), Vec::<String>::new());
        assert_eq!(
            edits("A B A B D", "A C B A C B"),
            [
                "inserted C - x2 at 2 after A",
                "deleted D - x1 at 5 after B"
            ]
        );
        assert_eq!(edits("A B C", "B C A"), ["moved A - x1 at 3 after C"]);
        assert_eq!(edits("", "A"), ["inserted A - x1 at 1 after -"]);
    }

    #[test]
    fn a_rename_has_the_same_shapes_at_the_same_place() {
        assert_eq!(edits("A M:4 B", "A N:4 B"), ["renamed N M x1 at 2 after A"]);
        assert_eq!(
            edits("A M:4 B", "A X:2 N:4 Y B"),
            [
                "inserted X - x1 at 2 after A",
                "inserted Y - x1 at 4 after N",
                "renamed N M x1 at 3 after X",
            ]
        );
        // Other shapes, or none that are known.
        for (a, b) in [("A M:4 B", "A N:2 B"), ("A M B", "A N B")] {
            assert_eq!(
                edits(a, b),
                [
                    "inserted N - x1 at 2 after A",
                    "deleted M - x1 at 2 after A"
                ]
            );
        }
    }

    #[test]
    fn the_place_that_differs_most_is_kept() {
        let aligned = AlignedSequences::of(&usual("M@10 A@1 M@10"), &usual("C M@11 A@1 M@25"));
        assert_eq!(aligned.worst["M"], (15, 4));
        assert_eq!((aligned.worst["A"], aligned.count), ((0, 0), 3));
    }
}
