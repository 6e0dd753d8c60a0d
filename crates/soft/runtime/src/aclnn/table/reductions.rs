//! Sums, extremes, norms and the like along dimensions, and running ones.

use super::IntegerArray;
use super::functions::{larger, smaller};
use crate::aclnn::arrays;
use crate::aclnn::call::Call;
use crate::aclnn::dense::{dimension, dimensions};
use crate::aclnn::number::Number;
use crate::aclnn::operand::Operand;
use crate::aclnn::operators::{In, Scalar, Written};
use crate::aclnn::status::require;
use crate::code::Outcome;

/// Reduces some dimensions, all when none are given, by one function for fractions and one for integers.
fn along(
    call: &mut Call,
    [x, given, out]: [usize; 3],
    float: impl Fn(&[f64]) -> f64 + Send + Sync + 'static,
    integer: impl Fn(&[i64]) -> i64 + Send + Sync + 'static,
) -> Outcome {
    let (x, out) = (call.input(x)?, call.output(out)?);
    let along = dimensions(&arrays::integers(given)?, x.rank())?;
    by_kind(call, &x, &along, out, float, integer)
}

fn by_kind(
    call: &mut Call,
    x: &Operand,
    along: &[usize],
    out: Operand,
    float: impl Fn(&[f64]) -> f64 + Send + Sync + 'static,
    integer: impl Fn(&[i64]) -> i64 + Send + Sync + 'static,
) -> Outcome {
    if x.is_float() || out.is_float() {
        call.reduce(x, along, vec![out], move |row: &[f64], out| {
            out[0] = float(row)
        })
    } else {
        call.reduce(x, along, vec![out], move |row: &[i64], out| {
            out[0] = integer(row)
        })
    }
}

/// In fractions, along some dimensions.
fn fraction(
    call: &mut Call,
    [x, given, out]: [usize; 3],
    compute: impl Fn(&[f64]) -> f64 + Send + Sync + 'static,
) -> Outcome {
    let (x, out) = (call.input(x)?, call.output(out)?);
    let along = dimensions(&arrays::integers(given)?, x.rank())?;
    call.reduce(&x, &along, vec![out], move |row: &[f64], out| {
        out[0] = compute(row)
    })
}

fn largest(row: &[f64]) -> f64 {
    row.iter().copied().fold(f64::NEG_INFINITY, larger)
}

fn smallest(row: &[f64]) -> f64 {
    row.iter().copied().fold(f64::INFINITY, smaller)
}

fn sum_of_integers(row: &[i64]) -> i64 {
    row.iter().copied().fold(0, i64::wrapping_add)
}

fn product_of_integers(row: &[i64]) -> i64 {
    row.iter().copied().fold(1, i64::wrapping_mul)
}

fn most(row: &[i64]) -> i64 {
    row.iter().copied().max().unwrap_or(i64::MIN)
}

fn least(row: &[i64]) -> i64 {
    row.iter().copied().min().unwrap_or(i64::MAX)
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

#[expect(
    clippy::eq_op,
    reason = "only what is not a number differs from itself"
)]
pub(super) fn is_nan<C: Number>(value: C) -> bool {
    value != value
}

/// The extreme of each row along one dimension, and its place. `index_only` has one output.
fn extreme(
    call: &mut Call,
    x: &Operand,
    along: i64,
    outputs: Vec<Operand>,
    wants_larger: bool,
) -> Outcome {
    let along = if x.rank() == 0 {
        Vec::new()
    } else {
        vec![dimension(along, x.rank())?]
    };
    fn compute<C: Number>(row: &[C], out: &mut [C], wants_larger: bool) {
        let at = match wants_larger {
            true => first_by(row, |a, b| a > b),
            false => first_by(row, |a, b| a < b),
        };
        if let [value, place] = out {
            *value = row[at];
            *place = C::from_i64(at as i64);
        } else {
            out[0] = C::from_i64(at as i64);
        }
    }
    if x.is_float() {
        call.reduce(x, &along, outputs, move |row: &[f64], out| {
            compute(row, out, wants_larger)
        })
    } else {
        call.reduce(x, &along, outputs, move |row: &[i64], out| {
            compute(row, out, wants_larger)
        })
    }
}

/// The mean and the sum of squared distances from it.
fn spread(row: &[f64]) -> (f64, f64) {
    let mean = row.iter().sum::<f64>() / row.len() as f64;
    (mean, row.iter().map(|it| (it - mean) * (it - mean)).sum())
}

fn variance(row: &[f64], correction: f64) -> f64 {
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
    along: &[usize],
    outputs: Vec<Operand>,
    skips: bool,
) -> Outcome {
    fn put<C: Number>(row: &[C], out: &mut [C], skips: bool) {
        let (value, at) = median(row, skips);
        out[0] = value;
        if let [_, place] = out {
            *place = C::from_i64(at as i64);
        }
    }
    if x.is_float() {
        call.reduce(x, along, outputs, move |row: &[f64], out| {
            put(row, out, skips)
        })
    } else {
        call.reduce(x, along, outputs, move |row: &[i64], out| {
            put(row, out, skips)
        })
    }
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
    let along = dimension(along, x.rank())?;
    let last: Vec<usize> = if x.rank() == 0 {
        Vec::new()
    } else {
        vec![along]
    };
    let length = x.shape().get(along).copied().unwrap_or(1).max(1);
    let outputs: Vec<Operand> = outputs.iter().map(|it| it.with_last(&last)).collect();
    let number = outputs.len();
    call.dense(
        vec![x.with_last(&last)],
        outputs,
        x.elements() as u64,
        move |values: &[Vec<C>]| {
            let mut results = vec![Vec::with_capacity(values[0].len()); number];
            for row in values[0].chunks(length) {
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

fn extremes_so_far(
    call: &mut Call,
    [x, out, places]: [usize; 3],
    along: i64,
    wants_larger: bool,
) -> Outcome {
    let x = call.input(x)?;
    let outputs = vec![call.output(out)?, call.output(places)?];
    fn compute<C: Number>(row: &[C], out: &mut [Vec<C>], wants_larger: bool) {
        match wants_larger {
            true => running_extreme(row, out, |a, b| a >= b),
            false => running_extreme(row, out, |a, b| a <= b),
        }
    }
    if x.is_float() {
        scan(call, &x, along, outputs, move |row: &[f64], out| {
            compute(row, out, wants_larger)
        })
    } else {
        scan(call, &x, along, outputs, move |row: &[i64], out| {
            compute(row, out, wants_larger)
        })
    }
}

fn sums_so_far(call: &mut Call, x: &Operand, along: i64, out: Operand) -> Outcome {
    if x.is_float() || out.is_float() {
        scan(call, x, along, vec![out], |row: &[f64], out| {
            running(row, out, |a, b| a + b)
        })
    } else {
        scan(call, x, along, vec![out], |row: &[i64], out| {
            running(row, out, i64::wrapping_add)
        })
    }
}

fn products_so_far(call: &mut Call, x: &Operand, along: i64, out: Operand) -> Outcome {
    if x.is_float() || out.is_float() {
        scan(call, x, along, vec![out], |row: &[f64], out| {
            running(row, out, |a, b| a * b)
        })
    } else {
        scan(call, x, along, vec![out], |row: &[i64], out| {
            running(row, out, i64::wrapping_mul)
        })
    }
}

operators! {
    aclnnReduceSum |call, x: In, along_: IntegerArray, _keep: bool, _kind: i32, out: Written| {
        along(call, [x, along_, out], |row| row.iter().sum(), sum_of_integers)
    };
    aclnnReduceNansum |call, x: In, along_: IntegerArray, _keep: bool, _kind: i32, out: Written| {
        along(call, [x, along_, out], |row| row.iter().filter(|it| !it.is_nan()).sum(), sum_of_integers)
    };
    aclnnMean |call, x: In, along_: IntegerArray, _keep: bool, _kind: i32, out: Written| {
        fraction(call, [x, along_, out], |row| row.iter().sum::<f64>() / row.len() as f64)
    };
    aclnnMeanV2 |call, x: In, along_: IntegerArray, _keep: bool, _skip: bool, out: Written| {
        fraction(call, [x, along_, out], |row| row.iter().sum::<f64>() / row.len() as f64)
    };
    aclnnProd |call, x: In, _kind: i32, out: Written| {
        along(call, [x, 0, out], |row| row.iter().product(), product_of_integers)
    };
    aclnnProdDim |call, x: In, dim: i64, _keep: bool, _kind: i32, out: Written| {
        let (x, out) = (call.input(x)?, call.output(out)?);
        let along = dimensions(&[dim], x.rank())?;
        by_kind(call, &x, &along, out, |row| row.iter().product(), product_of_integers)
    };
    aclnnMax |call, x: In, out: Written| along(call, [x, 0, out], largest, most);
    aclnnMin |call, x: In, out: Written| along(call, [x, 0, out], smallest, least);
    aclnnAmax |call, x: In, along_: IntegerArray, _keep: bool, out: Written| along(call, [x, along_, out], largest, most);
    aclnnAmin |call, x: In, along_: IntegerArray, _keep: bool, out: Written| along(call, [x, along_, out], smallest, least);
    aclnnAminmaxAll |call, x: In, low: Written, high: Written| {
        along(call, [x, 0, low], smallest, least)?;
        along(call, [x, 0, high], largest, most)
    };
    aclnnAminmax |call, x: In, dims: IntegerArray, _keep: bool, low: Written, high: Written| {
        along(call, [x, dims, low], smallest, least)?;
        along(call, [x, dims, high], largest, most)
    };
    aclnnAminmaxDim |call, x: In, dim: i64, _keep: bool, low: Written, high: Written| {
        let (x, low, high) = (call.input(x)?, call.output(low)?, call.output(high)?);
        let dims = dimensions(&[dim], x.rank())?;
        by_kind(call, &x, &dims, low, smallest, least)?;
        by_kind(call, &x, &dims, high, largest, most)
    };
    aclnnMaxDim |call, x: In, dim: i64, _keep: bool, out: Written, places: Written| {
        let x = call.input(x)?;
        let outputs = vec![call.output(out)?, call.output(places)?];
        extreme(call, &x, dim, outputs, true)
    };
    aclnnMinDim |call, x: In, dim: i64, _keep: bool, out: Written, places: Written| {
        let x = call.input(x)?;
        let outputs = vec![call.output(out)?, call.output(places)?];
        extreme(call, &x, dim, outputs, false)
    };
    aclnnArgMax |call, x: In, dim: i64, _keep: bool, out: Written| {
        let (x, out) = (call.input(x)?, call.output(out)?);
        extreme(call, &x, dim, vec![out], true)
    };
    aclnnArgMin |call, x: In, dim: i64, _keep: bool, out: Written| {
        let (x, out) = (call.input(x)?, call.output(out)?);
        extreme(call, &x, dim, vec![out], false)
    };
    aclnnAll |call, x: In, along_: IntegerArray, _keep: bool, out: Written| {
        along(call, [x, along_, out],
            |row| f64::from(u8::from(row.iter().all(|it| *it != 0.0))),
            |row| i64::from(row.iter().all(|it| *it != 0)))
    };
    aclnnAny |call, x: In, along_: IntegerArray, _keep: bool, out: Written| {
        along(call, [x, along_, out],
            |row| f64::from(u8::from(row.iter().any(|it| *it != 0.0))),
            |row| i64::from(row.iter().any(|it| *it != 0)))
    };
    aclnnVar |call, x: In, along_: IntegerArray, unbiased: bool, _keep: bool, out: Written| {
        fraction(call, [x, along_, out], move |row| variance(row, f64::from(u8::from(unbiased))))
    };
    aclnnVarCorrection |call, x: In, along_: IntegerArray, correction: i64, _keep: bool, out: Written| {
        fraction(call, [x, along_, out], move |row| variance(row, correction as f64))
    };
    aclnnStd |call, x: In, along_: IntegerArray, correction: i64, _keep: bool, out: Written| {
        fraction(call, [x, along_, out], move |row| variance(row, correction as f64).sqrt())
    };
    aclnnVarMean |call, x: In, along_: IntegerArray, correction: i64, _keep: bool, variance_: Written, mean: Written| {
        fraction(call, [x, along_, variance_], move |row| variance(row, correction as f64))?;
        fraction(call, [x, along_, mean], |row| spread(row).0)
    };
    aclnnStdMeanCorrection |call, x: In, along_: IntegerArray, correction: i64, _keep: bool, deviation: Written, mean: Written| {
        fraction(call, [x, along_, deviation], move |row| variance(row, correction as f64).sqrt())?;
        fraction(call, [x, along_, mean], |row| spread(row).0)
    };
    aclnnLogSumExp |call, x: In, along_: IntegerArray, _keep: bool, out: Written| {
        fraction(call, [x, along_, out], |row| {
            let top = largest(row);
            if top.is_infinite() { top } else { top + row.iter().map(|it| (it - top).exp()).sum::<f64>().ln() }
        })
    };
    aclnnNorm |call, x: In, order: Scalar, along_: IntegerArray, _keep: bool, out: Written| {
        let order = crate::aclnn::call_wide::HostNumber::from(call.scalar(order)?).float;
        fraction(call, [x, along_, out], move |row| norm(row, order))
    };
    aclnnLinalgVectorNorm |call, x: In, order: Scalar, along_: IntegerArray, _keep: bool, _kind: i32, out: Written| {
        let order = crate::aclnn::call_wide::HostNumber::from(call.scalar(order)?).float;
        fraction(call, [x, along_, out], move |row| norm(row, order))
    };
    aclnnMedian |call, x: In, out: Written| {
        let (x, out) = (call.input(x)?, call.output(out)?);
        let all: Vec<usize> = (0..x.rank()).collect();
        median_of(call, &x, &all, vec![out], false)
    };
    aclnnNanMedian |call, x: In, out: Written| {
        let (x, out) = (call.input(x)?, call.output(out)?);
        let all: Vec<usize> = (0..x.rank()).collect();
        median_of(call, &x, &all, vec![out], true)
    };
    aclnnMedianDim |call, x: In, dim: i64, _keep: bool, out: Written, places: Written| {
        let x = call.input(x)?;
        let outputs = vec![call.output(out)?, call.output(places)?];
        let dims = dimensions(&[dim], x.rank())?;
        median_of(call, &x, &dims, outputs, false)
    };
    aclnnNanMedianDim |call, x: In, dim: i64, _keep: bool, out: Written, places: Written| {
        let x = call.input(x)?;
        let outputs = vec![call.output(out)?, call.output(places)?];
        let dims = dimensions(&[dim], x.rank())?;
        median_of(call, &x, &dims, outputs, true)
    };
    aclnnCumsum |call, x: In, dim: i64, _kind: i32, out: Written| {
        let (x, out) = (call.input(x)?, call.output(out)?);
        sums_so_far(call, &x, dim, out)
    };
    aclnnCumsumV2 |call, x: In, dim: i64, _exclusive: bool, _reverse: bool, out: Written| {
        let (x, out) = (call.input(x)?, call.output(out)?);
        sums_so_far(call, &x, dim, out)
    };
    aclnnCumprod |call, x: In, dim: Scalar, _kind: i32, out: Written| {
        let (x, out) = (call.input(x)?, call.output(out)?);
        let dim = call.given(dim, &[&x])?.integer;
        products_so_far(call, &x, dim, out)
    };
    aclnnInplaceCumprod |call, x: Written, dim: Scalar| {
        let x = call.in_place(x)?;
        let dim = call.given(dim, &[&x])?.integer;
        products_so_far(call, &x, dim, x.clone())
    };
    aclnnCummax |call, x: In, dim: i64, out: Written, places: Written| {
        extremes_so_far(call, [x, out, places], dim, true)
    };
    aclnnCummin |call, x: In, dim: i64, out: Written, places: Written| {
        extremes_so_far(call, [x, out, places], dim, false)
    };
    aclnnTrace |call, x: In, out: Written| {
        let (mut x, out) = (call.input(x)?, call.output(out)?);
        require(x.rank() == 2, "the input is no matrix")?;
        // The diagonal is a row of the matrix with steps that go down and to the right.
        x.view.strides = vec![x.view.strides[0] + x.view.strides[1]];
        x.view.shape = vec![x.view.shape[0].min(x.view.shape[1])];
        by_kind(call, &x, &[0], out, |row| row.iter().sum(), sum_of_integers)
    };
}
