//! Sums, extremes, norms and the like along dimensions, and running ones.

use super::functions::{larger, smaller};
use crate::parameters::{InPlace, Input, Integers, Output, Scalar};
use softacl_base::by_kind;
use softacl_base::call::Call;
use softacl_base::call_wide::HostNumber;
use softacl_base::code::Outcome;
use softacl_base::complex::ComplexRows;
use softacl_base::dense::dimensions;
use softacl_base::number::Number;
use softacl_base::operand::Operand;
use softacl_base::status::require;

/// Reduces some dimensions, all when none are given, by one function for fractions and one for integers.
pub(super) fn along(
    call: &mut Call,
    x: &Operand,
    dims: &[i64],
    out: Operand,
    float: impl Fn(&[f64]) -> f64 + Send + Sync + 'static,
    integer: impl Fn(&[i64]) -> i64 + Send + Sync + 'static,
) -> Outcome {
    if x.is_float() || out.is_float() {
        return fraction(call, x, dims, out, float);
    }
    let dims = dimensions(dims, x.rank())?;
    call.reduce(x, &dims, vec![out], move |row: &[i64], out| {
        out[0] = integer(row)
    })
}

/// In fractions, along some dimensions.
pub(super) fn fraction(
    call: &mut Call,
    x: &Operand,
    dims: &[i64],
    out: Operand,
    compute: impl Fn(&[f64]) -> f64 + Send + Sync + 'static,
) -> Outcome {
    let dims = dimensions(dims, x.rank())?;
    call.reduce(x, &dims, vec![out], move |row: &[f64], out| {
        out[0] = compute(row)
    })
}

pub(super) fn largest(row: &[f64]) -> f64 {
    row.iter().copied().fold(f64::NEG_INFINITY, larger)
}

pub(super) fn smallest(row: &[f64]) -> f64 {
    row.iter().copied().fold(f64::INFINITY, smaller)
}

pub(super) fn sum_of_integers(row: &[i64]) -> i64 {
    row.iter().copied().fold(0, i64::wrapping_add)
}

pub(super) fn product_of_integers(row: &[i64]) -> i64 {
    row.iter().copied().fold(1, i64::wrapping_mul)
}

pub(super) fn most(row: &[i64]) -> i64 {
    row.iter().copied().max().unwrap_or(i64::MIN)
}

pub(super) fn least(row: &[i64]) -> i64 {
    row.iter().copied().min().unwrap_or(i64::MAX)
}

pub(super) fn log_of_exponentials(row: &[f64]) -> f64 {
    let top = largest(row);
    if top.is_infinite() {
        return top;
    }
    top + row.iter().map(|it| (it - top).exp()).sum::<f64>().ln()
}

/// The place of the first element that no other one is before; one that is not a number is before all.
fn first_by<C: Number>(row: &[C], before: impl Fn(C, C) -> bool) -> usize {
    let mut found = 0;
    for (index, value) in row.iter().enumerate() {
        let best = row[found];
        if is_nan(best) {
            break;
        }
        if is_nan(*value) || before(*value, best) {
            found = index;
        }
    }
    found
}

#[expect(clippy::eq_op, reason = "only NaN differs from itself")]
pub(super) fn is_nan<C: Number>(value: C) -> bool {
    value != value
}

/// The extreme of each row along one dimension, and its place. A single output has the place.
pub(super) fn extreme(
    call: &mut Call,
    x: &Operand,
    along: i64,
    outputs: Vec<Operand>,
    wants_larger: bool,
) -> Outcome {
    let (along, _) = x.rows_along(along)?;
    by_kind!(x.is_float(), C => call.reduce(x, &along, outputs, move |row: &[C], out| {
        let at = match wants_larger {
            true => first_by(row, |a, b| a > b),
            false => first_by(row, |a, b| a < b),
        };
        put(row, at, out);
    }))
}

/// Writes the element at a place of a row, if there is an output for it, and the place.
pub(super) fn put<C: Number>(row: &[C], at: usize, out: &mut [C]) {
    if let [value, place] = out {
        (*value, *place) = (row[at], C::from_i64(at as i64));
    } else {
        out[0] = C::from_i64(at as i64);
    }
}

/// The mean and the sum of squared distances from it.
pub(super) fn spread(row: &[f64]) -> (f64, f64) {
    let mean = row.iter().sum::<f64>() / row.len() as f64;
    (mean, row.iter().map(|it| (it - mean) * (it - mean)).sum())
}

pub(super) fn variance(row: &[f64], correction: f64) -> f64 {
    let (_, squares) = spread(row);
    squares / (row.len() as f64 - correction).max(0.0)
}

pub(super) fn norm(row: &[f64], order: f64) -> f64 {
    let sizes = row.iter().map(|it| it.abs());
    match order {
        0.0 => row.iter().filter(|it| **it != 0.0).count() as f64,
        1.0 => sizes.sum(),
        2.0 => sizes.map(|it| it * it).sum::<f64>().sqrt(),
        f64::INFINITY => sizes.fold(0.0, larger),
        f64::NEG_INFINITY => sizes.fold(f64::INFINITY, smaller),
        order => sizes
            .map(|it| it.powf(order))
            .sum::<f64>()
            .powf(order.recip()),
    }
}

/// The value in the middle, the lower one of two, and its place; NaN comes first if it counts.
fn median<C: Number>(row: &[C], skips_nan: bool) -> (C, usize) {
    let first_nan = row.iter().position(|it| is_nan(*it));
    let mut order: Vec<usize> = (0..row.len()).filter(|at| !is_nan(row[*at])).collect();
    match first_nan {
        Some(at) if !skips_nan || order.is_empty() => return (row[at], at),
        _ => {}
    }
    if order.is_empty() {
        return (C::default(), 0);
    }
    order.sort_by(|a, b| {
        row[*a]
            .partial_cmp(&row[*b])
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let at = order[(order.len() - 1) / 2];
    (row[at], at)
}

fn median_of(
    call: &mut Call,
    x: &Operand,
    dims: &[i64],
    outputs: Vec<Operand>,
    skips: bool,
) -> Outcome {
    let dims = dimensions(dims, x.rank())?;
    by_kind!(x.is_float(), C => call.reduce(x, &dims, outputs, move |row: &[C], out| {
        let (value, at) = median(row, skips);
        out[0] = value;
        if let [_, place] = out {
            *place = C::from_i64(at as i64);
        }
    }))
}

/// A row of results for each row along a dimension: running sums and the like.
pub(super) fn scan<C: Number>(
    call: &mut Call,
    x: &Operand,
    along: i64,
    outputs: Vec<Operand>,
    compute: impl Fn(&[C], &mut [Vec<C>]) + Send + Sync + 'static,
) -> Outcome {
    let wrong = outputs.iter().any(|it| it.shape() != x.shape());
    require(!wrong, "the output's shape is not the input's")?;
    let (last, length) = x.rows_along(along)?;
    let outputs: Vec<Operand> = outputs.iter().map(|it| it.with_last(&last)).collect();
    let number = outputs.len();
    call.dense(
        vec![x.with_last(&last)],
        outputs,
        x.elements() as u64,
        move |values: &[Vec<C>]| {
            let mut results = vec![Vec::with_capacity(values[0].len()); number];
            for row in values[0].chunks(length.max(1)) {
                compute(row, &mut results);
            }
            results
        },
    )
}

/// The running value of each place.
fn running<C: Number>(row: &[C], out: &mut [Vec<C>], next: impl Fn(C, C) -> C) {
    let mut so_far = None;
    for value in row {
        let value = so_far.map_or(*value, |so_far| next(so_far, *value));
        so_far = Some(value);
        out[0].push(value);
    }
}

/// The running extreme of each place, and its position; of equal ones the last.
fn running_extreme<C: Number>(row: &[C], out: &mut [Vec<C>], is_better: impl Fn(C, C) -> bool) {
    let mut best = 0;
    for (index, value) in row.iter().enumerate() {
        if is_nan(*value) || (!is_nan(row[best]) && is_better(*value, row[best])) {
            best = index;
        }
        out[0].push(row[best]);
        out[1].push(C::from_i64(best as i64));
    }
}

pub(super) fn extremes_so_far(
    call: &mut Call,
    x: &Operand,
    outputs: [Operand; 2],
    along: i64,
    wants_larger: bool,
) -> Outcome {
    by_kind!(x.is_float(), C => scan(call, x, along, outputs.into(), move |row: &[C], out| {
        match wants_larger {
            true => running_extreme(row, out, |a, b| a >= b),
            false => running_extreme(row, out, |a, b| a <= b),
        }
    }))
}

pub(super) fn sums_so_far(call: &mut Call, x: &Operand, along: i64, out: Operand) -> Outcome {
    by_kind!(x.is_float() || out.is_float(), C => scan(call, x, along, vec![out], |row: &[C], out| {
        running(row, out, C::plus);
    }))
}

fn products_so_far(call: &mut Call, x: &Operand, along: i64, out: Operand) -> Outcome {
    if call.rows == Some(ComplexRows::Product) {
        require(
            out.shape() == x.shape(),
            "the output's shape is not the input's",
        )?;
        let (last, length) = x.rows_along(along)?;
        return call.complex_products_so_far(&x.with_last(&last), length, &out.with_last(&last));
    }
    by_kind!(x.is_float() || out.is_float(), C => scan(call, x, along, vec![out], |row: &[C], out| {
        running(row, out, C::times);
    }))
}

operators! {
    aclnnReduceSum |call, x: Input, dims: Integers, _keep: bool, _kind: i32, out: Output| {
        along(call, &x, &dims, out, |row| row.iter().sum(), sum_of_integers)
    };
    aclnnReduceNansum |call, x: Input, dims: Integers, _keep: bool, _kind: i32, out: Output| {
        along(call, &x, &dims, out, |row| row.iter().filter(|it| !it.is_nan()).sum(), sum_of_integers)
    };
    aclnnMean |call, x: Input, dims: Integers, _keep: bool, _kind: i32, out: Output| {
        fraction(call, &x, &dims, out, |row| row.iter().sum::<f64>() / row.len() as f64)
    };
    aclnnMeanV2 |call, x: Input, dims: Integers, _keep: bool, _skip: bool, out: Output| {
        fraction(call, &x, &dims, out, |row| row.iter().sum::<f64>() / row.len() as f64)
    };
    aclnnProd |call, x: Input, _kind: i32, out: Output| {
        along(call, &x, &[], out, |row| row.iter().product(), product_of_integers)
    };
    aclnnProdDim |call, x: Input, dim: i64, _keep: bool, _kind: i32, out: Output| {
        along(call, &x, &[dim], out, |row| row.iter().product(), product_of_integers)
    };
    aclnnMax |call, x: Input, out: Output| along(call, &x, &[], out, largest, most);
    aclnnMin |call, x: Input, out: Output| along(call, &x, &[], out, smallest, least);
    aclnnAmax |call, x: Input, dims: Integers, _keep: bool, out: Output| along(call, &x, &dims, out, largest, most);
    aclnnAmin |call, x: Input, dims: Integers, _keep: bool, out: Output| along(call, &x, &dims, out, smallest, least);
    aclnnAminmaxAll |call, x: Input, low: Output, high: Output| {
        along(call, &x, &[], low, smallest, least)?;
        along(call, &x, &[], high, largest, most)
    };
    aclnnAminmax |call, x: Input, dims: Integers, _keep: bool, low: Output, high: Output| {
        along(call, &x, &dims, low, smallest, least)?;
        along(call, &x, &dims, high, largest, most)
    };
    aclnnAminmaxDim |call, x: Input, dim: i64, _keep: bool, low: Output, high: Output| {
        along(call, &x, &[dim], low, smallest, least)?;
        along(call, &x, &[dim], high, largest, most)
    };
    aclnnMaxDim |call, x: Input, dim: i64, _keep: bool, out: Output, places: Output| {
        extreme(call, &x, dim, vec![out, places], true)
    };
    aclnnMinDim |call, x: Input, dim: i64, _keep: bool, out: Output, places: Output| {
        extreme(call, &x, dim, vec![out, places], false)
    };
    aclnnArgMax |call, x: Input, dim: i64, _keep: bool, out: Output| extreme(call, &x, dim, vec![out], true);
    aclnnArgMin |call, x: Input, dim: i64, _keep: bool, out: Output| extreme(call, &x, dim, vec![out], false);
    aclnnAll |call, x: Input, dims: Integers, _keep: bool, out: Output| {
        along(call, &x, &dims, out,
            |row| f64::from(u8::from(row.iter().all(|it| *it != 0.0))),
            |row| i64::from(row.iter().all(|it| *it != 0)))
    };
    aclnnAny |call, x: Input, dims: Integers, _keep: bool, out: Output| {
        along(call, &x, &dims, out,
            |row| f64::from(u8::from(row.iter().any(|it| *it != 0.0))),
            |row| i64::from(row.iter().any(|it| *it != 0)))
    };
    aclnnVar |call, x: Input, dims: Integers, unbiased: bool, _keep: bool, out: Output| {
        fraction(call, &x, &dims, out, move |row| variance(row, f64::from(u8::from(unbiased))))
    };
    aclnnVarCorrection |call, x: Input, dims: Integers, correction: i64, _keep: bool, out: Output| {
        fraction(call, &x, &dims, out, move |row| variance(row, correction as f64))
    };
    aclnnStd |call, x: Input, dims: Integers, correction: i64, _keep: bool, out: Output| {
        fraction(call, &x, &dims, out, move |row| variance(row, correction as f64).sqrt())
    };
    aclnnVarMean |call, x: Input, dims: Integers, correction: i64, _keep: bool, variance_: Output, mean: Output| {
        fraction(call, &x, &dims, variance_, move |row| variance(row, correction as f64))?;
        fraction(call, &x, &dims, mean, |row| spread(row).0)
    };
    aclnnStdMeanCorrection |call, x: Input, dims: Integers, correction: i64, _keep: bool, deviation: Output, mean: Output| {
        fraction(call, &x, &dims, deviation, move |row| variance(row, correction as f64).sqrt())?;
        fraction(call, &x, &dims, mean, |row| spread(row).0)
    };
    aclnnLogSumExp |call, x: Input, dims: Integers, _keep: bool, out: Output| {
        fraction(call, &x, &dims, out, log_of_exponentials)
    };
    aclnnNorm |call, x: Input, order: Scalar, dims: Integers, _keep: bool, out: Output| {
        let order = HostNumber::from(call.scalar(order)?).float;
        fraction(call, &x, &dims, out, move |row| norm(row, order))
    };
    aclnnLinalgVectorNorm |call, x: Input, order: Scalar, dims: Integers, _keep: bool, _kind: i32, out: Output| {
        let order = HostNumber::from(call.scalar(order)?).float;
        fraction(call, &x, &dims, out, move |row| norm(row, order))
    };
    aclnnMedian |call, x: Input, out: Output| {
        median_of(call, &x, &[], vec![out], false)
    };
    aclnnNanMedian |call, x: Input, out: Output| {
        median_of(call, &x, &[], vec![out], true)
    };
    aclnnMedianDim |call, x: Input, dim: i64, _keep: bool, out: Output, places: Output| {
        median_of(call, &x, &[dim], vec![out, places], false)
    };
    aclnnNanMedianDim |call, x: Input, dim: i64, _keep: bool, out: Output, places: Output| {
        median_of(call, &x, &[dim], vec![out, places], true)
    };
    aclnnCumsum |call, x: Input, dim: i64, _kind: i32, out: Output| sums_so_far(call, &x, dim, out);
    aclnnCumsumV2 |call, x: Input, dim: i64, _exclusive: bool, _reverse: bool, out: Output| {
        sums_so_far(call, &x, dim, out)
    };
    aclnnCumprod |call, x: Input, dim: Scalar, _kind: i32, out: Output| {
        let dim = call.scalar_as_computed(dim, &[&x])?.integer;
        products_so_far(call, &x, dim, out)
    };
    aclnnInplaceCumprod |call, x: InPlace, dim: Scalar| {
        let dim = call.scalar_as_computed(dim, &[&x])?.integer;
        products_so_far(call, &x, dim, x.clone())
    };
    aclnnCummax |call, x: Input, dim: i64, out: Output, places: Output| {
        extremes_so_far(call, &x, [out, places], dim, true)
    };
    aclnnCummin |call, x: Input, dim: i64, out: Output, places: Output| {
        extremes_so_far(call, &x, [out, places], dim, false)
    };
    aclnnTrace |call, x: Input, out: Output| {
        let mut x = x;
        require(x.rank() == 2, "the input is no matrix")?;
        // The diagonal is a row of the matrix with steps that go down and to the right.
        x.view.strides = vec![x.view.strides[0] + x.view.strides[1]];
        x.view.shape = vec![x.view.shape[0].min(x.view.shape[1])];
        along(call, &x, &[0], out, |row| row.iter().sum(), sum_of_integers)
    };
}
