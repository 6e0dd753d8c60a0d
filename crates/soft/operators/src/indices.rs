//! Operators that pick elements, or change them, where indices say.

mod advanced;
mod scatter;

use super::shapes::{coordinates, steps};
use crate::parameters::{In, InPlace, Input, IntegerArray, Output, Scalar, TensorList, Written};
pub(super) use advanced::indexed_by;
use advanced::{indexed, put};
pub(super) use scatter::segments;
use scatter::{
    Parts, ScatterSource, combine, parts_changed, rows_changed, scatter, scatter_value, scattered,
};
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::dense::{count, dimension};
use softacl_base::formula::number;
use softacl_base::objects;
use softacl_base::operand::Operand;
use softacl_base::status::require;
use softacl_base::trouble;

/// As `aclnnScatter`; the output is in order, and may have another shape with the same number of
/// elements.
pub(super) fn scatter_elements(
    call: &mut Call,
    [x, index, source]: [usize; 3],
    along: i64,
    out: usize,
) -> Outcome {
    let (x, index, source) = (call.input(x)?, call.input(index)?, call.input(source)?);
    let out = call.output(out)?.shaped(x.shape())?;
    scattered(
        call,
        &x,
        along,
        &index,
        ScatterSource::Tensor(source),
        0,
        &out,
    )
}

/// The place that an index names, counted from the end if it is negative. Without one, the task has failed.
fn place(index: i64, length: usize) -> Option<usize> {
    let counted = if index < 0 {
        index + length as i64
    } else {
        index
    };
    let place = usize::try_from(counted).ok().filter(|it| *it < length);
    if place.is_none() {
        trouble::outside(index, length);
    }
    place
}

/// Two lengths around a dimension: of those before it, and of those behind it.
fn around(shape: &[usize], along: usize) -> [usize; 2] {
    let behind = shape.get(along + 1..).unwrap_or(&[]);
    [count(&shape[..along.min(shape.len())]), count(behind)]
}

/// Picks rows along a dimension, by an index that counts them.
pub(super) fn rows(
    call: &mut Call,
    x: &Operand,
    along: i64,
    index: &Operand,
    out: &Operand,
) -> Outcome {
    let along = dimension(along, x.rank())?;
    let length = x.shape().get(along).copied().unwrap_or(1);
    let [_, inner] = around(x.shape(), along);
    let picked = index.elements().max(1);
    require(
        x.view.kind == out.view.kind,
        "the data types are not the same",
    )?;
    let elements = out.elements();
    call.dense(
        vec![x.bits(), index.clone()],
        vec![out.bits()],
        0,
        move |values: &[Vec<i64>]| {
            let each = |at: usize| {
                let (row, within) = (at / inner, at % inner);
                let row = row / picked * length + place(values[1][row % picked], length)?;
                values[0].get(row * inner + within).copied()
            };
            vec![(0..elements).map(|at| each(at).unwrap_or(0)).collect()]
        },
    )
}

/// Coordinates of nonzero elements, a row each; transposed, a column each.
fn nonzero(call: &mut Call, [x, out]: [usize; 2], transposed: bool) -> Outcome {
    let (x, found) = (call.input(x)?, call.output(out)?);
    let (shape, tensor) = (x.shape().to_vec(), objects::tensor(out)?);
    call.found(vec![x], found, tensor, move |values: &[Vec<f64>]| {
        let places: Vec<Vec<usize>> = values[0]
            .iter()
            .enumerate()
            .filter(|(_, it)| **it != 0.0)
            .map(|(index, _)| coordinates(index, &shape))
            .collect();
        let rank = shape.len();
        let number = places.len();
        match transposed {
            false => (
                places.concat().iter().map(|it| *it as f64).collect(),
                vec![number, rank],
            ),
            true => {
                let column = |dimension: usize| places.iter().map(move |it| it[dimension] as f64);
                ((0..rank).flat_map(column).collect(), vec![rank, number])
            }
        }
    })
}

/// Picks elements along a dimension, by an index for each element of the output.
pub(super) fn gathered(
    call: &mut Call,
    x: &Operand,
    along: i64,
    index: Operand,
    out: &Operand,
) -> Outcome {
    let along = dimension(along, x.rank())?;
    let (shape, length) = (
        index.shape().to_vec(),
        x.shape().get(along).copied().unwrap_or(1),
    );
    let (distances, elements) = (steps(x.shape()), out.elements());
    let inputs = vec![x.bits(), index];
    call.dense(inputs, vec![out.bits()], 0, move |values: &[Vec<i64>]| {
        let distance = |dimension: usize| distances.get(dimension).copied().unwrap_or(0);
        let each = |number: usize| {
            let place = place(values[1][number], length)?;
            let mut element = 0;
            for (dimension, at) in coordinates(number, &shape).into_iter().enumerate() {
                element += distance(dimension) * if dimension == along { place } else { at };
            }
            values[0].get(element).copied()
        };
        vec![
            (0..elements)
                .map(|number| each(number).unwrap_or(0))
                .collect(),
        ]
    })
}

/// Picks parts by coordinates: the last dimension of the index has those of a part in the first dimensions of `x`.
pub(super) fn parts(call: &mut Call, x: &Operand, index: Operand, out: &Operand) -> Outcome {
    let parts = Parts::new(x, &index)?;
    require(
        x.view.kind == out.view.kind && out.elements() == parts.count * parts.length,
        "the output's shape is not that of the result",
    )?;
    let elements = out.elements();
    call.dense(
        vec![x.bits(), index],
        vec![out.bits()],
        0,
        move |values: &[Vec<i64>]| {
            let each = |number: usize| {
                let (part, within) = (number / parts.length, number % parts.length);
                let begin = parts.begin(|dimension| values[1][part * parts.depth + dimension])?;
                values[0].get(begin + within).copied()
            };
            vec![(0..elements).map(|it| each(it).unwrap_or(0)).collect()]
        },
    )
}

/// Changes parts at coordinates, as `parts` picks them: 0 replaces an element, 1 is added, 2 multiplies, 3 and 4 keep the larger
/// and the smaller one, and 5 is taken away.
pub(super) fn change_parts(
    call: &mut Call,
    x: &Operand,
    [index, source]: [Operand; 2],
    reduction: i64,
    out: &Operand,
) -> Outcome {
    parts_changed(call, x, &index, source, reduction, out)
}

/// Changes rows of the first dimension in the same ways.
pub(super) fn change_rows(
    call: &mut Call,
    x: &Operand,
    [index, source]: [Operand; 2],
    [along, reduction]: [i64; 2],
    out: &Operand,
) -> Outcome {
    let source = ScatterSource::Tensor(source);
    rows_changed(call, x, along, &index, source, reduction, out)
}

/// One number where the class of an element is, and another one where it is not.
pub(super) fn one_hot(
    call: &mut Call,
    [x, on, off]: [Operand; 3],
    classes: usize,
    along: usize,
    out: Operand,
) -> Outcome {
    let [_, inner] = around(out.shape(), along);
    let elements = out.elements();
    call.dense(
        vec![x, on, off],
        vec![out],
        0,
        move |values: &[Vec<i64>]| {
            let each = |at: usize| {
                let (row, class) = (at / inner, at / inner % classes);
                let number = row / classes * inner + at % inner;
                match values[0][number] == class as i64 {
                    true => values[1][0],
                    false => values[2][0],
                }
            };
            vec![(0..elements).map(each).collect()]
        },
    )
}

operators! {
    aclnnIndexSelect |call, x: Input, along: i64, index: Input, out: Output| {
        rows(call, &x, along, &index, &out)
    };
    aclnnGatherV3 |call, x: Input, along: i64, index: Input, _batch: i64, _mode: i64, out: Output| {
        rows(call, &x, along, &index, &out)
    };
    aclnnEmbedding |call, x: Input, index: Input, out: Output| rows(call, &x, 0, &index, &out);
    aclnnEmbeddingDenseBackward |call, grad: Input, index: Input, rows: u64, padding: u64, by_frequency: bool, out: Output| {
        let length = out.shape().last().copied().unwrap_or(1);
        let rows = rows as usize;
        call.dense(vec![grad, index], vec![out], 0, move |values: &[Vec<f64>]| {
            let mut sums = vec![0.0; rows * length];
            let mut uses = vec![0.0; rows];
            let at = |index: &f64| place(*index as i64, rows).filter(|row| *row as u64 != padding);
            values[1].iter().filter_map(at).for_each(|row| uses[row] += 1.0);
            for (grad, index) in values[0].chunks(length.max(1)).zip(&values[1]) {
                if let Some(row) = at(index) {
                    let scale = if by_frequency { 1.0 / uses[row] } else { 1.0 };
                    let sums = &mut sums[row * length..][..length];
                    sums.iter_mut().zip(grad).for_each(|(sum, grad)| *sum += grad * scale);
                }
            }
            vec![sums]
        })
    };
    aclnnGather |call, x: Input, along: i64, index: Input, out: Output| {
        gathered(call, &x, along, index, &out)
    };
    // The index counts rows, or has the coordinates of parts: the values have one dimension more in the first case.
    aclnnTfScatterAdd |call, x: InPlace, index: Input, source: Input| {
        match source.rank() + 1 == x.rank() + index.rank() {
            true => change_rows(call, &x, [index, source], [0, 1], &x),
            false => change_parts(call, &x, [index, source], 1, &x),
        }
    };
    aclnnScatter |call, x: In, along: i64, index: In, source: In, reduction: i64, out: Written| {
        scatter(call, [x, index, source], along, reduction, Some(out))
    };
    aclnnInplaceScatter |call, x: Written, along: i64, index: In, source: In, reduction: i64| {
        scatter(call, [x, index, source], along, reduction, None)
    };
    aclnnScatterAdd |call, x: In, along: i64, index: In, source: In, out: Written| {
        scatter(call, [x, index, source], along, 1, Some(out))
    };
    aclnnScatterValue |call, x: In, along: i64, index: In, value: Scalar, reduction: i64, out: Written| {
        scatter_value(call, [x, index, value], along, reduction, Some(out))
    };
    aclnnInplaceScatterValue |call, x: Written, along: i64, index: In, value: Scalar, reduction: i64| {
        scatter_value(call, [x, index, value], along, reduction, None)
    };
    aclnnIndexAdd |call, x: Input, along: i64, index: Input, source: Input, alpha: Scalar, out: Output| {
        let alpha = call.scalar_as_computed(alpha, &[&x])?;
        let scaled = call.temporary(x.view.kind.wide(), source.shape());
        let formula = number(move |[x]| x * alpha.float, move |[x]: [i64; 1]| x.wrapping_mul(alpha.integer));
        call.each(formula, [&source], &scaled)?;
        rows_changed(call, &x, along, &index, ScatterSource::Tensor(scaled), 1, &out)
    };
    aclnnIndexCopy aclnnInplaceIndexCopy |call, x: Input, along: i64, index: Input, source: Input => out| {
        rows_changed(call, &x, along, &index, ScatterSource::Tensor(source), 0, &out)
    };
    aclnnIndexFillTensor aclnnInplaceIndexFillTensor |call, x: Input, along: i64, index: IntegerArray, value: Scalar => out| {
        filled(call, &x, along, index, value, &out)
    };
    aclnnIndexFill aclnnInplaceIndexFill |call, x: Input, along: i64, index: Input, value: Scalar => out| {
        let value = ScatterSource::Number(call.scalar_as_computed(value, &[&x])?);
        rows_changed(call, &x, along, &index, value, 0, &out)
    };
    aclnnIndex |call, x: In, indices: TensorList, out: Written| indexed(call, [x, indices, out]);
    aclnnIndexPutImpl |call, x: Written, indices: TensorList, values: In, accumulate: bool, _unsafe: bool| {
        put(call, [x, indices, values], accumulate)
    };
    aclnnTake |call, x: Input, index: Input, out: Output| {
        let elements = out.elements();
        call.dense(vec![x.bits(), index], vec![out.bits()], 0, move |values: &[Vec<i64>]| {
            let each = |number: usize| place(values[1][number], values[0].len()).map(|at| values[0][at]);
            vec![(0..elements).map(|number| each(number).unwrap_or(0)).collect()]
        })
    };
    aclnnInplacePut |call, x: InPlace, index: Input, source: Input, accumulate: bool| {
        let length = x.elements();
        combine(call, &x, &index, ScatterSource::Tensor(source), i64::from(accumulate), &x, move |indices, number| {
            place(indices[number] as i64, length)
        })
    };
    aclnnMaskedSelect |call, x: Input, mask: Input, out: Written| {
        let found = call.output(out)?;
        let Some(shape) = softacl_base::view::broadcast_shape(x.shape(), mask.shape()) else {
            return softacl_base::status::refuse("the mask does not broadcast");
        };
        let stretched = |it: &Operand| it.view.clone().broadcast(&shape).map(|view| it.seen(view));
        let (Some(x), Some(mask)) = (stretched(&x.bits()), stretched(&mask)) else {
            return Ok(());
        };
        let mut bits = found.clone();
        bits.view.kind = bits.view.kind.bits();
        let tensor = objects::tensor(out)?;
        call.found(vec![x, mask], bits, tensor, |values: &[Vec<i64>]| {
            let both = values[0].iter().zip(&values[1]);
            let kept: Vec<i64> = both.filter(|(_, mask)| **mask != 0).map(|(x, _)| *x).collect();
            let number = kept.len();
            (kept, vec![number])
        })
    };
    aclnnInplaceMaskedScatter |call, x: InPlace, mask: Input, source: Input| {
        let Some(view) = mask.view.clone().broadcast(x.shape()) else {
            return softacl_base::status::refuse("the mask does not broadcast");
        };
        let mask = mask.seen(view);
        call.dense(vec![x.bits(), mask, source.bits()], vec![x.bits()], 0, |values: &[Vec<i64>]| {
            let mut next = values[2].iter();
            let each = values[0].iter().zip(&values[1]);
            vec![each.map(|(x, mask)| if *mask != 0 { next.next().copied().unwrap_or(*x) } else { *x }).collect()]
        })
    };
    aclnnNonzero |call, x: In, out: Written| nonzero(call, [x, out], false);
    aclnnNonzeroV2 |call, x: In, out: Written| nonzero(call, [x, out], true);
    aclnnOneHot |call, x: Input, classes: i64, on: Input, off: Input, axis: i64, out: Output| {
        let along = if axis < 0 { out.rank() - 1 } else { axis as usize };
        one_hot(call, [x, on, off], classes.max(0) as usize, along, out)
    };
    aclnnRepeatInterleave |call, x: Input, times: Input, _size: i64, out: Output| {
        let flat = flattened(&x);
        interleaved(call, x, [1, flat, 1], RepeatCounts::Each(times), out)
    };
    aclnnRepeatInterleaveWithDim |call, x: Input, times: Input, along: i64, _size: i64, out: Output| {
        let shape = split(&x, along)?;
        interleaved(call, x, shape, RepeatCounts::Each(times), out)
    };
    aclnnRepeatInterleaveGrad |call, grad: Input, times: Input, along: i64, out: Output| {
        let ([outer, rows, inner], elements) = (split(&out, along)?, out.elements());
        call.dense(vec![grad, times], vec![out], 0, move |values: &[Vec<f64>]| {
            let mut parts = values[0].chunks(inner.max(1));
            let mut sums = vec![0.0; elements];
            for place in 0..outer * rows {
                let row = if values[1].len() == 1 { 0 } else { place % rows };
                for part in parts.by_ref().take(values[1][row].max(0.0) as usize) {
                    let sums = &mut sums[place * inner..][..inner];
                    sums.iter_mut().zip(part).for_each(|(sum, grad)| *sum += grad);
                }
            }
            vec![sums]
        })
    };
    aclnnRepeatInterleaveInt |call, x: Input, times: i64, _size: i64, out: Output| {
        let flat = flattened(&x);
        interleaved(call, x, [1, flat, 1], RepeatCounts::All(times), out)
    };
    aclnnRepeatInterleaveIntWithDim |call, x: Input, times: i64, along: i64, _size: i64, out: Output| {
        let shape = split(&x, along)?;
        interleaved(call, x, shape, RepeatCounts::All(times), out)
    };
}

fn filled(
    call: &mut Call,
    x: &Operand,
    along: i64,
    index: IntegerArray,
    value: Scalar,
    out: &Operand,
) -> Outcome {
    let along = dimension(along, x.rank())?;
    let length = x.shape().get(along).copied().unwrap_or(1);
    let places: Vec<usize> = objects::integers(index)?
        .iter()
        .filter_map(|it| place(*it, length))
        .collect();
    let value = call.scalar_as_computed(value, &[x])?;
    let begin = call.mark();
    call.each(number(|[x]| x, |[x]| x), [x], out)?;
    for at in places {
        let row = match out.rank() {
            0 => out.clone(),
            _ => out.seen(out.view.part(along, at, 1)),
        };
        call.each(
            number(move |[]| value.float, move |[]| value.integer),
            [],
            &row,
        )?;
    }
    call.join(begin);
    Ok(())
}

enum RepeatCounts {
    All(i64),
    Each(Operand),
}

fn flattened(x: &Operand) -> usize {
    x.elements()
}

fn split(x: &Operand, along: i64) -> Outcome<[usize; 3]> {
    let along = dimension(along, x.rank())?;
    let [outer, inner] = around(x.shape(), along);
    Ok([outer, x.shape().get(along).copied().unwrap_or(1), inner])
}

/// Each row repeated, one after the other.
fn interleaved(
    call: &mut Call,
    x: Operand,
    [outer, rows, inner]: [usize; 3],
    times: RepeatCounts,
    out: Operand,
) -> Outcome {
    require(
        x.view.kind == out.view.kind,
        "the data types are not the same",
    )?;
    let (all, each) = match times {
        RepeatCounts::All(times) => (Some(times), None),
        RepeatCounts::Each(times) => (None, Some(times)),
    };
    let elements = out.elements();
    let inputs = [x.bits()].into_iter().chain(each).collect();
    call.dense(inputs, vec![out.bits()], 0, move |values: &[Vec<i64>]| {
        let times = |row: usize| {
            let each = || values[1][if values[1].len() == 1 { 0 } else { row }];
            all.unwrap_or_else(each).max(0) as usize
        };
        let mut result = Vec::with_capacity(elements);
        for part in 0..outer {
            for row in 0..rows {
                let row_values = &values[0][(part * rows + row) * inner..][..inner];
                (0..times(row)).for_each(|_| result.extend_from_slice(row_values));
            }
        }
        result.resize(elements, 0);
        vec![result]
    })
}
