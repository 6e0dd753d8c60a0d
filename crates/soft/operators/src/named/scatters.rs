//! Operators that pick or change parts of a tensor by coordinates, rows or segments.

use super::NamedOperator;
use super::updates::put;
use crate::indices::{change_parts, change_rows, parts, segments};
use softacl_base::arguments::Arguments;
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::formula::number;

/// What happens to an element, as `change_parts` counts it.
const REPLACED: i64 = 0;
const ADDED: i64 = 1;
const MULTIPLIED: i64 = 2;
const LARGER: i64 = 3;
const SMALLER: i64 = 4;
const TAKEN_AWAY: i64 = 5;

pub(super) const OPERATORS: &[NamedOperator] = &[
    ("GatherNd", |call, all| {
        let (x, index) = (all.operand(call, 0)?, all.operand(call, 1)?);
        let out = call.output(all.output())?;
        parts(call, &x, index, &out)
    }),
    // The inputs are the tensor, the rows' numbers, the values, and a factor that may be missing.
    ("InplaceIndexAdd", |call, all| {
        let x = call.in_place(all.input(0))?;
        let (index, mut values) = (all.operand(call, 1)?, all.operand(call, 2)?);
        if let Some(factor) = all.optional(call, 3)? {
            let scaled = call.temporary(values.view.kind, values.shape());
            let formula = number(|[x, by]| x * by, |[x, by]: [i64; 2]| x.wrapping_mul(by));
            call.each(formula, [&values, &factor.shaped(&[])?], &scaled)?;
            values = scaled;
        }
        let along = all.attributes.integer("axis", 0);
        change_rows(call, &x, [index, values], [along, ADDED], &x)?;
        put(call, all, &[x])
    }),
    ("ScatterAdd", rows_in_place::<ADDED>),
    // The inputs are the coordinates and the values. Places without a value are 0.
    ("ScatterNd", |call, all| {
        let (index, values) = (all.operand(call, 0)?, all.operand(call, 1)?);
        let out = call.output(all.output())?;
        let empty = call.temporary(out.view.kind, out.shape());
        call.each(number(|[]| 0.0, |[]| 0), [], &empty)?;
        change_parts(call, &empty, [index, values], ADDED, &out)
    }),
    ("ScatterNdAdd", parts_in_place::<ADDED>),
    ("ScatterNdSub", parts_in_place::<TAKEN_AWAY>),
    ("ScatterNdUpdate", parts_in_place::<REPLACED>),
    ("ScatterSub", rows_in_place::<TAKEN_AWAY>),
    ("ScatterUpdate", rows_in_place::<REPLACED>),
    ("TensorScatterAdd", changed_parts::<ADDED>),
    ("TensorScatterMax", changed_parts::<LARGER>),
    ("TensorScatterMin", changed_parts::<SMALLER>),
    ("TensorScatterMul", changed_parts::<MULTIPLIED>),
    ("TensorScatterSub", changed_parts::<TAKEN_AWAY>),
    ("TensorScatterUpdate", changed_parts::<REPLACED>),
    ("UnsortedSegmentMax", by_segment::<LARGER, 0>),
    ("UnsortedSegmentMin", by_segment::<SMALLER, 0>),
    ("UnsortedSegmentProd", by_segment::<MULTIPLIED, 1>),
    ("UnsortedSegmentSum", by_segment::<ADDED, 0>),
];

fn changed_parts<const CHANGE: i64>(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let [x, index, values] = [0, 1, 2].map(|it| all.operand(call, it));
    let out = call.output(all.output())?;
    change_parts(call, &x?, [index?, values?], CHANGE, &out)
}

fn parts_in_place<const CHANGE: i64>(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let x = call.in_place(all.input(0))?;
    let (index, values) = (all.operand(call, 1)?, all.operand(call, 2)?);
    change_parts(call, &x, [index, values], CHANGE, &x)?;
    put(call, all, &[x])
}

fn rows_in_place<const CHANGE: i64>(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let x = call.in_place(all.input(0))?;
    let (index, values) = (all.operand(call, 1)?, all.operand(call, 2)?);
    change_rows(call, &x, [index, values], [0, CHANGE], &x)?;
    put(call, all, &[x])
}

/// `EMPTY` is the number of an empty segment, where that is not an extreme.
fn by_segment<const CHANGE: i64, const EMPTY: i64>(
    call: &mut Call,
    all: &Arguments<'_>,
) -> Outcome {
    let (x, index) = (all.operand(call, 0)?, all.operand(call, 1)?);
    let out = call.output(all.output())?;
    segments(call, [x, index], [CHANGE, EMPTY], &out)
}
