//! Operators that pick elements, or change them, where indices say.

use super::shapes::{coordinates, steps};
use super::{Integers, List};
use crate::aclnn::arrays;
use crate::aclnn::call::Call;
use crate::aclnn::call_wide::Given;
use crate::aclnn::data_type::DataType;
use crate::aclnn::dense::{count, dimension};
use crate::aclnn::formula::number;
use crate::aclnn::number::Number;
use crate::aclnn::object;
use crate::aclnn::operand::Operand;
use crate::aclnn::operators::{In, Scalar, Written};
use crate::aclnn::status::require;
use crate::code::Outcome;

/// An index that may count from the end.
fn place(index: i64, length: usize) -> Option<usize> {
    let index = if index < 0 {
        index + length as i64
    } else {
        index
    };
    usize::try_from(index).ok().filter(|it| *it < length)
}

/// Two lengths around a dimension: of those before it, and of those behind it.
fn around(shape: &[usize], along: usize) -> [usize; 2] {
    let behind = shape.get(along + 1..).unwrap_or(&[]);
    [count(&shape[..along.min(shape.len())]), count(behind)]
}

/// Picks rows along a dimension, by an index that counts them.
fn rows(call: &mut Call, x: &Operand, along: i64, index: &Operand, out: &Operand) -> Outcome {
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

/// How a value meets what is there: 0 replaces it, 1 is added, 2 multiplies.
fn met<C: Number>(old: C, new: C, reduction: i64) -> C {
    match reduction {
        0 => new,
        1 => old.plus(new),
        2 => old.times(new),
        3 => {
            if new > old {
                new
            } else {
                old
            }
        }
        _ => {
            if new < old {
                new
            } else {
                old
            }
        }
    }
}

/// Values at the places that `target` tells of their number.
fn changed<C: Number>(
    x: &[C],
    values: &[C],
    reduction: i64,
    target: impl Fn(usize) -> Option<usize>,
) -> Vec<C> {
    let mut result = x.to_vec();
    for (index, value) in values.iter().enumerate() {
        if let Some(old) = target(index).and_then(|at| result.get_mut(at)) {
            *old = met(*old, *value, reduction);
        }
    }
    result
}

/// `x` with values put where an index of their shape says along a dimension.
fn scattered(
    call: &mut Call,
    x: &Operand,
    along: i64,
    index: &Operand,
    values: Source,
    reduction: i64,
    out: &Operand,
) -> Outcome {
    let along = dimension(along, x.rank())?;
    let (shape, length) = (
        index.shape().to_vec(),
        x.shape().get(along).copied().unwrap_or(1),
    );
    let distances = steps(x.shape());
    let target = move |indices: &[f64], number: usize| {
        let place = place(indices[number] as i64, length)?;
        let at = coordinates(number, &shape);
        let each = at.iter().enumerate();
        Some(
            each.map(|(dimension, at)| {
                distances[dimension] * if dimension == along { place } else { *at }
            })
            .sum(),
        )
    };
    combine(call, x, index, values, reduction, out, target)
}

/// Where the values come from: a tensor, seen with the index's shape, or one number for all.
enum Source {
    Tensor(Operand),
    Number(Given),
}

/// Adds the task of a change; integers are changed as such, so that none of their digits is lost.
fn combine(
    call: &mut Call,
    x: &Operand,
    index: &Operand,
    source: Source,
    reduction: i64,
    out: &Operand,
    target: impl Fn(&[f64], usize) -> Option<usize> + Send + Sync + 'static,
) -> Outcome {
    // Indices are small enough for fractions to hold them; both kinds of values take them from a copy.
    let places = call.temporary(DataType::F64, index.shape());
    call.each(number(|[x]| x, |[x]| x), [index], &places)?;
    let (tensor, given) = match source {
        Source::Tensor(tensor) => (Some(tensor), None),
        Source::Number(given) => (None, Some(given)),
    };
    let total = index.elements();
    let as_floats = |values: &[i64]| {
        values
            .iter()
            .map(|it| f64::from_bits(*it as u64))
            .collect::<Vec<_>>()
    };
    if out.is_float() {
        let inputs = [x.clone(), places].into_iter().chain(tensor).collect();
        return call.dense(
            inputs,
            vec![out.clone()],
            0,
            move |values: &[Vec<f64>]| {
                let filled = given.map(|given| vec![given.float; total]);
                let source = filled.as_ref().unwrap_or_else(|| &values[2]);
                vec![changed(&values[0], source, reduction, |at| {
                    target(&values[1], at)
                })]
            },
        );
    }
    let inputs = [x.clone(), places.bits()]
        .into_iter()
        .chain(tensor)
        .collect();
    call.dense(
        inputs,
        vec![out.clone()],
        0,
        move |values: &[Vec<i64>]| {
            let places = as_floats(&values[1]);
            let filled = given.map(|given| vec![given.integer; total]);
            let source = filled.as_ref().unwrap_or_else(|| &values[2]);
            vec![changed(&values[0], source, reduction, |at| {
                target(&places, at)
            })]
        },
    )
}

/// A tensor seen with the shape of an index that is no larger.
fn like(source: &Operand, index: &Operand) -> Outcome<Operand> {
    let mut view = source.view.clone();
    require(
        view.shape.len() == index.rank(),
        "the index has not the tensor's dimensions",
    )?;
    for (length, wanted) in view.shape.iter_mut().zip(index.shape()) {
        require(*length >= *wanted, "the index is larger than the tensor")?;
        *length = *wanted;
    }
    Ok(source.seen(view))
}

fn scatter(
    call: &mut Call,
    [x, index, source]: [usize; 3],
    along: i64,
    reduction: i64,
    out: Option<Written>,
) -> Outcome {
    let [x, out] = target(call, x, out)?;
    let (index, source) = (call.input(index)?, call.input(source)?);
    let source = Source::Tensor(like(&source, &index)?);
    scattered(call, &x, along, &index, source, reduction, &out)
}

fn scatter_value(
    call: &mut Call,
    [x, index, value]: [usize; 3],
    along: i64,
    reduction: i64,
    out: Option<Written>,
) -> Outcome {
    let [x, out] = target(call, x, out)?;
    let index = call.input(index)?;
    let value = Source::Number(call.given(value, &[&x])?);
    scattered(call, &x, along, &index, value, reduction, &out)
}

/// The tensor that is changed, and where the result goes: the same without an output.
fn target(call: &mut Call, x: usize, out: Option<Written>) -> Outcome<[Operand; 2]> {
    if let Some(out) = out {
        return Ok([call.input(x)?, call.output(out)?]);
    }
    let x = call.in_place(x)?;
    Ok([x.clone(), x])
}

/// Rows along a dimension take those of a source, in the order of an index.
fn rows_changed(
    call: &mut Call,
    x: &Operand,
    along: i64,
    index: &Operand,
    source: Source,
    reduction: i64,
    out: &Operand,
) -> Outcome {
    let along = dimension(along, x.rank())?;
    let length = x.shape().get(along).copied().unwrap_or(1);
    let [outer, inner] = around(x.shape(), along);
    let picked = index.elements();
    // An index for each value, so that what follows knows no rows.
    let mut spread = index.view.clone();
    if spread.shape.is_empty() {
        spread = spread.with_dimension(0);
    }
    let wide = spread.with_dimension(0).with_dimension(2);
    let Some(wide) = wide.broadcast(&[outer, picked, inner]) else {
        return Ok(());
    };
    let wide = index.seen(wide);
    combine(
        call,
        x,
        &wide,
        source,
        reduction,
        out,
        move |indices, number| {
            let place = place(indices[number] as i64, length)?;
            let (row, within) = (number / inner, number % inner);
            Some((row / picked * length + place) * inner + within)
        },
    )
}

/// The parts of an index by several tensors: which dimensions they stand for, and the shape they broadcast to.
struct Advanced {
    /// By dimension of the indexed tensor: the number of its index, or none for all of it.
    indices: Vec<Option<usize>>,
    shape: Vec<usize>,
    /// Where the shape stands among the dimensions that are taken as a whole.
    at: usize,
    lengths: Vec<usize>,
}

impl Advanced {
    fn new(x: &Operand, given: &[Operand]) -> Outcome<(Self, Vec<Operand>)> {
        let mut indices = vec![None; x.rank()];
        let mut used: Vec<Operand> = Vec::new();
        let mut shape = Vec::new();
        for (dimension, index) in given.iter().enumerate().take(x.rank()) {
            // A tensor of no elements stands for a missing one.
            if index.shape() == [0] {
                continue;
            }
            let Some(both) = crate::aclnn::view::broadcast_shape(&shape, index.shape()) else {
                return crate::aclnn::status::refuse("the indices do not broadcast");
            };
            shape = both;
            indices[dimension] = Some(used.len());
            used.push(index.clone());
        }
        let first = indices.iter().position(Option::is_some).unwrap_or(0);
        let last = indices.iter().rposition(Option::is_some).unwrap_or(0);
        let together = indices[first.min(indices.len())..]
            .iter()
            .take(last + 1 - first)
            .all(Option::is_some);
        let stretched = used
            .iter()
            .filter_map(|it| Some(it.seen(it.view.clone().broadcast(&shape)?)))
            .collect();
        let advanced = Self {
            indices,
            shape,
            // Indices that stand apart put their shape in front.
            at: if together { first } else { 0 },
            lengths: x.shape().to_vec(),
        };
        Ok((advanced, stretched))
    }

    /// The shape of what is picked.
    fn picked(&self) -> Vec<usize> {
        let mut whole: Vec<usize> = self.whole().map(|it| self.lengths[it]).collect();
        let at = self.at.min(whole.len());
        whole.splice(at..at, self.shape.iter().copied());
        whole
    }

    fn whole(&self) -> impl Iterator<Item = usize> {
        (0..self.indices.len()).filter(|it| self.indices[*it].is_none())
    }

    /// The element of the indexed tensor for an element of what is picked.
    fn element(&self, number: usize, picked: &[usize], indices: &[Vec<i64>]) -> Option<usize> {
        let at = coordinates(number, picked);
        let start = self.at.min(picked.len());
        let within = &at[start..start + self.shape.len()];
        let flat = within
            .iter()
            .zip(&self.shape)
            .fold(0, |flat, (at, length)| flat * length + at);
        let mut rest = at[..start].iter().chain(&at[start + self.shape.len()..]);
        let mut element = 0;
        for (dimension, index) in self.indices.iter().enumerate() {
            let length = self.lengths[dimension];
            let place = match index {
                Some(index) => place(indices[*index][flat], length)?,
                None => *rest.next()?,
            };
            element = element * length + place;
        }
        Some(element)
    }
}

fn indexed(call: &mut Call, [x, list, out]: [usize; 3]) -> Outcome {
    let (x, given, out) = (call.input(x)?, call.inputs(list)?, call.output(out)?);
    if out.view.is_empty() {
        return Ok(());
    }
    let (advanced, used) = Advanced::new(&x, &given)?;
    require(
        x.view.kind == out.view.kind,
        "the data types are not the same",
    )?;
    let (picked, elements) = (advanced.picked(), out.elements());
    require(
        count(&picked) == elements,
        "the output's shape is not that of the result",
    )?;
    let inputs = [x.bits()].into_iter().chain(used).collect();
    call.dense(inputs, vec![out.bits()], 0, move |values: &[Vec<i64>]| {
        let each = |number| {
            let at = advanced.element(number, &picked, &values[1..])?;
            values[0].get(at).copied()
        };
        vec![
            (0..elements)
                .map(|number| each(number).unwrap_or(0))
                .collect(),
        ]
    })
}

fn put(call: &mut Call, [x, list, values]: [usize; 3], accumulate: bool) -> Outcome {
    let (x, given, source) = (call.in_place(x)?, call.inputs(list)?, call.input(values)?);
    let (advanced, used) = Advanced::new(&x, &given)?;
    // Of all indices none has an element: they are no missing ones, and name no place.
    if used.is_empty() {
        return Ok(());
    }
    let picked = advanced.picked();
    let Some(view) = source.view.clone().broadcast(&picked) else {
        return crate::aclnn::status::refuse("the values do not broadcast to what is indexed");
    };
    let source = source.seen(view);
    let reduction = i64::from(accumulate);
    if x.is_float() {
        let inputs = [x.clone(), source].into_iter().chain(used).collect();
        return call.dense(inputs, vec![x], 0, move |all: &[Vec<f64>]| {
            let indices = all[2..]
                .iter()
                .map(|it| it.iter().map(|it| *it as i64).collect());
            let indices: Vec<Vec<i64>> = indices.collect();
            vec![changed(&all[0], &all[1], reduction, |at| {
                advanced.element(at, &picked, &indices)
            })]
        });
    }
    let inputs = [x.clone(), source].into_iter().chain(used).collect();
    call.dense(inputs, vec![x], 0, move |all: &[Vec<i64>]| {
        vec![changed(&all[0], &all[1], reduction, |at| {
            advanced.element(at, &picked, &all[2..])
        })]
    })
}

/// Coordinates of what is not zero, a row each; transposed, a column each.
fn nonzero(call: &mut Call, [x, out]: [usize; 2], transposed: bool) -> Outcome {
    let (x, found) = (call.input(x)?, call.output(out)?);
    let (shape, tensor) = (x.shape().to_vec(), object::tensor(out)?);
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

operators! {
    aclnnIndexSelect |call, x: In, along: i64, index: In, out: Written| {
        let (x, index, out) = (call.input(x)?, call.input(index)?, call.output(out)?);
        rows(call, &x, along, &index, &out)
    };
    aclnnGatherV3 |call, x: In, along: i64, index: In, _batch: i64, _mode: i64, out: Written| {
        let (x, index, out) = (call.input(x)?, call.input(index)?, call.output(out)?);
        rows(call, &x, along, &index, &out)
    };
    aclnnEmbedding |call, x: In, index: In, out: Written| {
        let (x, index, out) = (call.input(x)?, call.input(index)?, call.output(out)?);
        rows(call, &x, 0, &index, &out)
    };
    aclnnEmbeddingDenseBackward |call, grad: In, index: In, rows: u64, padding: u64, by_frequency: bool, out: Written| {
        let (grad, index, out) = (call.input(grad)?, call.input(index)?, call.output(out)?);
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
    aclnnGather |call, x: In, along: i64, index: In, out: Written| {
        let (x, index, out) = (call.input(x)?, call.input(index)?, call.output(out)?);
        let along = dimension(along, x.rank())?;
        let (shape, length) = (index.shape().to_vec(), x.shape().get(along).copied().unwrap_or(1));
        let (distances, elements) = (steps(x.shape()), out.elements());
        call.dense(vec![x.bits(), index], vec![out.bits()], 0, move |values: &[Vec<i64>]| {
            let each = |number: usize| {
                let place = place(values[1][number], length)?;
                let at = coordinates(number, &shape);
                let at = at.iter().enumerate();
                let element = at.map(|(dimension, at)| distances[dimension] * if dimension == along { place } else { *at }).sum::<usize>();
                values[0].get(element).copied()
            };
            vec![(0..elements).map(|number| each(number).unwrap_or(0)).collect()]
        })
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
    aclnnIndexAdd |call, x: In, along: i64, index: In, source: In, alpha: Scalar, out: Written| {
        let (x, index, source) = (call.input(x)?, call.input(index)?, call.input(source)?);
        let out = call.output(out)?;
        let alpha = call.given(alpha, &[&x])?;
        let scaled = call.temporary(x.view.kind.wide(), source.shape());
        let formula = number(move |[x]| x * alpha.float, move |[x]: [i64; 1]| x.wrapping_mul(alpha.integer));
        call.each(formula, [&source], &scaled)?;
        rows_changed(call, &x, along, &index, Source::Tensor(scaled), 1, &out)
    };
    aclnnIndexCopy |call, x: In, along: i64, index: In, source: In, out: Written| {
        let (x, index, source) = (call.input(x)?, call.input(index)?, call.input(source)?);
        let out = call.output(out)?;
        rows_changed(call, &x, along, &index, Source::Tensor(source), 0, &out)
    };
    aclnnInplaceIndexCopy |call, x: Written, along: i64, index: In, source: In| {
        let (x, index, source) = (call.in_place(x)?, call.input(index)?, call.input(source)?);
        rows_changed(call, &x, along, &index, Source::Tensor(source), 0, &x)
    };
    aclnnIndexFillTensor |call, x: In, along: i64, index: Integers, value: Scalar, out: Written| {
        let (x, out) = (call.input(x)?, call.output(out)?);
        filled(call, &x, along, index, value, &out)
    };
    aclnnInplaceIndexFillTensor |call, x: Written, along: i64, index: Integers, value: Scalar| {
        let x = call.in_place(x)?;
        filled(call, &x, along, index, value, &x)
    };
    aclnnIndexFill |call, x: In, along: i64, index: In, value: Scalar, out: Written| {
        let (x, index, out) = (call.input(x)?, call.input(index)?, call.output(out)?);
        let value = Source::Number(call.given(value, &[&x])?);
        rows_changed(call, &x, along, &index, value, 0, &out)
    };
    aclnnInplaceIndexFill |call, x: Written, along: i64, index: In, value: Scalar| {
        let (x, index) = (call.in_place(x)?, call.input(index)?);
        let value = Source::Number(call.given(value, &[&x])?);
        rows_changed(call, &x, along, &index, value, 0, &x)
    };
    aclnnIndex |call, x: In, indices: List, out: Written| indexed(call, [x, indices, out]);
    aclnnIndexPutImpl |call, x: Written, indices: List, values: In, accumulate: bool, _unsafe: bool| {
        put(call, [x, indices, values], accumulate)
    };
    aclnnTake |call, x: In, index: In, out: Written| {
        let (x, index, out) = (call.input(x)?, call.input(index)?, call.output(out)?);
        let elements = out.elements();
        call.dense(vec![x.bits(), index], vec![out.bits()], 0, move |values: &[Vec<i64>]| {
            let each = |number: usize| place(values[1][number], values[0].len()).map(|at| values[0][at]);
            vec![(0..elements).map(|number| each(number).unwrap_or(0)).collect()]
        })
    };
    aclnnInplacePut |call, x: Written, index: In, source: In, accumulate: bool| {
        let (x, index, source) = (call.in_place(x)?, call.input(index)?, call.input(source)?);
        let length = x.elements();
        combine(call, &x, &index, Source::Tensor(source), i64::from(accumulate), &x, move |indices, number| {
            place(indices[number] as i64, length)
        })
    };
    aclnnMaskedSelect |call, x: In, mask: In, out: Written| {
        let (x, mask, found) = (call.input(x)?, call.input(mask)?, call.output(out)?);
        let Some(shape) = crate::aclnn::view::broadcast_shape(x.shape(), mask.shape()) else {
            return crate::aclnn::status::refuse("the mask does not broadcast");
        };
        let stretched = |it: &Operand| it.view.clone().broadcast(&shape).map(|view| it.seen(view));
        let (Some(x), Some(mask)) = (stretched(&x.bits()), stretched(&mask)) else {
            return Ok(());
        };
        let mut bits = found.clone();
        bits.view.kind = bits.view.kind.bits();
        let tensor = object::tensor(out)?;
        call.found(vec![x, mask], bits, tensor, |values: &[Vec<i64>]| {
            let both = values[0].iter().zip(&values[1]);
            let kept: Vec<i64> = both.filter(|(_, mask)| **mask != 0).map(|(x, _)| *x).collect();
            let number = kept.len();
            (kept, vec![number])
        })
    };
    aclnnInplaceMaskedScatter |call, x: Written, mask: In, source: In| {
        let (x, mask, source) = (call.in_place(x)?, call.input(mask)?, call.input(source)?);
        let Some(view) = mask.view.clone().broadcast(x.shape()) else {
            return crate::aclnn::status::refuse("the mask does not broadcast");
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
    aclnnOneHot |call, x: In, classes: i64, on: In, off: In, axis: i64, out: Written| {
        let (x, on, off) = (call.input(x)?, call.input(on)?, call.input(off)?);
        let out = call.output(out)?;
        let classes = classes.max(0) as usize;
        let rank = out.rank();
        let along = if axis < 0 { rank - 1 } else { axis as usize };
        let [_, inner] = around(out.shape(), along);
        let elements = out.elements();
        call.dense(vec![x, on, off], vec![out], 0, move |values: &[Vec<i64>]| {
            let each = |at: usize| {
                let (row, class) = (at / inner, at / inner % classes);
                let number = row / classes * inner + at % inner;
                if values[0][number] == class as i64 { values[1][0] } else { values[2][0] }
            };
            vec![(0..elements).map(each).collect()]
        })
    };
    aclnnRepeatInterleave |call, x: In, times: In, _size: i64, out: Written| {
        let (x, times, out) = (call.input(x)?, call.input(times)?, call.output(out)?);
        let flat = flattened(&x);
        interleaved(call, x, [1, flat, 1], Times::Each(times), out)
    };
    aclnnRepeatInterleaveWithDim |call, x: In, times: In, along: i64, _size: i64, out: Written| {
        let (x, times, out) = (call.input(x)?, call.input(times)?, call.output(out)?);
        let shape = split(&x, along)?;
        interleaved(call, x, shape, Times::Each(times), out)
    };
    aclnnRepeatInterleaveGrad |call, grad: In, times: In, along: i64, out: Written| {
        let (grad, times, out) = (call.input(grad)?, call.input(times)?, call.output(out)?);
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
    aclnnRepeatInterleaveInt |call, x: In, times: i64, _size: i64, out: Written| {
        let (x, out) = (call.input(x)?, call.output(out)?);
        let flat = flattened(&x);
        interleaved(call, x, [1, flat, 1], Times::All(times), out)
    };
    aclnnRepeatInterleaveIntWithDim |call, x: In, times: i64, along: i64, _size: i64, out: Written| {
        let (x, out) = (call.input(x)?, call.output(out)?);
        let shape = split(&x, along)?;
        interleaved(call, x, shape, Times::All(times), out)
    };
}

fn filled(
    call: &mut Call,
    x: &Operand,
    along: i64,
    index: Integers,
    value: Scalar,
    out: &Operand,
) -> Outcome {
    let along = dimension(along, x.rank())?;
    let length = x.shape().get(along).copied().unwrap_or(1);
    let places: Vec<usize> = arrays::integers(index)?
        .iter()
        .filter_map(|it| place(*it, length))
        .collect();
    let value = call.given(value, &[x])?;
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

enum Times {
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

/// Each row so many times, one after the other.
fn interleaved(
    call: &mut Call,
    x: Operand,
    [outer, rows, inner]: [usize; 3],
    times: Times,
    out: Operand,
) -> Outcome {
    require(
        x.view.kind == out.view.kind,
        "the data types are not the same",
    )?;
    let (all, each) = match times {
        Times::All(times) => (Some(times), None),
        Times::Each(times) => (None, Some(times)),
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
