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
    ("ScatterAdd", |call, all| rows_in_place(call, all, ADDED)),
    // The inputs are the coordinates and the values. Places without a value are 0.
    ("ScatterNd", |call, all| {
        let (index, values) = (all.operand(call, 0)?, all.operand(call, 1)?);
        let out = call.output(all.output())?;
        let empty = call.temporary(out.view.kind, out.shape());
        call.each(number(|[]| 0.0, |[]| 0), [], &empty)?;
        change_parts(call, &empty, [index, values], ADDED, &out)
    }),
    ("ScatterNdAdd", |call, all| parts_in_place(call, all, ADDED)),
    ("ScatterNdSub", |call, all| {
        parts_in_place(call, all, TAKEN_AWAY)
    }),
    ("ScatterNdUpdate", |call, all| {
        parts_in_place(call, all, REPLACED)
    }),
    ("ScatterSub", |call, all| {
        rows_in_place(call, all, TAKEN_AWAY)
    }),
    ("ScatterUpdate", |call, all| {
        rows_in_place(call, all, REPLACED)
    }),
    ("TensorScatterAdd", |call, all| {
        changed_parts(call, all, ADDED)
    }),
    ("TensorScatterMax", |call, all| {
        changed_parts(call, all, LARGER)
    }),
    ("TensorScatterMin", |call, all| {
        changed_parts(call, all, SMALLER)
    }),
    ("TensorScatterMul", |call, all| {
        changed_parts(call, all, MULTIPLIED)
    }),
    ("TensorScatterSub", |call, all| {
        changed_parts(call, all, TAKEN_AWAY)
    }),
    ("TensorScatterUpdate", |call, all| {
        changed_parts(call, all, REPLACED)
    }),
    ("UnsortedSegmentMax", |call, all| {
        by_segment(call, all, [LARGER, 0])
    }),
    ("UnsortedSegmentMin", |call, all| {
        by_segment(call, all, [SMALLER, 0])
    }),
    ("UnsortedSegmentProd", |call, all| {
        by_segment(call, all, [MULTIPLIED, 1])
    }),
    ("UnsortedSegmentSum", |call, all| {
        by_segment(call, all, [ADDED, 0])
    }),
];

fn changed_parts(call: &mut Call, all: &Arguments<'_>, change: i64) -> Outcome {
    let [x, index, values] = [0, 1, 2].map(|it| all.operand(call, it));
    let out = call.output(all.output())?;
    change_parts(call, &x?, [index?, values?], change, &out)
}

fn parts_in_place(call: &mut Call, all: &Arguments<'_>, change: i64) -> Outcome {
    let x = call.in_place(all.input(0))?;
    let (index, values) = (all.operand(call, 1)?, all.operand(call, 2)?);
    change_parts(call, &x, [index, values], change, &x)?;
    put(call, all, &[x])
}

fn rows_in_place(call: &mut Call, all: &Arguments<'_>, change: i64) -> Outcome {
    let x = call.in_place(all.input(0))?;
    let (index, values) = (all.operand(call, 1)?, all.operand(call, 2)?);
    change_rows(call, &x, [index, values], [0, change], &x)?;
    put(call, all, &[x])
}

/// The last of the numbers is that of an empty segment, where it is not an extreme.
fn by_segment(call: &mut Call, all: &Arguments<'_>, change: [i64; 2]) -> Outcome {
    let (x, index) = (all.operand(call, 0)?, all.operand(call, 1)?);
    let out = call.output(all.output())?;
    segments(call, [x, index], change, &out)
}
