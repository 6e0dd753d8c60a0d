//! Sequences of numbers, diagonals, running results and histograms.

use super::NamedOperator;
use crate::reductions::{extremes_so_far, scan};
use crate::sorting::histogram;
use softacl_base::arguments::Arguments;
use softacl_base::by_kind;
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::number::Number;
use softacl_base::status::{refuse, require};

pub(super) const OPERATORS: &[NamedOperator] = &[
    ("Cummin", |call, all| {
        let outputs = all.written(call)?;
        let [out, places] = &outputs[..] else {
            return refuse("there are not two outputs");
        };
        let (x, along) = (all.operand(call, 0)?, all.attributes.integer("axis", 0));
        extremes_so_far(call, &x, [out.clone(), places.clone()], along, false)
    }),
    ("Cumprod", |call, all| {
        running(call, all, 1, f64::times, i64::times)
    }),
    ("Cumsum", |call, all| {
        running(call, all, 0, f64::plus, i64::plus)
    }),
    // Elements on the diagonal of a square, and 0 elsewhere.
    ("Diag", |call, all| {
        let (x, out) = (all.operand(call, 0)?, call.output(all.output())?);
        let length = x.elements();
        require(out.elements() == length * length, NO_SQUARE)?;
        call.moved(&x, &out, move |at| {
            let (row, column) = (at / length, at % length);
            (row == column).then_some(row)
        })
    }),
    ("DiagPart", |call, all| {
        let (x, out) = (all.operand(call, 0)?, call.output(all.output())?);
        let length = out.elements();
        require(x.elements() == length * length, NO_SQUARE)?;
        call.moved(&x, &out, move |at| Some(at * (length + 1)))
    }),
    ("Histogram", |call, all| {
        let (x, out) = (all.operand(call, 0)?, call.output(all.output())?);
        let bins = all.attributes.integer("bins", 100);
        let bounds = ["min", "max"].map(|it| all.attributes.float(it));
        histogram(call, x, bins, bounds, out)
    }),
    ("LinSpace", |call, all| {
        let bounds = [all.operand(call, 0)?, all.operand(call, 1)?];
        let out = call.output(all.output())?;
        let count = out.elements();
        call.dense(bounds.into(), vec![out], 0, move |values: &[Vec<f64>]| {
            let (from, to) = (values[0][0], values[1][0]);
            let step = (to - from) / (count.max(2) - 1) as f64;
            let each = |at: usize| match at + 1 == count && count > 1 {
                true => to,
                false => from + step * at as f64,
            };
            vec![(0..count).map(each).collect()]
        })
    }),
    // The inputs are the begin, the end and the step. The output has as many elements as there are.
    ("Range", |call, all| {
        let numbers = [all.operand(call, 0)?, all.operand(call, 2)?];
        let out = call.output(all.output())?;
        let count = out.elements();
        by_kind!(out.is_float(), C => call.dense(numbers.into(), vec![out], 0, move |values: &[Vec<C>]| {
            let each = |at: usize| values[0][0].plus(values[1][0].times(C::from_i64(at as i64)));
            vec![(0..count).map(each).collect()]
        }))
    }),
    ("Trace", |call, all| {
        let (x, out) = (all.operand(call, 0)?, call.output(all.output())?);
        let &[rows, columns] = x.shape() else {
            return softacl_base::status::refuse("the tensor is no matrix");
        };
        by_kind!(out.is_float(), C => call.dense(vec![x], vec![out], 0, move |values: &[Vec<C>]| {
            let diagonal = (0..rows.min(columns)).map(|at| values[0][at * (columns + 1)]);
            vec![vec![diagonal.fold(C::default(), C::plus)]]
        }))
    }),
];

const NO_SQUARE: &str = "the output's shape is not that of the result";

/// Running results along a dimension. They may leave out the element itself, and may begin at the end.
fn running(
    call: &mut Call,
    all: &Arguments<'_>,
    first: i64,
    float: fn(f64, f64) -> f64,
    integer: fn(i64, i64) -> i64,
) -> Outcome {
    fn along<C: Number>(row: &[C], flags: [bool; 2], first: C, next: fn(C, C) -> C) -> Vec<C> {
        let [is_exclusive, is_reverse] = flags;
        let mut found = vec![first; row.len()];
        let mut so_far = first;
        for number in 0..row.len() {
            let at = if is_reverse {
                row.len() - 1 - number
            } else {
                number
            };
            let with_it = next(so_far, row[at]);
            found[at] = if is_exclusive { so_far } else { with_it };
            so_far = with_it;
        }
        found
    }

    let (x, out) = (all.operand(call, 0)?, call.output(all.output())?);
    let dim = all.integers(1).first().copied();
    let dim = dim.unwrap_or_else(|| all.attributes.integer("axis", 0));
    let flags = ["exclusive", "reverse"].map(|it| all.attributes.integer(it, 0) != 0);
    match x.is_float() || out.is_float() {
        true => scan(call, &x, dim, vec![out], move |row: &[f64], out| {
            out[0].extend(along(row, flags, first as f64, float));
        }),
        false => scan(call, &x, dim, vec![out], move |row: &[i64], out| {
            out[0].extend(along(row, flags, first, integer));
        }),
    }
}
