//! Sums, means, extremes and norms along dimensions.

use super::NamedOperator;
use crate::reductions::{
    along, extreme, fraction, largest, least, log_of_exponentials, most, norm, product_of_integers,
    smallest, spread, sum_of_integers, variance,
};
use softacl_base::arguments::Arguments;
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::dense::dimensions;
use softacl_base::formula::float;
use softacl_base::operand::Operand;
use softacl_base::status::refuse;

pub(super) const OPERATORS: &[NamedOperator] = &[
    ("ArgMaxV2", |call, all| {
        extreme_place(call, all, all.integers(1), true)
    }),
    ("ArgMaxWithValue", |call, all| {
        extreme_value(call, all, true)
    }),
    ("ArgMin", |call, all| {
        extreme_place(call, all, all.integers(1), false)
    }),
    ("ArgMinWithValue", |call, all| {
        extreme_value(call, all, false)
    }),
    ("LpNorm", |call, all| {
        let (x, out) = both(call, all)?;
        let power = all.attributes.integer("p", 2) as f64;
        let least = all.attributes.float_or("epsilon", 1e-12);
        fraction(
            call,
            &x,
            &all.attributes.integers("axes"),
            out,
            move |row| norm(row, power).max(least),
        )
    }),
    ("LpNormReduceV2", |call, all| {
        let (x, out) = (call.input(all.input(0))?, call.output(all.output())?);
        let along = dimensions(&all.attributes.integers("axes"), x.rank())?;
        let power = power(all);
        call.reduce(&x, &along, vec![out], move |row: &[f64], out| {
            out[0] = match power {
                power if power == 0.0 || power.is_infinite() => norm(row, power),
                power => row.iter().map(|it| it.abs().powf(power)).sum(),
            }
        })
    }),
    ("LpNormUpdateV2", |call, all| {
        let (x, out) = (call.input(all.input(0))?, call.output(all.output())?);
        let power = match power(all) {
            power if power == 0.0 || power.is_infinite() => 1.0,
            power => power.recip(),
        };
        call.each(float(move |[x]| x.powf(power)), [&x], &out)
    }),
    ("ReduceLogSumExp", |call, all| {
        let (x, out) = both(call, all)?;
        fraction(call, &x, &axes(all), out, log_of_exponentials)
    }),
    ("ReduceMax", |call, all| {
        let (x, out) = both(call, all)?;
        along(call, &x, &axes(all), out, largest, most)
    }),
    ("ReduceMean", mean),
    ("ReduceMeanD", mean),
    ("ReduceMin", |call, all| {
        let (x, out) = both(call, all)?;
        along(call, &x, &axes(all), out, smallest, least)
    }),
    ("ReduceProd", |call, all| {
        let (x, out) = both(call, all)?;
        along(
            call,
            &x,
            &axes(all),
            out,
            |row| row.iter().product(),
            product_of_integers,
        )
    }),
    // The second output is the mean.
    ("ReduceStd", |call, all| {
        let outputs = all.written(call)?;
        let [deviation, mean] = &outputs[..] else {
            return refuse("there are not two outputs");
        };
        let (x, dims) = (all.operand(call, 0)?, all.attributes.integers("dim"));
        let correction = all.attributes.integer("unbiased", 1) as f64;
        fraction(call, &x, &dims, deviation.clone(), move |row| {
            variance(row, correction).sqrt()
        })?;
        fraction(call, &x, &dims, mean.clone(), |row| spread(row).0)
    }),
    // The second input is the mean.
    ("ReduceStdWithMean", |call, all| {
        let (x, out) = both(call, all)?;
        let is_unbiased = all.attributes.integer("unbiased", 1);
        let given = all.attributes.integer("correction", is_unbiased) as f64;
        let is_inverse = all.attributes.integer("invert", 0) != 0;
        let eps = all.attributes.float("epsilon");
        fraction(call, &x, &all.attributes.integers("dim"), out, move |row| {
            let deviation = variance(row, given).sqrt();
            match is_inverse {
                true => (deviation + eps).recip(),
                false => deviation,
            }
        })
    }),
    ("ReduceStdV2Update", |call, all| {
        let (x, out) = both(call, all)?;
        let is_unbiased = all.attributes.integer("unbiased", 1) != 0;
        let is_deviation = all.attributes.integer("if_std", 0) != 0;
        let correction = f64::from(u8::from(is_unbiased));
        fraction(call, &x, &all.attributes.integers("dim"), out, move |row| {
            let variance = variance(row, correction);
            if is_deviation {
                variance.sqrt()
            } else {
                variance
            }
        })
    }),
    ("ReduceSum", |call, all| {
        let (x, out) = both(call, all)?;
        along(
            call,
            &x,
            &axes(all),
            out,
            |row| row.iter().sum(),
            sum_of_integers,
        )
    }),
    // The sum of squares of some dimensions, or of all.
    ("SquareSumV1", |call, all| {
        let (x, out) = both(call, all)?;
        fraction(call, &x, &all.attributes.integers("axis"), out, squares)
    }),
    // The same of two tensors.
    ("SquareSumAll", |call, all| {
        let [one, other] = super::two_outputs(call, all)?;
        for (index, out) in [one, other].into_iter().enumerate() {
            let x = all.operand(call, index)?;
            fraction(call, &x, &[], out, squares)?;
        }
        Ok(())
    }),
];

fn squares(row: &[f64]) -> f64 {
    row.iter().map(|it| it * it).sum()
}

fn both(call: &mut Call, all: &Arguments<'_>) -> Outcome<(Operand, Operand)> {
    Ok((all.operand(call, 0)?, call.output(all.output())?))
}

/// The dimensions are the second input, or an attribute.
fn axes(all: &Arguments<'_>) -> Vec<i64> {
    match all.integers(1) {
        given if given.is_empty() => all.attributes.integers("axes"),
        given => given,
    }
}

fn mean(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let (x, out) = both(call, all)?;
    fraction(call, &x, &axes(all), out, |row| {
        row.iter().sum::<f64>() / row.len() as f64
    })
}

fn extreme_place(
    call: &mut Call,
    all: &Arguments<'_>,
    dims: Vec<i64>,
    wants_larger: bool,
) -> Outcome {
    let (x, out) = both(call, all)?;
    let dim = dims.first().copied().unwrap_or(0);
    extreme(call, &x, dim, vec![out], wants_larger)
}

/// The outputs are the place and the value.
fn extreme_value(call: &mut Call, all: &Arguments<'_>, wants_larger: bool) -> Outcome {
    let x = all.operand(call, 0)?;
    let [place, value] = super::two_outputs(call, all)?;
    let dim = all.attributes.integer("dimension", 0);
    extreme(call, &x, dim, vec![value, place], wants_larger)
}

/// The power of a norm; the largest and the smallest integer mean infinities.
fn power(all: &Arguments<'_>) -> f64 {
    match all.attributes.float("p") {
        power if power >= f64::from(i32::MAX) => f64::INFINITY,
        power if power <= f64::from(i32::MIN) => f64::NEG_INFINITY,
        power => power,
    }
}
