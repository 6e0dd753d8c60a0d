//! Operators that put elements in order, or count them.

use std::cmp::Ordering;

use super::reductions::{is_nan, put};
use crate::parameters::{Input, Optional, Output, Scalar, Written};
use softacl_base::by_kind;
use softacl_base::call::Call;
use softacl_base::call_wide::HostNumber;
use softacl_base::code::Outcome;
use softacl_base::data_type::DataType;
use softacl_base::dense::dimension;
use softacl_base::formula::truth;
use softacl_base::number::Number;
use softacl_base::objects;
use softacl_base::operand::Operand;
use softacl_base::status::require;

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

/// The first elements of each row in order, and their places: as many as the outputs have room for.
pub(super) fn sorted(
    call: &mut Call,
    x: &Operand,
    outputs: [Operand; 2],
    along: i64,
    descending: bool,
) -> Outcome {
    let (last, length) = x.rows_along(along)?;
    let (_, wanted) = outputs[0].rows_along(along)?;
    require(wanted <= length, "the output is longer than the input")?;
    let outputs = outputs.iter().map(|it| it.with_last(&last)).collect();
    let (x, operations) = (x.with_last(&last), x.elements() as u64 * 8);
    by_kind!(x.is_float(), C => call.dense(vec![x], outputs, operations, move |values: &[Vec<C>]| {
        let (mut results, mut found) = (Vec::new(), Vec::new());
        for row in values[0].chunks(length.max(1)) {
            for at in ordered(row, descending).into_iter().take(wanted) {
                results.push(row[at]);
                found.push(C::from_i64(at as i64));
            }
        }
        vec![results, found]
    }))
}

/// The smallest elements but k - 1, one of each row.
fn smallest_but(
    call: &mut Call,
    x: &Operand,
    outputs: Vec<Operand>,
    k: i64,
    along: i64,
) -> Outcome {
    let (dims, length) = x.rows_along(along)?;
    require(k >= 1 && k as usize <= length, "the row has fewer elements")?;
    let k = k as usize - 1;
    by_kind!(x.is_float(), C => call.reduce(x, &dims, outputs, move |row: &[C], out| {
        put(row, ordered(row, false)[k], out);
    }))
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
fn distinct(call: &mut Call, x: Operand, handles: [usize; 3], in_order: bool) -> Outcome {
    by_kind!(x.is_float(), C => distinct_in::<C>(call, x, handles, in_order))
}

fn distinct_in<C: Number>(
    call: &mut Call,
    x: Operand,
    [out, inverse, counts]: [usize; 3],
    in_order: bool,
) -> Outcome {
    let found = call.output(out)?;
    let (shape, begin) = (x.shape().to_vec(), call.mark());
    let numbers = |given: Vec<i64>| given.into_iter().map(C::from_i64).collect::<Vec<C>>();
    call.found(
        vec![x.clone()],
        found,
        objects::tensor(out)?,
        move |values: &[Vec<C>]| {
            let values = groups(&values[0], in_order).values;
            let number = values.len();
            (values, vec![number])
        },
    )?;
    if let Some(places) = call
        .wanted(inverse)?
        .filter(|it| it.elements() == x.elements())
    {
        let tensor = objects::tensor(inverse)?;
        call.found(
            vec![x.clone()],
            places,
            tensor,
            move |values: &[Vec<C>]| (numbers(groups(&values[0], in_order).inverse), shape.clone()),
        )?;
    }
    if let Some(sizes) = call.wanted(counts)? {
        call.found(
            vec![x],
            sizes,
            objects::tensor(counts)?,
            move |values: &[Vec<C>]| {
                let counts = groups(&values[0], in_order).counts;
                let number = counts.len();
                (numbers(counts), vec![number])
            },
        )?;
    }
    call.join(begin);
    Ok(())
}

/// The slices of a tensor across a dimension that differ: in order, or as they come first. The outputs are these slices, for each
/// slice the number of its equal one, and the count of each.
pub(super) fn distinct_slices(
    call: &mut Call,
    (x, along): (&Operand, i64),
    handles: [usize; 3],
    in_order: bool,
) -> Outcome {
    by_kind!(x.is_float(), C => distinct_slices_in::<C>(call, (x, along), handles, in_order))
}

fn distinct_slices_in<C: Number>(
    call: &mut Call,
    (x, along): (&Operand, i64),
    handles: [usize; 3],
    in_order: bool,
) -> Outcome {
    let along = dimension(along, x.rank())?;
    let length = x.shape().get(along).copied().unwrap_or(1);
    let rest: Vec<usize> = (0..x.rank()).filter(|it| *it != along).collect();
    let inner: usize = x.shape().iter().skip(along + 1).product();
    let (slices, begin) = (x.with_last(&rest), call.mark());
    for (which, handle) in handles.into_iter().enumerate() {
        let Some(out) = call.wanted(handle)? else {
            continue;
        };
        let (shape, tensor) = (x.shape().to_vec(), objects::tensor(handle)?);
        call.found(
            vec![slices.clone()],
            out,
            tensor,
            move |values: &[Vec<C>]| {
                let size = values[0].len() / length.max(1);
                let slice = |at: usize| &values[0][at * size..][..size];
                let found = equal_slices(length, in_order, slice);
                let count = found.values.len();
                let integers = |given: &[i64]| given.iter().copied().map(C::from_i64).collect();
                match which {
                    0 => {
                        let mut shape = shape.clone();
                        if let Some(own) = shape.get_mut(along) {
                            *own = count;
                        }
                        let mut elements = Vec::with_capacity(count * size);
                        for first in (0..size).step_by(inner.max(1)) {
                            for at in &found.values {
                                elements.extend_from_slice(&slice(*at)[first..first + inner]);
                            }
                        }
                        (elements, shape)
                    }
                    1 => (integers(&found.inverse), vec![length]),
                    _ => (integers(&found.counts), vec![count]),
                }
            },
        )?;
    }
    call.join(begin);
    Ok(())
}

/// The first of each set of equal slices, in the order that is wanted.
fn equal_slices<'v, C: Number>(
    length: usize,
    in_order: bool,
    slice: impl Fn(usize) -> &'v [C],
) -> UniqueValues<usize> {
    let compare = |a: usize, b: usize| {
        let mut pairs = slice(a).iter().zip(slice(b));
        let found = pairs.find_map(|(a, b)| Some(order(*a, *b)).filter(|it| it.is_ne()));
        found.unwrap_or(Ordering::Equal)
    };
    let mut places: Vec<usize> = (0..length).collect();
    places.sort_by(|a, b| compare(*a, *b));
    let mut runs: Vec<Vec<usize>> = Vec::new();
    for at in places {
        match runs.last_mut() {
            Some(run) if compare(run[0], at).is_eq() => run.push(at),
            _ => runs.push(vec![at]),
        }
    }
    if !in_order {
        // The sort has kept the order of equal slices.
        runs.sort_by_key(|run| run[0]);
    }
    let mut found = UniqueValues {
        values: Vec::new(),
        inverse: vec![0; length],
        counts: Vec::new(),
    };
    for (number, run) in (0..).zip(&runs) {
        found.values.push(run[0]);
        found.counts.push(run.len() as i64);
        run.iter().for_each(|at| found.inverse[*at] = number);
    }
    found
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

/// How many elements are in each of some equal parts between two bounds. Equal bounds mean those of the elements.
pub(super) fn histogram(
    call: &mut Call,
    x: Operand,
    bins: i64,
    bounds: [f64; 2],
    out: Operand,
) -> Outcome {
    let bins = bins.max(1) as usize;
    call.dense(vec![x], vec![out], 0, move |values: &[Vec<f64>]| {
        let [mut least, mut most] = bounds;
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
}

operators! {
    aclnnSort |call, x: Input, _stable: bool, along: i64, descending: bool, out: Output, places: Output| {
        sorted(call, &x, [out, places], along, descending)
    };
    aclnnTopk |call, x: Input, _k: i64, along: i64, largest: bool, _sorted: bool, out: Output, places: Output| {
        sorted(call, &x, [out, places], along, largest)
    };
    aclnnArgsort |call, x: Input, along: i64, descending: bool, places: Output| {
        let values = call.temporary(x.view.kind, x.shape());
        sorted(call, &x, [values, places], along, descending)
    };
    aclnnKthvalue |call, x: Input, k: i64, along: i64, _keep: bool, out: Output, places: Output| {
        smallest_but(call, &x, vec![out, places], k, along)
    };
    aclnnUnique |call, x: Input, _sorted: bool, with_inverse: bool, out: Written, inverse: Written| {
        distinct(call, x, [out, if with_inverse { inverse } else { 0 }, 0], true)
    };
    aclnnUnique2 |call, x: Input, _sorted: bool, with_inverse: bool, with_counts: bool, out: Written, inverse: Written, counts: Written| {
        distinct(call, x, [out, if with_inverse || with_counts { inverse } else { 0 }, if with_counts { counts } else { 0 }], true)
    };
    aclnnUniqueConsecutive |call, x: Input, with_inverse: bool, with_counts: bool, _along: i64, out: Written, inverse: Written, counts: Written| {
        distinct(call, x, [out, if with_inverse { inverse } else { 0 }, if with_counts { counts } else { 0 }], false)
    };
    aclnnSearchSorted |call, boundaries: Input, x: Input, _small: bool, right: bool, sorter: Optional, out: Output| {
        searched(call, boundaries, x, right, sorter, out)
    };
    aclnnSearchSorteds |call, boundaries: Input, x: Scalar, _small: bool, right: bool, sorter: Optional, out: Output| {
        let given = HostNumber::from(call.scalar(x)?).float;
        let x = call.temporary(DataType::F64, &[]);
        call.each(softacl_base::formula::float(move |[]| given), [], &x)?;
        searched(call, boundaries, x, right, sorter, out)
    };
    aclnnBincount |call, x: Input, weights: Optional, _least: i64, out: Output| {
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
    aclnnHistc |call, x: Input, bins: i64, least: Scalar, most: Scalar, out: Output| {
        let bounds = call.scalars_as_computed([least, most], &[&x])?.map(|it| it.float);
        histogram(call, x, bins, bounds, out)
    };
    aclnnIsInTensorScalar |call, x: Input, value: Scalar, _unique: bool, invert: bool, out: Output| {
        let value = call.compared(value, &[&x])?;
        call.each(truth(move |[x]| (x == value.float) != invert, move |[x]| (x == value.integer) != invert), [&x], &out)
    };
    aclnnEqual |call, a: Input, b: Input, out: Output| {
        let alike = a.shape() == b.shape();
        call.dense(vec![a, b], vec![out], 0, move |values: &[Vec<f64>]| {
            vec![vec![f64::from(u8::from(alike && values[0] == values[1]))]]
        })
    };
}
