//! Rotations of pairs of elements by their position, with gradients.

use super::shapes::{coordinates, steps};
use crate::parameters::{InPlace, Input, Optional, Output, Text, Wanted};
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::operand::Operand;
use softacl_base::status::{refuse, require};

/// Which elements of a row are a pair.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RotaryPairs {
    /// An element of the first half and the one at the same place in the second half.
    Halves,
    Neighbours,
}

impl RotaryPairs {
    fn of_mode(mode: i64) -> Outcome<Self> {
        match mode {
            0 => Ok(Self::Halves),
            1 => Ok(Self::Neighbours),
            _ => refuse("softacl rotates halves (0) and neighbours (1) only"),
        }
    }

    fn of_text(text: &Text) -> Outcome<Self> {
        match text.optional().as_deref() {
            None | Some("" | "half") => Ok(Self::Halves),
            Some("interleave") => Ok(Self::Neighbours),
            _ => refuse("softacl has the modes half and interleave only"),
        }
    }

    /// The other element of a pair, and the sign with which it becomes this one, for a quarter of a turn.
    fn other(self, at: usize, length: usize) -> (usize, f64) {
        match self {
            Self::Halves if at < length / 2 => (at + length / 2, -1.0),
            Self::Halves => (at - length / 2, 1.0),
            Self::Neighbours if at.is_multiple_of(2) => (at + 1, -1.0),
            Self::Neighbours => (at - 1, 1.0),
        }
    }

    /// Rows after a quarter of a turn.
    fn turned(self, values: &[f64], length: usize) -> Vec<f64> {
        let row = |row: &[f64]| -> Vec<f64> {
            let each = (0..length).map(|at| self.other(at, length));
            each.map(|(other, sign)| sign * row[other]).collect()
        };
        values.chunks(length).flat_map(row).collect()
    }
}

/// The length of the rows, which have pairs.
fn row_length(x: &Operand) -> Outcome<usize> {
    match x.shape().last() {
        Some(length) if *length > 0 && length.is_multiple_of(2) => Ok(*length),
        _ => refuse("rows have no pairs"),
    }
}

/// The cosines or sines for each element.
fn spread(angles: &Operand, x: &Operand) -> Outcome<Operand> {
    match angles.view.clone().broadcast(x.shape()) {
        Some(view) => Ok(angles.seen(view)),
        None => refuse("cosines and sines do not broadcast to the rotated tensor"),
    }
}

fn rotated(
    call: &mut Call,
    [x, cosine, sine]: [&Operand; 3],
    pairs: RotaryPairs,
    out: Operand,
) -> Outcome {
    let length = row_length(x)?;
    require(
        out.shape() == x.shape(),
        "the output's shape is not the input's",
    )?;
    let inputs = vec![x.clone(), spread(cosine, x)?, spread(sine, x)?];
    let operations = 3 * x.elements() as u64;
    call.dense(
        inputs,
        vec![out],
        operations,
        move |values: &[Vec<f64>]| {
            let turned = pairs.turned(&values[0], length);
            let each = values[0]
                .iter()
                .zip(&turned)
                .zip(values[1].iter().zip(&values[2]));
            vec![
                each.map(|((x, turned), (cosine, sine))| x * cosine + turned * sine)
                    .collect(),
            ]
        },
    )
}

/// Sums up over the dimensions in which a smaller tensor was repeated.
fn summed(values: impl Iterator<Item = f64>, shape: &[usize], smaller: &[usize]) -> Vec<f64> {
    let mut sums = vec![0.0; smaller.iter().product()];
    let distances = steps(smaller);
    let first = shape.len() - smaller.len();
    for (number, value) in values.enumerate() {
        let at = coordinates(number, shape);
        let places = at[first..].iter().zip(smaller).zip(&distances);
        let place: usize = places
            .map(|((at, length), distance)| if *length == 1 { 0 } else { at * distance })
            .sum();
        sums[place] += value;
    }
    sums
}

fn gradients(
    call: &mut Call,
    [grad, cosine, sine]: [Operand; 3],
    x: Option<Operand>,
    pairs: RotaryPairs,
    [of_x, of_cosine, of_sine]: [Option<Operand>; 3],
) -> Outcome {
    let length = row_length(&grad)?;
    let (shape, smaller) = (grad.shape().to_vec(), cosine.shape().to_vec());
    let mut inputs = vec![grad.clone(), spread(&cosine, &grad)?, spread(&sine, &grad)?];
    let has_x = x.is_some();
    inputs.extend(x);
    let outputs = match has_x {
        true => vec![of_x, of_cosine, of_sine],
        false => vec![of_x, None, None],
    };
    let operations = 8 * grad.elements() as u64;
    super::norms::partly(
        call,
        inputs,
        outputs,
        operations,
        move |values: &[Vec<f64>]| {
            let [grads, cosines, sines, rest @ ..] = values else {
                return Vec::new();
            };
            let weighed: Vec<f64> = grads
                .iter()
                .zip(sines)
                .map(|(grad, sine)| grad * sine)
                .collect();
            let back = pairs.turned(&weighed, length);
            let straight = grads
                .iter()
                .zip(cosines)
                .map(|(grad, cosine)| grad * cosine);
            let mut results = vec![straight.zip(&back).map(|(a, b)| a - b).collect()];
            for x in rest {
                let by =
                    |x: &[f64]| summed(grads.iter().zip(x).map(|(a, b)| a * b), &shape, &smaller);
                results.push(by(x));
                results.push(by(&pairs.turned(x, length)));
            }
            results.resize(3, Vec::new());
            results
        },
    )
}

operators! {
    aclnnRotaryPositionEmbedding |call, x: Input, cosine: Input, sine: Input, mode: i64, out: Output| {
        rotated(call, [&x, &cosine, &sine], RotaryPairs::of_mode(mode)?, out)
    };
    aclnnRotaryPositionEmbeddingGrad |call, grad: Input, cosine: Input, sine: Input, x: Optional, mode: i64, of_x: Output, of_cosine: Wanted, of_sine: Wanted| {
        let outputs = [Some(of_x), of_cosine, of_sine];
        gradients(call, [grad, cosine, sine], x, RotaryPairs::of_mode(mode)?, outputs)
    };
    aclnnApplyRotaryPosEmb |call, query: InPlace, key: InPlace, cosine: Input, sine: Input, _layout: i64| {
        rotated(call, [&query, &cosine, &sine], RotaryPairs::Halves, query.clone())?;
        rotated(call, [&key, &cosine, &sine], RotaryPairs::Halves, key.clone())
    };
    aclnnApplyRotaryPosEmbV2 |call, query: InPlace, key: InPlace, cosine: Input, sine: Input, _layout: i64, mode: Text| {
        let pairs = RotaryPairs::of_text(&mode)?;
        rotated(call, [&query, &cosine, &sine], pairs, query.clone())?;
        rotated(call, [&key, &cosine, &sine], pairs, key.clone())
    };
}
