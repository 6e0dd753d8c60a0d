//! Softmax and norms of rows, with gradients.

use super::NamedOperator;
use crate::functions::larger;
use crate::norms::{
    ChannelGroups, log_of_sum, log_softmax_slope, normalised, normalised_gradient, rows,
    softmax_slope,
};
use softacl_base::arguments::Arguments;
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::data_type::DataType;
use softacl_base::dense::count;
use softacl_base::formula::float;
use softacl_base::operand::Operand;
use softacl_base::status::require;

pub(super) const OPERATORS: &[NamedOperator] = &[
    ("GroupNorm", |call, all| {
        let x = all.operand(call, 0)?;
        let affine = [all.optional(call, 1)?, all.optional(call, 2)?];
        let (outputs, variance) = with_variance(call, all)?;
        let rstd = outputs[2].clone();
        let groups = groups(all, &x)?;
        let place = move |row, index| groups.channel(row, index);
        let eps = all.attributes.float("eps");
        normalised(call, x, groups.length(), affine, place, eps, outputs)?;
        put_variance(call, rstd, eps, variance)
    }),
    ("InstanceNorm", |call, all| {
        let mut x = all.operand(call, 0)?;
        let affine = [all.operand(call, 1)?, all.operand(call, 2)?];
        let (mut outputs, variance) = with_variance(call, all)?;
        let rstd = outputs[2].clone();
        let text = all.attributes.text("data_format");
        let channels = affine[0].elements();
        let channel = |at: Option<usize>| at.is_some_and(|at| x.shape().get(at) == Some(&channels));
        let last = x.rank().checked_sub(1);
        let is_last = channel(last) && (!channel(Some(1)) || ["NHWC", "NDHWC"].contains(&text));
        require(
            x.rank() > 2 && (is_last || channel(Some(1))),
            "there is not a weight for each channel",
        )?;
        if is_last {
            let order: Vec<usize> = [0, x.rank() - 1]
                .into_iter()
                .chain(1..x.rank() - 1)
                .collect();
            x.view = x.view.permuted(&order);
            outputs[0] = outputs[0]
                .take()
                .map(|out| out.seen(out.view.permuted(&order)));
        }
        let length = count(&x.shape()[2..]).max(1);
        let eps = all.attributes.float_or("epsilon", 1e-6);
        let place = move |row, _| row % channels.max(1);
        normalised(call, x, length, affine.map(Some), place, eps, outputs)?;
        put_variance(call, rstd, eps, variance)
    }),
    ("L2Normalize", |call, all| {
        let (x, out) = (all.operand(call, 0)?, call.output(all.output())?);
        let least = all.attributes.float_or("eps", 1e-4);
        rows(call, [&x], axis(all, "axis"), &out, move |[x], out| {
            let length = squares(x).max(least).sqrt();
            out.iter_mut().zip(x).for_each(|(out, x)| *out = x / length);
        })
    }),
    // The inputs are the input, the result, and the gradient.
    ("L2NormalizeGrad", |call, all| {
        let [x, y, grad] = [0, 1, 2].map(|it| all.operand(call, it));
        let (x, y, grad) = (x?, y?, grad?);
        let out = call.output(all.output())?;
        let least = all.attributes.float_or("eps", 1e-4);
        rows(
            call,
            [&x, &y, &grad],
            axis(all, "dim"),
            &out,
            move |[x, y, grad], out| {
                let length = squares(x).max(least).sqrt();
                let along: f64 = y.iter().zip(grad).map(|(y, grad)| y * grad).sum();
                for (out, (y, grad)) in out.iter_mut().zip(y.iter().zip(grad)) {
                    *out = (grad - y * along) / length;
                }
            },
        )
    }),
    ("LayerNorm", layer_norm),
    ("LayerNormGrad", |call, all| {
        let [grad, x, mean, rstd, weight] = statistics(call, all)?;
        let length = weight.elements().max(1);
        let outputs = outputs(call, all)?;
        let inputs = [grad, x, mean, rstd];
        normalised_gradient(call, inputs, [length; 2], Some(weight), |_, at| at, outputs)
    }),
    // The inputs are the gradient and the normalised input.
    ("LogSoftmaxGrad", |call, all| {
        let (grad, y) = (all.operand(call, 0)?, all.operand(call, 1)?);
        let out = call.output(all.output())?;
        rows(
            call,
            [&grad, &y],
            axis(all, "axis"),
            &out,
            log_softmax_slope,
        )
    }),
    ("LogSoftmaxV2", |call, all| {
        let (x, out) = (all.operand(call, 0)?, call.output(all.output())?);
        rows(call, [&x], axis(all, "axes"), &out, |[x], out| {
            let total = log_of_sum(x);
            out.iter_mut().zip(x).for_each(|(out, x)| *out = x - total);
        })
    }),
    // The outputs are the loss of each row, and the gradient.
    ("SoftmaxCrossEntropyWithLogits", |call, all| {
        let (x, target) = (all.operand(call, 0)?, all.operand(call, 1)?);
        let outputs = super::two_outputs(call, all)?;
        let length = x.shape().last().copied().unwrap_or(1).max(1);
        call.dense(
            vec![x, target],
            outputs.into(),
            0,
            move |values: &[Vec<f64>]| {
                let (mut losses, mut slopes) = (Vec::new(), Vec::new());
                for (x, target) in values[0].chunks(length).zip(values[1].chunks(length)) {
                    let total = log_of_sum(x);
                    let each = x.iter().zip(target);
                    losses.push(each.clone().map(|(x, target)| target * (total - x)).sum());
                    slopes.extend(each.map(|(x, target)| (x - total).exp() - target));
                }
                vec![losses, slopes]
            },
        )
    }),
    ("SoftmaxGrad", |call, all| {
        let (y, grad) = (all.operand(call, 0)?, all.operand(call, 1)?);
        let out = call.output(all.output())?;
        rows(call, [&grad, &y], axis(all, "axes"), &out, softmax_slope)
    }),
    ("SoftmaxV2", |call, all| {
        let (x, out) = (all.operand(call, 0)?, call.output(all.output())?);
        rows(call, [&x], axis(all, "axes"), &out, |[x], out| {
            let top = x.iter().copied().fold(f64::NEG_INFINITY, larger);
            let sum: f64 = x.iter().map(|x| (x - top).exp()).sum();
            let each = out.iter_mut().zip(x);
            each.for_each(|(out, x)| *out = (x - top).exp() / sum);
        })
    }),
];

fn squares(row: &[f64]) -> f64 {
    row.iter().map(|it| it * it).sum()
}

/// The one dimension that an attribute names; the last one without it.
fn axis(all: &Arguments<'_>, name: &str) -> i64 {
    all.attributes.integer(name, -1)
}

/// The result, the mean, and the last output.
fn outputs(call: &mut Call, all: &Arguments<'_>) -> Outcome<[Option<Operand>; 3]> {
    let mut found = [None, None, None];
    for (place, handle) in found.iter_mut().zip(&all.outputs) {
        *place = Some(call.output(*handle)?);
    }
    Ok(found)
}

fn layer_norm(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let [x, weight, bias] = [0, 1, 2].map(|it| all.operand(call, it));
    let (x, weight, bias) = (x?, weight?, bias?);
    let (length, eps) = (weight.elements().max(1), all.attributes.float("epsilon"));
    let (outputs, variance) = with_variance(call, all)?;
    let rstd = outputs[2].clone();
    normalised(
        call,
        x,
        length,
        [Some(weight), Some(bias)],
        |_, at| at,
        eps,
        outputs,
    )?;
    put_variance(call, rstd, eps, variance)
}

/// Outputs of which the third one is a temporary, and the output for the variance.
fn with_variance(
    call: &mut Call,
    all: &Arguments<'_>,
) -> Outcome<([Option<Operand>; 3], Option<Operand>)> {
    let mut outputs = outputs(call, all)?;
    let variance = outputs[2].take();
    let shape = variance.as_ref().map(|it| it.shape().to_vec());
    outputs[2] = shape.map(|it| call.temporary(DataType::F64, &it));
    Ok((outputs, variance))
}

/// Writes the variance, without epsilon, that belongs to one over the deviation.
fn put_variance(
    call: &mut Call,
    rstd: Option<Operand>,
    eps: f64,
    variance: Option<Operand>,
) -> Outcome {
    let (Some(rstd), Some(variance)) = (rstd, variance) else {
        return Ok(());
    };
    let formula = float(move |[rstd]| (rstd * rstd).recip() - eps);
    call.each(formula, [&rstd], &variance)
}

/// The gradient, the input, the mean, one over the deviation, and the weight. The third input is the variance.
fn statistics(call: &mut Call, all: &Arguments<'_>) -> Outcome<[Operand; 5]> {
    let (grad, x) = (all.operand(call, 0)?, all.operand(call, 1)?);
    let (variance, mean) = (all.operand(call, 2)?, all.operand(call, 3)?);
    let weight = all.operand(call, 4)?;
    let eps = all.attributes.float_or("epsilon", 1e-5);
    let rstd = call.temporary(DataType::F64, variance.shape());
    let formula = float(move |[variance]| (variance + eps).sqrt().recip());
    call.each(formula, [&variance], &rstd)?;
    Ok([grad, x, mean, rstd, weight])
}

fn groups(all: &Arguments<'_>, x: &Operand) -> Outcome<ChannelGroups> {
    let channels = x.shape().get(1).copied().unwrap_or(1);
    let places = count(x.shape().get(2..).unwrap_or(&[]));
    let groups = all.attributes.integer("num_groups", 1);
    ChannelGroups::new(channels as i64, places as i64, groups)
}
