//! Operators that put elements in order, or count them.

use std::cmp::Ordering;

use super::OptionalTensor;
use super::reductions::is_nan;
use crate::aclnn::call::Call;
use crate::aclnn::call_wide::HostNumber;
use crate::aclnn::data_type::DataType;
use crate::aclnn::dense::dimension;
use crate::aclnn::formula::truth;
use crate::aclnn::number::Number;
use crate::aclnn::object;
use crate::aclnn::operand::Operand;
use crate::aclnn::operators::{In, Scalar, Written};
use crate::aclnn::status::require;
use crate::code::Outcome;

/// NaN is larger than all others.
fn order<C: Number>(a: C, b: C) -> Ordering {
    a.partial_cmp(&b)
        .unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)))
}

/// The places of a row in order; equal ones stay in theirs.
fn ordered<C: Number>(row: &[C], descending: bool) -> Vec<usize> {
    let mut places: Vec<usize> = (0..row.len()).collect();
    places.sort_by(|a, b| match descending {
        true => order(row[*b], row[*a]),
        false => order(row[*a], row[*b]),
    });
    places
}

/// The first elements of each row in order, and their places.
fn sorted(call: &mut Call, [x, out, places]: [usize; 3], along: i64, descending: bool) -> Outcome {
    let (x, outputs) = (
        call.input(x)?,
        vec![call.output(out)?, call.output(places)?],
    );
    if x.is_float() {
        by_row(call, x, outputs, along, move |row: &[f64]| {
            ordered(row, descending)
        })
    } else {
        by_row(call, x, outputs, along, move |row: &[i64]| {
            ordered(row, descending)
        })
    }
}

/// As many places of each row as the outputs have room for.
fn by_row<C: Number>(
    call: &mut Call,
    x: Operand,
    outputs: Vec<Operand>,
    along: i64,
    places: impl Fn(&[C]) -> Vec<usize> + Send + Sync + 'static,
) -> Outcome {
    let along = dimension(along, x.rank())?;
    let last: Vec<usize> = if x.rank() == 0 {
        Vec::new()
    } else {
        vec![along]
    };
    let length = x.shape().get(along).copied().unwrap_or(1).max(1);
    let wanted = outputs
        .first()
        .map_or(0, |out| out.shape().get(along).copied().unwrap_or(1));
    require(wanted <= length, "the output is longer than the input")?;
    let outputs = outputs.iter().map(|it| it.with_last(&last)).collect();
    let operations = x.elements() as u64 * 8;
    call.dense(
        vec![x.with_last(&last)],
        outputs,
        operations,
        move |values: &[Vec<C>]| {
            let (mut results, mut found) = (Vec::new(), Vec::new());
            for row in values[0].chunks(length) {
                for at in places(row).into_iter().take(wanted) {
                    results.push(row[at]);
                    found.push(C::from_i64(at as i64));
                }
            }
            vec![results, found]
        },
    )
}

/// The smallest elements but k - 1, one of each row.
fn smallest_but(call: &mut Call, [x, out, places]: [usize; 3], k: i64, along: i64) -> Outcome {
    let x = call.input(x)?;
    let along = dimension(along, x.rank())?;
    let dims: Vec<usize> = if x.rank() == 0 {
        Vec::new()
    } else {
        vec![along]
    };
    let outputs = vec![call.output(out)?, call.output(places)?];
    let length = x.shape().get(along).copied().unwrap_or(1);
    require(
        k >= 1 && k as usize <= length,
        "the row has not so many elements",
    )?;
    let k = k as usize - 1;
    fn put<C: Number>(row: &[C], k: usize, out: &mut [C]) {
        let at = ordered(row, false)[k];
        out[0] = row[at];
        out[1] = C::from_i64(at as i64);
    }
    if x.is_float() {
        call.reduce(&x, &dims, outputs, move |row: &[f64], out| put(row, k, out))
    } else {
        call.reduce(&x, &dims, outputs, move |row: &[i64], out| put(row, k, out))
    }
}

/// Each value once: the values, for each element the number of its value, and the count of each.
struct UniqueValues<C> {
    values: Vec<C>,
    inverse: Vec<i64>,
    counts: Vec<i64>,
}

fn groups<C: Number>(row: &[C], in_order: bool) -> UniqueValues<C> {
    let places = if in_order {
        ordered(row, false)
    } else {
        (0..row.len()).collect()
    };
    let mut found = UniqueValues {
        values: Vec::new(),
        inverse: vec![0; row.len()],
        counts: Vec::new(),
    };
    for at in places {
        if found.values.last() == Some(&row[at]) {
            if let Some(count) = found.counts.last_mut() {
                *count += 1;
            }
        } else {
            found.values.push(row[at]);
            found.counts.push(1);
        }
        found.inverse[at] = found.values.len() as i64 - 1;
    }
    found
}

/// The values that differ: in order, or as they come.
fn distinct(call: &mut Call, [x, out, inverse, counts]: [usize; 4], in_order: bool) -> Outcome {
    let x = call.input(x)?;
    if x.is_float() {
        distinct_in::<f64>(call, x, [out, inverse, counts], in_order)
    } else {
        distinct_in::<i64>(call, x, [out, inverse, counts], in_order)
    }
}

fn distinct_in<C: Number>(
    call: &mut Call,
    x: Operand,
    [out, inverse, counts]: [usize; 3],
    in_order: bool,
) -> Outcome {
    let found = call.output(out)?;
    let begin = call.mark();
    call.found(
        vec![x.clone()],
        found,
        object::tensor(out)?,
        move |values: &[Vec<C>]| {
            let groups = groups(&values[0], in_order);
            let number = groups.values.len();
            (groups.values, vec![number])
        },
    )?;
    let shape = x.shape().to_vec();
    if inverse != 0 {
        let places = call.output(inverse)?;
        if places.elements() == x.elements() {
            let shape = shape.clone();
            call.found(
                vec![x.clone()],
                places,
                object::tensor(inverse)?,
                move |values: &[Vec<C>]| {
                    let inverse = groups(&values[0], in_order).inverse;
                    (
                        inverse.into_iter().map(C::from_i64).collect(),
                        shape.clone(),
                    )
                },
            )?;
        }
    }
    if counts != 0 {
        let numbers = call.output(counts)?;
        call.found(
            vec![x],
            numbers,
            object::tensor(counts)?,
            move |values: &[Vec<C>]| {
                let counts = groups(&values[0], in_order).counts;
                let number = counts.len();
                (counts.into_iter().map(C::from_i64).collect(), vec![number])
            },
        )?;
    }
    call.join(begin);
    Ok(())
}

/// Where values would go into rows that are in order.
fn searched(
    call: &mut Call,
    boundaries: Operand,
    x: Operand,
    right: bool,
    sorter: Option<Operand>,
    out: Operand,
) -> Outcome {
    let length = boundaries.shape().last().copied().unwrap_or(1).max(1);
    let is_one_row = boundaries.rank() <= 1;
    let columns = x.shape().last().copied().unwrap_or(1).max(1);
    let inputs = [boundaries, x].into_iter().chain(sorter).collect();
    call.dense(inputs, vec![out], 0, move |values: &[Vec<f64>]| {
        let each = |(index, x): (usize, &f64)| {
            let first = if is_one_row {
                0
            } else {
                index / columns * length
            };
            let row = &values[0][first..first + length];
            let at = |place: usize| {
                values
                    .get(2)
                    .map_or(row[place], |order| row[order[first + place] as usize])
            };
            let places: Vec<usize> = (0..length).collect();
            places.partition_point(|place| match order(at(*place), *x) {
                Ordering::Less => true,
                Ordering::Equal => right,
                Ordering::Greater => false,
            }) as f64
        };
        vec![values[1].iter().enumerate().map(each).collect()]
    })
}

operators! {
    aclnnSort |call, x: In, _stable: bool, along: i64, descending: bool, out: Written, places: Written| {
        sorted(call, [x, out, places], along, descending)
    };
    aclnnTopk |call, x: In, _k: i64, along: i64, largest: bool, _sorted: bool, out: Written, places: Written| {
        sorted(call, [x, out, places], along, largest)
    };
    aclnnArgsort |call, x: In, along: i64, descending: bool, places: Written| {
        let (x, places) = (call.input(x)?, call.output(places)?);
        let values = call.temporary(x.view.kind, x.shape());
        if x.is_float() {
            by_row(call, x, vec![values, places], along, move |row: &[f64]| ordered(row, descending))
        } else {
            by_row(call, x, vec![values, places], along, move |row: &[i64]| ordered(row, descending))
        }
    };
    aclnnKthvalue |call, x: In, k: i64, along: i64, _keep: bool, out: Written, places: Written| {
        smallest_but(call, [x, out, places], k, along)
    };
    aclnnUnique |call, x: In, _sorted: bool, with_inverse: bool, out: Written, inverse: Written| {
        distinct(call, [x, out, if with_inverse { inverse } else { 0 }, 0], true)
    };
    aclnnUnique2 |call, x: In, _sorted: bool, with_inverse: bool, with_counts: bool, out: Written, inverse: Written, counts: Written| {
        distinct(call, [x, out, if with_inverse || with_counts { inverse } else { 0 }, if with_counts { counts } else { 0 }], true)
    };
    aclnnUniqueConsecutive |call, x: In, with_inverse: bool, with_counts: bool, _along: i64, out: Written, inverse: Written, counts: Written| {
        distinct(call, [x, out, if with_inverse { inverse } else { 0 }, if with_counts { counts } else { 0 }], false)
    };
    aclnnSearchSorted |call, boundaries: In, x: In, _small: bool, right: bool, sorter: OptionalTensor, out: Written| {
        let (boundaries, x) = (call.input(boundaries)?, call.input(x)?);
        let (sorter, out) = (call.optional(sorter)?, call.output(out)?);
        searched(call, boundaries, x, right, sorter, out)
    };
    aclnnSearchSorteds |call, boundaries: In, x: Scalar, _small: bool, right: bool, sorter: OptionalTensor, out: Written| {
        let boundaries = call.input(boundaries)?;
        let given = HostNumber::from(call.scalar(x)?).float;
        let (sorter, out) = (call.optional(sorter)?, call.output(out)?);
        let x = call.temporary(DataType::F64, &[]);
        call.each(crate::aclnn::formula::float(move |[]| given), [], &x)?;
        searched(call, boundaries, x, right, sorter, out)
    };
    aclnnBincount |call, x: In, weights: OptionalTensor, _least: i64, out: Written| {
        let (x, weights, out) = (call.input(x)?, call.optional(weights)?, call.output(out)?);
        let bins = out.elements();
        let inputs = [x].into_iter().chain(weights).collect();
        call.dense(inputs, vec![out], 0, move |values: &[Vec<f64>]| {
            let mut sums = vec![0.0; bins];
            for (index, bin) in values[0].iter().enumerate() {
                if let Some(sum) = sums.get_mut(*bin as usize) {
                    *sum += values.get(1).map_or(1.0, |weights| weights[index]);
                }
            }
            vec![sums]
        })
    };
    aclnnHistc |call, x: In, bins: i64, least: Scalar, most: Scalar, out: Written| {
        let (x, out) = (call.input(x)?, call.output(out)?);
        let given = [call.given(least, &[&x])?.float, call.given(most, &[&x])?.float];
        let bins = bins.max(1) as usize;
        call.dense(vec![x], vec![out], 0, move |values: &[Vec<f64>]| {
            let [mut least, mut most] = given;
            if least == most {
                least = values[0].iter().copied().fold(f64::INFINITY, f64::min);
                most = values[0].iter().copied().fold(f64::NEG_INFINITY, f64::max);
            }
            if least == most {
                (least, most) = (least - 1.0, most + 1.0);
            }
            let mut counts = vec![0.0; bins];
            for x in values[0].iter().filter(|x| **x >= least && **x <= most) {
                let bin = ((x - least) / (most - least) * bins as f64) as usize;
                counts[bin.min(bins - 1)] += 1.0;
            }
            vec![counts]
        })
    };
    aclnnIsInTensorScalar |call, x: In, value: Scalar, _unique: bool, invert: bool, out: Written| {
        let (x, out) = (call.input(x)?, call.output(out)?);
        let value = call.compared(value, &[&x])?;
        call.each(truth(move |[x]| (x == value.float) != invert, move |[x]| (x == value.integer) != invert), [&x], &out)
    };
    aclnnEqual |call, a: In, b: In, out: Written| {
        let (a, b, out) = (call.input(a)?, call.input(b)?, call.output(out)?);
        let alike = a.shape() == b.shape();
        call.dense(vec![a, b], vec![out], 0, move |values: &[Vec<f64>]| {
            vec![vec![f64::from(u8::from(alike && values[0] == values[1]))]]
        })
    };
}
