//! Operators that arrange elements or make them up from their place.

use super::functions::sigmoid;
use crate::parameters::{
    In, InPlace, Input, Inputs, IntegerArray, Integers, Output, Outputs, Scalar, Written,
};
use softacl_base::call::{Call, Cost};
use softacl_base::call_wide::HostNumber;
use softacl_base::code::Outcome;
use softacl_base::dense::{dimension, dimensions};
use softacl_base::elementwise::undisturbed;
use softacl_base::formula::{Formula, float, number};
use softacl_base::number::{read, write};
use softacl_base::objects;
use softacl_base::operand::Operand;
use softacl_base::status::{refuse, require};
use softacl_base::tensor::ComplexPart;
use softacl_base::view::{View, runs};

/// Elements as they are.
fn same() -> Formula<1> {
    number(|[x]| x, |[x]| x)
}

/// How far it is, in elements without gaps, from one place of each dimension to the next.
pub(super) fn steps(shape: &[usize]) -> Vec<usize> {
    let mut steps = vec![1; shape.len()];
    for index in (1..shape.len()).rev() {
        steps[index - 1] = steps[index] * shape[index];
    }
    steps
}

/// The coordinates of an element by its number.
pub(super) fn coordinates(mut index: usize, shape: &[usize]) -> Vec<usize> {
    let mut found = vec![0; shape.len()];
    for (place, length) in found.iter_mut().zip(shape).rev() {
        *place = index % length;
        index /= length;
    }
    found
}

/// Each element of the output is the element of the input at the coordinates that a function returns
/// for each dimension and the output's coordinate; without one it is zero.
pub(super) fn arranged(
    call: &mut Call,
    x: &Operand,
    out: &Operand,
    from: impl Fn(usize, usize) -> Option<usize> + Send + Sync + 'static,
) -> Outcome {
    require(
        x.rank() == out.rank(),
        "the output has not the input's dimensions",
    )?;
    let table = table(out.shape(), &steps(x.shape()), from);
    let shape = out.shape().to_vec();
    call.moved(x, out, move |index| element(index, &shape, &table))
}

/// For each dimension and coordinate of the output, how far the element of the input lies.
type OffsetTable = Vec<Vec<Option<usize>>>;

fn table(
    shape: &[usize],
    steps: &[usize],
    from: impl Fn(usize, usize) -> Option<usize>,
) -> OffsetTable {
    let offsets = |(dimension, length): (usize, &usize)| {
        (0..*length)
            .map(|at| from(dimension, at).map(|it| it * steps[dimension]))
            .collect()
    };
    shape.iter().enumerate().map(offsets).collect()
}

fn element(mut index: usize, shape: &[usize], table: &OffsetTable) -> Option<usize> {
    let mut found = 0;
    for (length, offsets) in shape.iter().zip(table).rev() {
        found += offsets[index % length]?;
        index /= length;
    }
    Some(found)
}

/// The gradient of `arranged`: contributions to several places add up.
pub(super) fn gathered_back(
    call: &mut Call,
    grad: &Operand,
    out: &Operand,
    from: impl Fn(usize, usize) -> Option<usize> + Send + Sync + 'static,
) -> Outcome {
    let table = table(grad.shape(), &steps(out.shape()), from);
    let (shape, elements) = (grad.shape().to_vec(), out.elements());
    call.dense(
        vec![grad.clone()],
        vec![out.clone()],
        0,
        move |values: &[Vec<f64>]| {
            let mut sums = vec![0.0; elements];
            for (index, grad) in values[0].iter().enumerate() {
                if let Some(at) = element(index, &shape, &table) {
                    sums[at] += grad;
                }
            }
            vec![sums]
        },
    )
}

/// The padding in front of each dimension; the array begins with the last one.
fn in_front(padding: &[i64], rank: usize) -> Vec<i64> {
    let mut front = vec![0; rank];
    for (index, pair) in padding.chunks(2).enumerate().take(rank) {
        front[rank - 1 - index] = pair[0];
    }
    front
}

/// Where an element in the padding comes from: mirrored at the edge, or the edge itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum EdgeMode {
    Mirrored,
    /// As mirrored, with the element at the edge twice.
    Doubled,
    Repeated,
}

/// By the room in front of each dimension.
pub(super) fn edges(
    front: Vec<i64>,
    inner: &[usize],
    edge: EdgeMode,
) -> impl Fn(usize, usize) -> Option<usize> + Send + Sync + use<> {
    let lengths: Vec<i64> = inner.iter().map(|it| *it as i64).collect();
    move |dimension: usize, at: usize| {
        let last = lengths[dimension] - 1;
        let place = at as i64 - front[dimension];
        let place = match edge {
            EdgeMode::Repeated => place.clamp(0, last.max(0)),
            EdgeMode::Mirrored if place < 0 => -place,
            EdgeMode::Mirrored if place > last => 2 * last - place,
            EdgeMode::Doubled if place < 0 => -place - 1,
            EdgeMode::Doubled if place > last => 2 * last - place + 1,
            EdgeMode::Mirrored | EdgeMode::Doubled => place,
        };
        usize::try_from(place)
            .ok()
            .filter(|it| *it <= last.max(0) as usize)
    }
}

fn padded(call: &mut Call, [x, padding, out]: [usize; 3], edge: EdgeMode) -> Outcome {
    let (x, out) = (call.input(x)?, call.output(out)?);
    let front = in_front(&objects::integers(padding)?, x.rank());
    let from = edges(front, x.shape(), edge);
    arranged(call, &x, &out, from)
}

fn padded_back(call: &mut Call, [grad, x, padding, out]: [usize; 4], edge: EdgeMode) -> Outcome {
    let (grad, _, out) = (call.input(grad)?, x, call.output(out)?);
    let front = in_front(&objects::integers(padding)?, out.rank());
    let from = edges(front, out.shape(), edge);
    gathered_back(call, &grad, &out, from)
}

macro_rules! paddings {
    ($($forward:ident $backward:ident $edge:ident;)*) => { /// Elements in the opposite order along some dimensions.
pub(super) fn flipped(call: &mut Call, x: &Operand, along: &[i64], out: &Operand) -> Outcome {
    let flipped = match along {
        [] => Vec::new(),
        along => dimensions(along, x.rank())?,
    };
    let shape = x.shape().to_vec();
    arranged(call, x, out, move |dimension, at| {
        Some(match flipped.contains(&dimension) {
            true => shape[dimension] - 1 - at,
            false => at,
        })
    })
}

operators! {$(
        $forward |call, x: In, padding: IntegerArray, out: Written| padded(call, [x, padding, out], EdgeMode::$edge);
        $backward |call, grad: In, x: In, padding: IntegerArray, out: Written| {
            padded_back(call, [grad, x, padding, out], EdgeMode::$edge)
        };
    )*} };
}

paddings! {
    aclnnReflectionPad1d aclnnReflectionPad1dBackward Mirrored;
    aclnnReflectionPad2d aclnnReflectionPad2dBackward Mirrored;
    aclnnReflectionPad3d aclnnReflectionPad3dBackward Mirrored;
    aclnnReplicationPad1d aclnnReplicationPad1dBackward Repeated;
    aclnnReplicationPad2d aclnnReplicationPad2dBackward Repeated;
    aclnnReplicationPad3d aclnnReplicationPad3dBackward Repeated;
}

/// One side of a diagonal of matrices. Row by row: masks of attention are large.
pub(super) fn triangle(
    call: &mut Call,
    x: &Operand,
    diagonal: i64,
    upper: bool,
    out: &Operand,
) -> Outcome {
    let &[.., rows, columns] = x.shape() else {
        return refuse("the tensor is no matrix");
    };
    let alike = x.view.kind == out.view.kind && x.shape() == out.shape();
    require(alike, "the output is not like the input")?;
    if x.view.is_empty() {
        return Ok(());
    }
    let (x, out) = (x.bits(), out.bits());
    let cost = Cost {
        bytes: x.view.bytes() + out.view.bytes(),
        operations: 0,
    };
    call.step(cost, move |frame| {
        let to = frame.view(&out);
        let (_copies, [from]) = undisturbed([frame.view(&x)], &to);
        let last = to.shape.len() - 1;
        let (steps, kind) = ([from.strides[last], to.strides[last]], to.kind);
        let places = [&from, &to].map(|view| view.clone().without_dimension(last));
        let mut buffer = vec![0_i64; columns];
        let mut row = 0;
        each_row(&places, |[from, to]| {
            let edge =
                (row as i64 + diagonal + i64::from(!upper)).clamp(0, columns as i64) as usize;
            read(kind, from, steps[0], &mut buffer);
            match upper {
                true => buffer[..edge].fill(0),
                false => buffer[edge..].fill(0),
            }
            write(kind, to, steps[1], &buffer);
            row = (row + 1) % rows;
        });
    });
    Ok(())
}

/// The addresses of two views that have one shape, in order.
fn each_row(views: &[View; 2], mut visit: impl FnMut([usize; 2])) {
    runs(&views[0].shape, &[&views[0], &views[1]], |length, rows| {
        for index in 0..length {
            visit([rows[0].at(index), rows[1].at(index)]);
        }
    });
}

/// Parts of the output one after the other along a dimension.
pub(super) fn joined(call: &mut Call, parts: Vec<Operand>, along: usize, out: &Operand) -> Outcome {
    let mut first = 0;
    let begin = call.mark();
    for part in parts {
        // A vector without elements joins anything.
        if part.rank() != out.rank() {
            require(
                part.view.is_empty(),
                "the tensors differ in their dimensions",
            )?;
            continue;
        }
        let length = part.shape()[along];
        require(
            first + length <= out.shape()[along],
            "the output is too short",
        )?;
        let place = out.seen(out.view.part(along, first, length));
        call.each(same(), [&part], &place)?;
        first += length;
    }
    call.join(begin);
    Ok(())
}

/// A sequence of numbers, each from its place.
fn sequence(
    call: &mut Call,
    out: Written,
    from: impl Fn(usize) -> (f64, i64) + Send + Sync + 'static,
) -> Outcome {
    let out = call.output(out)?;
    let elements = out.elements();
    if out.is_float() {
        call.dense(Vec::new(), vec![out], 0, move |_: &[Vec<f64>]| {
            vec![(0..elements).map(|index| from(index).0).collect()]
        })
    } else {
        call.dense(Vec::new(), vec![out], 0, move |_: &[Vec<i64>]| {
            vec![(0..elements).map(|index| from(index).1).collect()]
        })
    }
}

/// The channels of each group come in turn.
pub(super) fn shuffled(call: &mut Call, x: &Operand, groups: i64, out: &Operand) -> Outcome {
    require(x.rank() >= 3 && groups > 0, "the input has no channels")?;
    let (groups, channels) = (groups as usize, x.shape()[1]);
    let each = (channels / groups).max(1);
    arranged(call, x, out, move |dimension, at| {
        Some(match dimension {
            1 => at % groups * each + at / groups,
            _ => at,
        })
    })
}

/// From a start by steps.
fn counted(call: &mut Call, [start, step]: [Scalar; 2], out: Written) -> Outcome {
    let start = HostNumber::from(call.scalar(start)?);
    let step = HostNumber::from(call.scalar(step)?);
    let fractions = start.is_float || step.is_float;
    sequence(call, out, move |index| {
        let float = start.float + step.float * index as f64;
        let integer = match fractions {
            true => float as i64,
            false => start
                .integer
                .wrapping_add(step.integer.wrapping_mul(index as i64)),
        };
        (float, integer)
    })
}

/// Two halves along a dimension.
pub(super) fn halves(x: &Operand, along: i64) -> Outcome<[Operand; 2]> {
    let along = dimension(along, x.rank())?;
    require(
        x.rank() > 0 && x.shape()[along].is_multiple_of(2),
        "the dimension has no halves",
    )?;
    let half = x.shape()[along] / 2;
    Ok([0, half].map(|first| x.seen(x.view.part(along, first, half))))
}

/// Elements that move on along some dimensions, and from the end to the begin. Without dimensions, all are one row.
pub(super) fn rolled(
    call: &mut Call,
    x: &Operand,
    [shifts, along]: [&[i64]; 2],
    out: &Operand,
) -> Outcome {
    if along.is_empty() {
        let count = x.elements() as i64;
        let shift = shifts.first().copied().unwrap_or(0);
        return call.moved(x, out, move |index| {
            Some((index as i64 - shift).rem_euclid(count) as usize)
        });
    }
    let mut by = vec![0; x.rank()];
    for (shift, given) in shifts.iter().zip(along) {
        by[dimension(*given, x.rank())?] += shift;
    }
    let shape = x.shape().to_vec();
    arranged(call, x, out, move |dimension, at| {
        Some((at as i64 - by[dimension]).rem_euclid(shape[dimension] as i64) as usize)
    })
}

/// The gradient of one half times the sigmoid of the other.
pub(super) fn halves_back(
    call: &mut Call,
    grad: &Operand,
    x: &Operand,
    along: i64,
    out: &Operand,
) -> Outcome {
    let ([a, b], [to_a, to_b]) = (halves(x, along)?, halves(out, along)?);
    let begin = call.mark();
    call.each(float(|[grad, b]| grad * sigmoid(b)), [grad, &b], &to_a)?;
    let slope = float(|[grad, a, b]| grad * a * sigmoid(b) * (1.0 - sigmoid(b)));
    call.each(slope, [grad, &a, &b], &to_b)?;
    call.join(begin);
    Ok(())
}

/// The dimensions in another order.
pub(super) fn turned(call: &mut Call, x: &Operand, given: &[i64], out: &Operand) -> Outcome {
    let mut order = Vec::with_capacity(given.len());
    for number in given {
        order.push(dimension(*number, x.rank())?);
    }
    let mut sorted = order.clone();
    sorted.sort_unstable();
    require(
        sorted.iter().copied().eq(0..x.rank()),
        "the order does not name each dimension once",
    )?;
    call.each(same(), [&x.seen(x.view.permuted(&order))], out)
}

/// Copies a tensor into a larger one, or a part of it where the room in front is negative.
pub(super) fn placed(call: &mut Call, x: &Operand, front: &[i64], out: &Operand) -> Outcome {
    let (mut from, mut to) = (x.view.clone(), out.view.clone());
    for (at, front) in front.iter().enumerate() {
        let skipped = (-front).max(0) as usize;
        let first = (*front).max(0) as usize;
        let room = to.shape[at].saturating_sub(first);
        let length = from.shape[at].saturating_sub(skipped).min(room);
        from = from.part(at, skipped.min(from.shape[at]), length);
        to = to.part(at, first.min(to.shape[at]), length);
    }
    call.each(same(), [&x.seen(from)], &out.seen(to))
}

operators! {
    aclnnExpand |call, x: Input, _size: IntegerArray, out: Output| call.each(same(), [&x], &out);
    aclnnPermute |call, x: Input, order: Integers, out: Output| turned(call, &x, &order, &out);
    aclnnCat |call, parts: Inputs, along: i64, out: Output| {
        let along = dimension(along, out.rank())?;
        joined(call, parts, along, &out)
    };
    aclnnStack |call, parts: Inputs, along: i64, out: Output| {
        let along = dimension(along, out.rank())?;
        let wide = parts.iter().map(|it| it.seen(it.view.clone().with_dimension(along))).collect();
        joined(call, wide, along, &out)
    };
    aclnnSplitWithSize |call, x: Input, lengths: Integers, along: i64, out: Outputs| {
        let along = dimension(along, x.rank())?;
        let mut first = 0;
        let begin = call.mark();
        for (length, out) in lengths.iter().zip(&out) {
            let part = x.seen(x.view.part(along, first, *length as usize));
            call.each(same(), [&part], out)?;
            first += *length as usize;
        }
        call.join(begin);
        Ok(())
    };
    aclnnConstantPadNd |call, x: Input, padding: IntegerArray, value: Scalar, out: Output| {
        let value = call.scalar_as_computed(value, &[&out])?;
        let front = in_front(&objects::integers(padding)?, x.rank());
        let begin = call.mark();
        call.each(number(move |[]| value.float, move |[]| value.integer), [], &out)?;
        placed(call, &x, &front, &out)?;
        call.join(begin);
        Ok(())
    };
    aclnnFlip |call, x: Input, along: Integers, out: Output| flipped(call, &x, &along, &out);
    aclnnRoll |call, x: Input, shifts: Integers, along: Integers, out: Output| {
        rolled(call, &x, [&shifts, &along], &out)
    };
    aclnnRepeat |call, x: Input, _times: IntegerArray, out: Output| {
        let mut x = x;
        while x.rank() < out.rank() {
            x.view = x.view.with_dimension(0);
        }
        let shape = x.shape().to_vec();
        arranged(call, &x, &out, move |dimension, at| Some(at % shape[dimension].max(1)))
    };
    aclnnTril aclnnInplaceTril |call, x: Input, diagonal: i64 => out| triangle(call, &x, diagonal, false, &out);
    aclnnTriu aclnnInplaceTriu |call, x: Input, diagonal: i64 => out| triangle(call, &x, diagonal, true, &out);


    aclnnEye |call, _rows: i64, columns: i64, out: Written| {
        let columns = columns.max(1) as usize;
        let is_real = call.part != Some(ComplexPart::Imaginary);
        sequence(call, out, move |index| {
            let on = is_real && index / columns == index % columns;
            (f64::from(u8::from(on)), i64::from(on))
        })
    };
    aclnnArange |call, start: Scalar, _end: Scalar, step: Scalar, out: Written| counted(call, [start, step], out);
    aclnnRange |call, start: Scalar, _end: Scalar, step: Scalar, out: Written| counted(call, [start, step], out);
    aclnnLinspace |call, start: Scalar, end: Scalar, count: i64, out: Written| {
        let (start, end) = (HostNumber::from(call.scalar(start)?).float, HostNumber::from(call.scalar(end)?).float);
        let step = (end - start) / (count - 1).max(1) as f64;
        let half = count as usize / 2;
        sequence(call, out, move |index| {
            // From the nearer end, so that both are exact.
            let value = match index < half || index == 0 {
                true => start + step * index as f64,
                false => end - step * (count as usize - 1 - index) as f64,
            };
            (value, value as i64)
        })
    };
    aclnnLogSpace |call, start: Scalar, end: Scalar, count: i64, base: f64, out: Written| {
        let (start, end) = (HostNumber::from(call.scalar(start)?).float, HostNumber::from(call.scalar(end)?).float);
        let step = (end - start) / (count - 1).max(1) as f64;
        sequence(call, out, move |index| {
            let value = base.powf(start + step * index as f64);
            (value, value as i64)
        })
    };
    // The matrix with a vector on a diagonal, or the diagonal of a matrix.
    aclnnDiag |call, x: Input, diagonal: i64, out: Output| {
        let (down, across) = (diagonal.min(0).unsigned_abs() as usize, diagonal.max(0) as usize);
        let (rank, shape) = (x.rank(), if x.rank() == 1 { out.shape() } else { x.shape() });
        let &[rows, columns] = shape else {
            return refuse("a tensor is no matrix");
        };
        let length = rows.saturating_sub(down).min(columns.saturating_sub(across));
        let elements = out.elements();
        let vector = if rank == 1 { x.elements() } else { elements };
        require(vector == length, "the vector is not as long as the diagonal")?;
        call.dense(vec![x.bits()], vec![out.bits()], 0, move |values: &[Vec<i64>]| {
            let mut result = vec![0; elements];
            for number in 0..length {
                let place = (number + down) * columns + number + across;
                match rank {
                    1 => result[place] = values[0][number],
                    _ => result[number] = values[0][place],
                }
            }
            vec![result]
        })
    };
    aclnnInplaceFillDiagonal |call, x: InPlace, value: Scalar, wrap: bool| {
        let value = call.scalar_as_computed(value, &[&x])?;
        let shape = x.shape().to_vec();
        let step: usize = steps(&shape).iter().sum();
        let columns = shape.last().copied().unwrap_or(1);
        // Without wrapping a matrix ends with its last square.
        let end = if wrap || shape.len() != 2 { x.elements() } else { columns * columns };
        let diagonal = move |index: usize| index < end && index.is_multiple_of(step.max(1));
        if x.is_float() {
            return call.dense(vec![x.clone()], vec![x], 0, move |values: &[Vec<f64>]| {
                let each = values[0].iter().enumerate();
                vec![each.map(|(index, it)| if diagonal(index) { value.float } else { *it }).collect()]
            });
        }
        call.dense(vec![x.clone()], vec![x], 0, move |values: &[Vec<i64>]| {
            let each = values[0].iter().enumerate();
            vec![each.map(|(index, it)| if diagonal(index) { value.integer } else { *it }).collect()]
        })
    };
    aclnnChannelShuffle |call, x: Input, groups: i64, out: Output| shuffled(call, &x, groups, &out);
    aclnnGlu |call, x: Input, along: i64, out: Output| {
        let [a, b] = halves(&x, along)?;
        call.each(float(|[a, b]| a * sigmoid(b)), [&a, &b], &out)
    };
    aclnnGluBackward |call, grad: Input, x: Input, along: i64, out: Output| {
        halves_back(call, &grad, &x, along, &out)
    };
    aclnnSwiGlu |call, x: Input, along: i64, out: Output| {
        let [a, b] = halves(&x, along)?;
        call.each(float(|[a, b]| a * sigmoid(a) * b), [&a, &b], &out)
    };
    aclnnSwiGluGrad |call, grad: Input, x: Input, along: i64, out: Output| {
        let ([a, b], [to_a, to_b]) = (halves(&x, along)?, halves(&out, along)?);
        let begin = call.mark();
        call.each(float(|[grad, a, b]| {
            let share = sigmoid(a);
            grad * b * share * (1.0 + a * (1.0 - share))
        }), [&grad, &a, &b], &to_a)?;
        call.each(float(|[grad, a]| grad * a * sigmoid(a)), [&grad, &a], &to_b)?;
        call.join(begin);
        Ok(())
    };
    aclnnUnfoldGrad |call, grad: Input, _shape: IntegerArray, along: i64, size: i64, step: i64, out: Output| {
        let along = dimension(along, out.rank())?;
        let (step, elements) = (step as usize, out.elements());
        let distances = steps(out.shape());
        let shape = grad.shape().to_vec();
        let _ = size;
        call.dense(vec![grad], vec![out], 0, move |values: &[Vec<f64>]| {
            let mut sums = vec![0.0; elements];
            for (index, grad) in values[0].iter().enumerate() {
                let at = coordinates(index, &shape);
                // The last coordinate counts within a window.
                let (within, place) = at.split_last().map_or((0, &[][..]), |(within, place)| (*within, place));
                let first: usize = place.iter().enumerate().map(|(dimension, at)| {
                    let at = if dimension == along { at * step } else { *at };
                    at * distances.get(dimension).copied().unwrap_or(0)
                }).sum();
                sums[first + within * distances.get(along).copied().unwrap_or(1)] += grad;
            }
            vec![sums]
        })
    };
}
