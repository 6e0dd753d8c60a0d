//! The loss of a sequence of labels with unknown times (CTC), and its gradient.

use std::ops::Range;

use softacl_base::arguments::Arguments;
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::operand::Operand;
use softacl_base::status::refuse;

/// Facts about a batch before it is computed.
struct BatchFacts {
    sequences: usize,
    classes: usize,
    blank: usize,
    /// The labels' shape.
    labels: Vec<usize>,
    /// The number of times and labels of each sequence, if the host knows it.
    lengths: Option<[Vec<i64>; 2]>,
}

/// How the sequences of a batch lie.
struct SequenceBatch<'a> {
    given: &'a BatchFacts,
    scores: &'a [f64],
    labels: &'a [f64],
    /// By sequence: its number of times, and the place of its labels among all.
    moments: Vec<usize>,
    places: Vec<Range<usize>>,
}

/// One sequence: its labels with blanks between them, and around them.
struct LabelSequence<'a> {
    batch: &'a SequenceBatch<'a>,
    number: usize,
    path: Vec<usize>,
}

impl BatchFacts {
    /// The tensors are scores, labels, and the lengths if they are on the device.
    fn new(call: &mut Call, all: &Arguments<'_>, first: usize) -> Outcome<(Self, Vec<Operand>)> {
        let mut tensors = vec![
            call.input(all.input(first))?,
            call.input(all.input(first + 1))?,
        ];
        let &[_, sequences, classes] = tensors[0].shape() else {
            return refuse("the scores are not of time steps, sequences and classes");
        };
        let labels = tensors[1].shape().to_vec();
        let lengths = match &all.host[..] {
            [moments, counts] => Some([moments.integers(), counts.integers()]),
            _ => {
                tensors.push(call.input(all.input(first + 2))?);
                tensors.push(call.input(all.input(first + 3))?);
                None
            }
        };
        // The client adds a multiple of the classes, which gives the length of the longest sequence.
        let blank = all.attributes.integer("blank", 0).max(0) as usize;
        let given = Self {
            sequences,
            classes,
            blank: blank % classes.max(1),
            labels,
            lengths,
        };
        Ok((given, tensors))
    }

    /// With the elements of its tensors.
    fn batch<'a>(&'a self, tensors: &'a [Vec<f64>]) -> SequenceBatch<'a> {
        let lengths_of = |at: usize| -> Vec<usize> {
            match &self.lengths {
                Some(lengths) => lengths[at].iter().map(|it| *it as usize).collect(),
                None => tensors[2 + at].iter().map(|it| *it as usize).collect(),
            }
        };
        SequenceBatch {
            given: self,
            scores: &tensors[0],
            labels: &tensors[1],
            moments: lengths_of(0),
            places: places(&self.labels, &lengths_of(1)),
        }
    }
}

impl SequenceBatch<'_> {
    fn sequence(&self, number: usize) -> LabelSequence<'_> {
        let (blank, last) = (self.given.blank, self.given.classes - 1);
        let mut path = vec![blank];
        for label in &self.labels[self.places[number].clone()] {
            path.extend([(*label as usize).min(last), blank]);
        }
        LabelSequence {
            batch: self,
            number,
            path,
        }
    }
}

/// Places of each sequence's labels: in a separate row, or one sequence after the other.
fn places(shape: &[usize], counts: &[usize]) -> Vec<Range<usize>> {
    let mut next = 0;
    let place = |(number, count): (usize, &usize)| {
        let first = match shape {
            [_, width] => number * width,
            _ => next,
        };
        next += count;
        first..first + count
    };
    counts.iter().enumerate().map(place).collect()
}

/// The logarithm of a sum of numbers that are given by theirs.
fn sum(parts: impl Iterator<Item = f64> + Clone) -> f64 {
    let top = parts.clone().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return top;
    }
    top + parts.map(|it| (it - top).exp()).sum::<f64>().ln()
}

impl LabelSequence<'_> {
    fn place(&self, moment: usize, class: usize) -> usize {
        let given = self.batch.given;
        (moment * given.sequences + self.number) * given.classes + class
    }

    fn length(&self) -> usize {
        self.batch.moments[self.number]
    }

    /// For each time and place of the path: the sum over all ways there, from the first time or from
    /// the last.
    fn ways(&self, is_forward: bool) -> Vec<Vec<f64>> {
        let (moments, places) = (self.length(), self.path.len());
        let mut all = vec![vec![f64::NEG_INFINITY; places]; moments];
        for step in 0..moments {
            let moment = if is_forward { step } else { moments - 1 - step };
            for step_along in 0..places {
                let mirrored = |it: usize| if is_forward { it } else { places - 1 - it };
                let at = mirrored(step_along);
                // A label may follow another one without a blank, if it is not the same.
                let skips = step_along > 1 && self.path[at] != self.path[mirrored(step_along - 2)];
                let reach = match skips {
                    true => 2,
                    false => step_along.min(1),
                };
                let before = if is_forward {
                    moment.wrapping_sub(1)
                } else {
                    moment + 1
                };
                let come = match step {
                    0 if step_along < 2 => 0.0,
                    0 => f64::NEG_INFINITY,
                    _ => sum((0..=reach).map(|it| all[before][mirrored(step_along - it)])),
                };
                all[moment][at] = come + self.batch.scores[self.place(moment, self.path[at])];
            }
        }
        all
    }

    /// The logarithm of the probability of all ways together.
    fn total(&self) -> f64 {
        let ends = self.path.len().saturating_sub(2)..self.path.len();
        match self.ways(true).last() {
            Some(last) => sum(last[ends].iter().copied()),
            // Without a time no label is possible.
            None if self.path.len() == 1 => 0.0,
            None => f64::NEG_INFINITY,
        }
    }

    /// What `grad` of the loss is of each score, as if a softmax were behind the scores.
    fn gradient(&self, loss: f64, grad: f64, result: &mut [f64]) {
        let (there, back) = (self.ways(true), self.ways(false));
        for moment in 0..self.length() {
            for class in 0..self.batch.given.classes {
                let at = self.place(moment, class);
                let places = (0..self.path.len()).filter(|it| self.path[*it] == class);
                let through = sum(places.map(|it| there[moment][it] + back[moment][it]));
                let score = self.batch.scores[at];
                result[at] = grad * (score.exp() - (through + loss - score).exp());
            }
        }
    }
}

/// Inputs are scores, labels and the lengths of both. The second output is the device's memory for the
/// gradient; here it is computed again.
pub(super) fn loss(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let (given, inputs) = BatchFacts::new(call, all, 0)?;
    let out = call.output(all.output())?;
    let becomes_zero = all.attributes.integer("zero_infinity", 0) != 0;
    let operations = 3 * inputs[0].elements() as u64;
    call.dense(
        inputs,
        vec![out],
        operations,
        move |values: &[Vec<f64>]| {
            let batch = given.batch(values);
            let each = |number| match -batch.sequence(number).total() {
                loss if becomes_zero && loss.is_infinite() => 0.0,
                loss => loss,
            };
            vec![(0..given.sequences).map(each).collect()]
        },
    )
}

/// The gradient of the losses precedes the inputs of the loss.
pub(super) fn loss_gradient(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let (given, tensors) = BatchFacts::new(call, all, 1)?;
    let (grad, out) = (call.input(all.input(0))?, call.output(all.output())?);
    let becomes_zero = all.attributes.integer("zero_infinity", 0) != 0;
    let operations = 6 * tensors[0].elements() as u64;
    let inputs = [grad].into_iter().chain(tensors).collect();
    call.dense(
        inputs,
        vec![out],
        operations,
        move |values: &[Vec<f64>]| {
            let batch = given.batch(&values[1..]);
            let mut result = vec![0.0; batch.scores.len()];
            for (number, grad) in values[0].iter().enumerate() {
                let sequence = batch.sequence(number);
                let loss = -sequence.total();
                if !(becomes_zero && loss.is_infinite()) {
                    sequence.gradient(loss, *grad, &mut result);
                }
            }
            vec![result]
        },
    )
}
