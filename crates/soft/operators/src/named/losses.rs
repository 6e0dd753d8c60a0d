//! Losses and their gradients. The attribute `reduction` names the mean, the sum, or none.

use super::NamedOperator;
use crate::functions::{log_sigmoid, sigmoid, sign};
use crate::losses::{self, gradient, loss, smooth, smooth_slope};
use softacl_base::arguments::Arguments;
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::formula::float;
use softacl_base::operand::Operand;

pub(super) const OPERATORS: &[NamedOperator] = &[
    ("BinaryCrossEntropy", |call, all| {
        let [x, target, weight] = weighed(call, all, [0, 1, 2])?;
        let out = call.output(all.output())?;
        let formula = float(|[x, target, weight]| losses::cross_entropy(x, target, weight));
        loss(call, [&x, &target, &weight], reduction(all), &out, formula)
    }),
    ("BinaryCrossEntropyGrad", |call, all| {
        let [x, target, weight] = weighed(call, all, [0, 1, 3])?;
        let (grad, out) = (all.operand(call, 2)?, call.output(all.output())?);
        let inputs = [&grad, &x, &target, &weight];
        gradient(
            call,
            inputs,
            reduction(all),
            &out,
            |[grad, x, target, weight]| grad * losses::cross_entropy_slope(x, target, weight),
        )
    }),
    // The first input is a logarithm. The mean over the batch is a sum over a length.
    ("KLDiv", |call, all| {
        let (x, target) = (all.operand(call, 0)?, all.operand(call, 1)?);
        let out = call.output(all.output())?;
        let (reduction, scale) = by_batch(all, &x);
        let is_log = all.attributes.integer("log_target", 0) != 0;
        let formula = float(move |[x, target]| {
            scale
                * match is_log {
                    true => target.exp() * (target - x),
                    false if target > 0.0 => target * (target.ln() - x),
                    false => 0.0,
                }
        });
        loss(call, [&x, &target], reduction, &out, formula)
    }),
    ("KlDivLossGrad", |call, all| {
        let [grad, x, target] = three(call, all)?;
        let out = call.output(all.output())?;
        let (reduction, scale) = by_batch(all, &x);
        let is_log = all.attributes.integer("log_target", 0) != 0;
        let inputs = [&grad, &x, &target];
        gradient(call, inputs, reduction, &out, move |[grad, _, target]| {
            let share = if is_log {
                target.exp()
            } else {
                target.max(0.0)
            };
            -scale * grad * share
        })
    }),
    ("L1LossGrad", |call, all| {
        let [grad, x, target] = three(call, all)?;
        let out = call.output(all.output())?;
        gradient(
            call,
            [&grad, &x, &target],
            reduction(all),
            &out,
            |[grad, x, target]| grad * sign(x - target),
        )
    }),
    ("LpLoss", |call, all| {
        let (x, target) = (all.operand(call, 0)?, all.operand(call, 1)?);
        let out = call.output(all.output())?;
        let power = all.attributes.integer("p", 1) as f64;
        let formula = float(move |[x, target]| (x - target).abs().powf(power));
        loss(call, [&x, &target], reduction(all), &out, formula)
    }),
    ("MseLoss", |call, all| {
        let (x, target) = (all.operand(call, 0)?, all.operand(call, 1)?);
        let out = call.output(all.output())?;
        let formula = float(|[x, target]| (x - target) * (x - target));
        loss(call, [&x, &target], reduction(all), &out, formula)
    }),
    ("MseLossGrad", |call, all| {
        let [x, target, grad] = three(call, all)?;
        let out = call.output(all.output())?;
        gradient(
            call,
            [&grad, &x, &target],
            reduction(all),
            &out,
            |[grad, x, target]| 2.0 * grad * (x - target),
        )
    }),
    ("MultilabelMarginLoss", losses::multilabel_margin),
    ("NLLLoss", |call, all| {
        let total = all.outputs.get(1).copied().unwrap_or(0);
        let tensors = [
            all.input(0),
            all.input(1),
            all.input(2),
            all.output(),
            total,
        ];
        losses::likelihood(call, tensors, reduction(all), ignored(all))
    }),
    ("NLLLossGrad", |call, all| {
        let [x, grad, target, weight, total] = [0, 1, 2, 3, 4].map(|it| all.input(it));
        let tensors = [grad, x, target, weight, total, all.output()];
        losses::likelihood_gradient(call, tensors, reduction(all), ignored(all))
    }),
    ("SigmoidCrossEntropyWithLogitsV2", |call, all| {
        let [x, target, weight] = weighed(call, all, [0, 1, 2])?;
        let positive = or_one(call, all, 3)?;
        let out = call.output(all.output())?;
        let formula = float(|[x, target, weight, positive]| {
            let scale = 1.0 + (positive - 1.0) * target;
            weight * ((1.0 - target) * x - scale * log_sigmoid(x))
        });
        let inputs = [&x, &target, &weight, &positive];
        loss(call, inputs, reduction(all), &out, formula)
    }),
    ("SigmoidCrossEntropyWithLogitsGradV2", |call, all| {
        let [x, target, weight] = weighed(call, all, [0, 1, 3])?;
        let (grad, positive) = (all.operand(call, 2)?, or_one(call, all, 4)?);
        let out = call.output(all.output())?;
        let inputs = [&grad, &x, &target, &weight, &positive];
        gradient(
            call,
            inputs,
            reduction(all),
            &out,
            |[grad, x, target, weight, positive]| {
                let both = positive * target;
                grad * weight * ((both + 1.0 - target) * sigmoid(x) - both)
            },
        )
    }),
    ("SmoothL1LossV2", |call, all| {
        let (x, target) = (all.operand(call, 0)?, all.operand(call, 1)?);
        let out = call.output(all.output())?;
        let beta = all.attributes.float_or("sigma", 1.0);
        let formula = float(move |[x, target]| smooth(x - target, beta));
        loss(call, [&x, &target], reduction(all), &out, formula)
    }),
    ("SmoothL1LossGradV2", |call, all| {
        let [x, target, grad] = three(call, all)?;
        let out = call.output(all.output())?;
        let beta = all.attributes.float_or("sigma", 1.0);
        let slope = move |[grad, x, target]: [f64; 3]| grad * smooth_slope(x - target, beta);
        gradient(call, [&grad, &x, &target], reduction(all), &out, slope)
    }),
];

/// As `aclnn` numbers the reductions.
fn reduction(all: &Arguments<'_>) -> i64 {
    match all.attributes.text("reduction") {
        "none" => 0,
        "sum" => 2,
        _ => 1,
    }
}

/// The reduction, and a factor for each element: that of a mean over the batch.
fn by_batch(all: &Arguments<'_>, x: &Operand) -> (i64, f64) {
    match all.attributes.text("reduction") {
        "batchmean" => (
            2,
            1.0 / x.shape().first().copied().unwrap_or(1).max(1) as f64,
        ),
        _ => (reduction(all), 1.0),
    }
}

fn ignored(all: &Arguments<'_>) -> i64 {
    all.attributes.integer("ignore_index", -100)
}

fn three(call: &mut Call, all: &Arguments<'_>) -> Outcome<[Operand; 3]> {
    Ok([
        all.operand(call, 0)?,
        all.operand(call, 1)?,
        all.operand(call, 2)?,
    ])
}

/// Two inputs and a weight, which counts as one if it is missing.
fn weighed(
    call: &mut Call,
    all: &Arguments<'_>,
    [x, target, weight]: [usize; 3],
) -> Outcome<[Operand; 3]> {
    Ok([
        all.operand(call, x)?,
        all.operand(call, target)?,
        or_one(call, all, weight)?,
    ])
}

fn or_one(call: &mut Call, all: &Arguments<'_>, index: usize) -> Outcome<Operand> {
    match all.optional(call, index)? {
        Some(given) => Ok(given),
        None => losses::weight_or_one(call, 0),
    }
}
